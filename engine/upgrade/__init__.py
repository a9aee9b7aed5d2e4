"""Upgrade advice: known bugs of a release, and what another release mends, breaks or changes."""
