"""``python3 -m app``: the ``highwater`` command, installing what it needs on first use."""

from __future__ import annotations

from app import bootstrap

if __name__ == "__main__":
    bootstrap.ensure("app")
    from app.command.cli import main

    main(prog_name="python3 -m app")
