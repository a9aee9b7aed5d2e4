"""Every verb of the language of moves: importing this module fills the registry."""

from __future__ import annotations

from engine.moves import (
    admin_verbs,
    client_verbs,
    creating_verbs,
    dir_verbs,
    fault_verbs,
    fetcher_verbs,
    message_verbs,
    retiring_verbs,
    time_verbs,
    topic_verbs,
)
from engine.moves.moves import VERBS

assert admin_verbs and client_verbs and creating_verbs and fault_verbs and message_verbs
assert dir_verbs and fetcher_verbs and retiring_verbs and time_verbs and topic_verbs

__all__ = ["VERBS"]
