"""``python3 -m highwater``: the ``highwater`` command."""

from app.command.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main(prog_name="python3 -m highwater")
