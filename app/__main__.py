"""``python3 -m app``: the ``highwater`` command, installing what it needs on first use.

What only studies need is installed by a server in the background, or by the command that needs it.
"""

from __future__ import annotations

import os

from app import bootstrap

if __name__ == "__main__":
    bootstrap.ensure("app", light=os.name != "nt")
    from app.command.cli import main

    main(prog_name="python3 -m app")
