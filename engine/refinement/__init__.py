"""Refinement check: the engine's events as moves of the published model, the ladder."""
