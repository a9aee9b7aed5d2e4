"""Is each step of a run one of the published model?  The engine's events as moves of the ladder."""
