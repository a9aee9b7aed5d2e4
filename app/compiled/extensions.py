"""Modules of the engine that are compiled as C, by mypyc.

`setup.py` reads this list where HIGHWATER_COMPILE is set, and `highwater compile` runs this file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

COMPILED: Final = {
    "model": "broker client_messages cluster configs control_messages controller copying effects "
    "epochs errors flags group_messages last_fetch log messages producers profiles quorum_messages "
    "quotas records session_client session_messages sessions state timers zk_messages",
    "dataplane": "fetch_request fetcher insync limits partition_fetch_state "
    "produce purgatory reading recovery retention serving truncation watermark",
    "controlplane": "alter_partition election elr kraft liveness membership roles storage znodes "
    "zookeeper",
    "checks": "checker invariant lags ledger prefix replica_memory voters",
    "checks/invariants": "durability epochs fetching groups isr leaders logs marks quorum readers "
    "tiered",
    "clients": "clients consumers idempotent",
    "sim": "copy_on_write dispatch kernel live_effects network pacing simulation world",
    "explore": "broker_key choices key_exclusions keys",
}
"""Not among them: verbs and faults (nothing there is hot), what is a dataclass with slots or a kind
of str (mypyc takes neither), and what only renders.  Every kind of message is among them: compiled
code reads `kind` from a slot, which an interpreted subclass does not set."""


def files(engine: str = "engine", folder: Path = Path()) -> list[str]:
    """Return the paths of their sources in the package `engine`, which lies in `folder`."""
    package = folder.joinpath(*engine.split("."))
    return [
        str(package / room / f"{name}.py")
        for room, names in COMPILED.items()
        for name in names.split()
    ]


def extensions(engine: str, folder: Path = Path()) -> list[Any]:
    """Return them for setuptools, translated to C; their common library lies in the package."""
    from mypyc.build import mypycify

    made = mypycify(
        ["--config-file=", *files(engine, folder)],
        opt_level=os.environ.get("HIGHWATER_COMPILE_LEVEL", "2"),
        debug_level="0",
        multi_file=True,
        group_name=f"{engine}.compiled",
    )
    for extension in made:  # mypyc writes the header of such a name deeper than it looks for it
        extension.include_dirs.append(str(Path("build", *engine.split("."))))
    return made


if __name__ == "__main__":
    from setuptools import setup

    setup(ext_modules=extensions("highwater.engine" if Path("highwater").is_dir() else "engine"))
