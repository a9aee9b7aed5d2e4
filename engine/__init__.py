"""Highwater's engine: the replication protocol, its simulation, and what is computed from it."""

ENGINE_VERSION = 4
"""Rises when a run plays differently than before; stored beside everything that is saved."""
