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

_MODULES = [
    module.__name__
    for module in (
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
]
_registered = sorted(VERBS.items(), key=lambda item: _MODULES.index(item[1].play.__module__))
VERBS.clear()
VERBS.update(_registered)  # one order of menus and tables, whichever module was imported first

__all__ = ["VERBS"]
