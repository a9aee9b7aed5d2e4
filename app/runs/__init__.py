"""Cached runs, and scenarios made of runs."""
