"""Builds the engine's hot modules as C, by mypyc, where HIGHWATER_COMPILE is set.

Everything else about this distribution stands in pyproject.toml.
"""

import os
import sys
from importlib.util import find_spec

from setuptools import setup

COMPILED = {
    "model": "broker cluster configs control_messages controller copying effects epochs errors "
    "flags log messages producers profiles quotas records session_client "
    "session_messages sessions state timers zk_messages",
    "dataplane": "fetch_request fetcher insync limits offsets partition_fetch_state produce "
    "purgatory reading recovery retention serving truncation watermark",
    "controlplane": "alter_partition election elr kraft liveness membership roles storage znodes "
    "zookeeper",
    "checks": "clients invariants lags ledger prefix replica_memory",
    "clients": "clients consumers idempotent",
    "sim": "copy_on_write dispatch kernel live_effects network pacing simulation world",
    "explore": "broker_key choices key_exclusions keys",
    "conformance": "clusters fetchers",
}
"""Not among them: verbs and faults (nothing there is hot), what is a dataclass with slots or a kind
of str (mypyc takes neither), and what only tells.  `conformance` has subclasses of compiled
classes, which cannot be interpreted."""


def extensions():
    if not os.environ.get("HIGHWATER_COMPILE"):
        return []
    if "egg_info" in sys.argv and find_spec("mypyc") is None:
        return []  # pip asks what the build needs, before it installs that
    from mypyc.build import mypycify

    rooms = COMPILED.items()
    files = [f"engine/{room}/{name}.py" for room, names in rooms for name in names.split()]
    level = os.environ.get("HIGHWATER_COMPILE_LEVEL", "2")
    return mypycify(["--config-file=", *files], opt_level=level, debug_level="0", multi_file=True)


setup(
    ext_modules=extensions(),
    setup_requires=["mypy>=2,<3"] if os.environ.get("HIGHWATER_COMPILE") else [],
)
