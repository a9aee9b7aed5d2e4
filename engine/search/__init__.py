"""Search from a step of a run: everything that can happen within budgets, by the engine's own
handlers.  A path is the text of a run."""
