"""Reference pages generated from their declarations: ``python3 -m tests.reference`` writes them."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from app.command.cli import main as cli
from app.core.config import SETTINGS

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"
WIDTH = 116


def settings_page() -> str:
    """The settings as a table of variables, defaults and meanings."""
    rows = [
        f"| `{one.name}` | {f'`{one.default}`' if one.default else ''} | {one.meaning} |"
        for one in SETTINGS
    ]
    head = [
        "# Settings",
        "",
        "All settings are environment variables; `highwater serve --help` prints the same list.",
        "",
        "| Variable | Default | Meaning |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def commands_page() -> str:
    """Every command with its usage, what it does, and its options."""
    lines = [
        "# Commands",
        "",
        "`highwater` (in `.venv/bin`) and `python3 -m app` are the same command.",
        "",
        "`SCENARIO` is a name of the library (`R20` or its slug), a YAML file, or the text of a",
        "run. `--moves` are separated by `;`. Exit codes: 0 as expected, 1 not as expected, 2 for",
        "input that cannot be used, with one sentence on the error output.",
    ]
    for name, command in _commands(cli, ""):
        lines += ["", f"## {name}", "", "```", _usage(name, command), "```", ""]
        lines += _paragraphs(command.help or "")
        options = [one for one in command.params if isinstance(one, click.Option) and one.help]
        if options:
            lines += ["", "| Option | Meaning |", "|---|---|"]
            lines += [
                f"| `{', '.join(one.opts)}` | {' '.join(str(one.help).split())} |"
                for one in options
            ]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    for name in sorted(group.commands):
        command = group.commands[name]
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def _usage(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"highwater {name}")
    pieces = command.collect_usage_pieces(context)
    return "\n".join(textwrap.wrap(f"highwater {name} {' '.join(pieces)}", WIDTH))


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each wrapped; `\\b` and `\\f` are click's own marks."""
    plain = inspect.cleandoc(text).replace("\b\n", "").split("\f")[0]
    found: list[str] = []
    for paragraph in plain.split("\n\n"):
        found += ["", *textwrap.wrap(" ".join(paragraph.split()), WIDTH)]
    return found[1:]


PAGES = {"settings.md": settings_page, "commands.md": commands_page}


def write() -> None:
    """Writes all reference pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    write()
