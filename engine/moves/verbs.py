"""Every verb of the language of moves: importing this module fills the registry."""

from __future__ import annotations

from engine.moves import (  # noqa: F401
    admin_verbs,
    client_verbs,
    creating_verbs,
    dir_verbs,
    fault_verbs,
    fetcher_verbs,
    group_verbs,
    message_verbs,
    operator_plan,
    remote_verbs,
    retiring_verbs,
    time_verbs,
    topic_verbs,
    voter_verbs,
)
from engine.moves.moves import VERBS

# One order of menus and tables, whichever module was imported first: by module, then as written.
_registered = sorted(VERBS.items(), key=lambda item: item[1].play.__module__)
VERBS.clear()
VERBS.update(_registered)

__all__ = ["VERBS"]
