"""Highwater's engine: the replication protocol, its simulation, and what is computed from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

ENGINE_VERSION = 15
"""Rises when a run plays differently than before; stored beside everything that is saved."""


class _Sources:
    """Finds modules of the engine as they are written, where some are compiled beside."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for place in path or () if name.startswith(f"{__name__}.") else ():
            spec = FileFinder(place, (SourceFileLoader, [".py"])).find_spec(name)
            if spec is not None:
                return spec
        return None


if os.environ.get("HIGHWATER_PURE"):
    sys.meta_path.insert(0, _Sources)
elif _compiled := os.environ.get("HIGHWATER_COMPILED"):
    __path__.insert(0, os.path.join(_compiled, *__name__.split(".")))
