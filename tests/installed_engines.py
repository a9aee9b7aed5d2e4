"""Compare the two engines of an installed wheel: the library ends alike, compiled and as source.

`cibuildwheel` runs it with each wheel; it needs nothing but the wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

DIGESTS = "highwater.app.compiled.digests"


def ends(**variables: str) -> dict[str, Any]:
    """Return how the runs of the library end, and `is_compiled`."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("HIGHWATER_")}
    told = subprocess.check_output([sys.executable, "-P", "-m", DIGESTS], env={**own, **variables})
    found: dict[str, Any] = json.loads(told)
    return found


def main() -> str:
    """Return what is wrong with the wheel, or ""."""
    source, compiled = ends(HIGHWATER_PURE="1"), ends()
    if source.pop("is_compiled"):
        return "HIGHWATER_PURE=1 plays the compiled engine."
    if not compiled.pop("is_compiled"):
        return "The wheel has no compiled engine: build it with HIGHWATER_COMPILE=1."
    different = [name for name in source if source[name] != compiled.get(name)]
    return f"Compiled, {len(different)} runs end otherwise: {different[:5]}." if different else ""


if __name__ == "__main__":
    sys.exit(main() or None)
