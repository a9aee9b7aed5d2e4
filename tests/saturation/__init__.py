"""Saturation: whether more seeds of a study, or parts of its faults, bring something new."""
