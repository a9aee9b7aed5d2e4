"""A note to the compiler, which the engine can be played without (`setup.py` has the list)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_attributes):
        """`allow_interpreted_subclasses`: and objects that `__init__` never saw, as copies are."""
        return lambda kind: kind
