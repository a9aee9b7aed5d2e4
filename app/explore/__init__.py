"""Searches from a step that visitors ask for: each in a process of its own, one after the other."""
