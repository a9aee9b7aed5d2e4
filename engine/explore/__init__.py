"""Search from a step of a run for everything that can happen within budgets.

It uses the engine's own handlers.  A path is the text of a run.
"""
