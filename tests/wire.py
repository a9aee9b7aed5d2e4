"""Check of answers against the types that declare them."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def held(answer: Any, kind: Any) -> None:
    """Raises where an answer lacks what is declared, has it in another kind, or has more."""
    sent = json.loads(json.dumps(answer))
    assert json.loads(msgspec.json.encode(msgspec.convert(sent, kind))) == sent
