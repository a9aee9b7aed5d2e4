"""Notes to the compiler of `app/compiled/extensions.py`; the engine is played without it, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_attributes):
        """Accept mypyc's attributes of a class where mypyc is not installed.

        `allow_interpreted_subclasses`: objects that `__init__` never saw may be made, as copies
        are.  `serializable`: they may be pickled.  `acyclic`: they refer to nothing that refers to
        them, so the garbage collector need not track them.
        """
        return lambda kind: kind
