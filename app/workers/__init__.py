"""Processes that work for the server: with limits of their own, and ended at any moment."""
