"""Runs that are being looked at, and scenarios made of them."""
