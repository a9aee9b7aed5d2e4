"""Reference pages generated from their declarations: ``python3 -m tests.reference`` writes them."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import click

import highwater
from app.command.cli import main as cli
from app.core.config import SETTINGS
from engine.checks.catalogue import INVARIANTS
from engine.moves.verbs import VERBS
from engine.story.rules import BESIDE, RULEBOOK
from engine.study.metrics import METRICS

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
        "",
        "A shell completes commands, scenarios and releases after",
        '`eval "$(_HIGHWATER_COMPLETE=bash_source highwater)"` in `~/.bashrc`; for zsh and fish',
        "it is `zsh_source` and `fish_source`.",
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


def rules_page() -> str:
    """The rules with their titles, and why no run shows some of them."""
    lines = [
        "# Rules",
        "",
        "The rules of the [specification](protocol/index.md). Docstrings cite identifiers.",
        "`highwater rules` lists code and scenarios of each, `/glossary` has the cards.",
        "",
        "| Rule | Title | Not shown by a run because |",
        "|---|---|---|",
    ]
    lines += [
        f"| {one.id} | {_cell(one.title)} | {_cell(one.excuse or one.unlit)} |"
        for one in RULEBOOK.values()
    ]
    lines += ["", "## Other changes", "", "Cues of operators, faults and changes without a rule."]
    lines += ["", "| Cue | Title |", "|---|---|"]
    lines += [f"| {one.id} | {_cell(one.title)} |" for one in BESIDE.values()]
    return "\n".join(lines) + "\n"


def invariants_page() -> str:
    """The invariants with their statements."""
    lines = [
        "# Invariants",
        "",
        "Checked after every event of every run. A statistic is counted and never a violation.",
        "",
        "| Name | Title | Also | Statement |",
        "|---|---|---|---|",
    ]
    for name, one in INVARIANTS.items():
        kind = " (a statistic)" if one.statistic else ""
        lines.append(f"| {name} | {one.title} | {one.also} | {_cell(one.statement)}{kind} |")
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """The metrics of a run with their units."""
    lines = [
        "# Metrics",
        "",
        "A column each in the rows of a study; null if the run has no such value, and in rows of",
        "studies that are older than the metric.",
        "",
        "| Metric | Unit | Meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {one.unit} | {_cell(one.meaning)} |" for name, one in METRICS.items()]
    return "\n".join(lines) + "\n"


def moves_page() -> str:
    """The moves with their grammar."""
    lines = [
        "# Moves",
        "",
        "Scripts, `--moves`, the typed line, links and the pages read the same moves. Brokers are",
        "names or numbers, `K` is the controller, `P1` a producer, `C1` a consumer; `p=0` names a",
        "partition. A move that is cut after n events ends with ` !n`.",
        "",
        "| Move | Effect |",
        "|---|---|",
    ]
    lines += [f"| `{_cell(verb.grammar)}` | {_cell(verb.help)} |" for verb in VERBS.values()]
    return "\n".join(lines) + "\n"


def wire_page() -> str:
    """The types of steps, guards and batch results, as the JSON schema has them."""
    schema = json.loads((FOLDER / "wire.schema.json").read_text("utf-8"))
    lines = [
        "# Wire format",
        "",
        "The JSON that pages and `/api` read. [wire.schema.json](wire.schema.json) is the same as",
        "a JSON schema, `static/js/core/wire.d.ts` as TypeScript.",
        "`/api/openapi.json` lists the routes.",
    ]
    for name, kind in schema["$defs"].items():
        lines += ["", f"## {name}", ""]
        lines += textwrap.wrap(kind.get("description", "").split("\n\n")[0], WIDTH)
        if "enum" in kind:
            lines += ["", *textwrap.wrap(_type(kind), WIDTH)]
        required = set(kind.get("required", ()))
        if kind.get("properties"):
            lines += ["", "| Field | Type | Always present |", "|---|---|---|"]
        for field, value in kind.get("properties", {}).items():
            lines.append(f"| `{field}` | {_type(value)} | {'yes' if field in required else 'no'} |")
    return "\n".join(lines) + "\n"


def _type(value: dict[str, Any]) -> str:
    """A JSON schema's type in words, with links to the types of this page."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(_type(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if value.get("type") == "array":
        if "prefixItems" in value:
            return f"array of [{', '.join(_type(one) for one in value['prefixItems'])}]"
        items = value.get("items")
        return f"array of {_type(items)}" if isinstance(items, dict) and items else "array"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"object of {_type(value['additionalProperties'])}"
    return str(value.get("type", "any"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def python_page() -> str:
    """Every public name of the package, with its signature, text and example."""
    parts = [_HEAD_PYTHON]
    for name in highwater.__all__:
        one = getattr(highwater, name)
        parts.append(f"## {name}\n\n{_described(name, one)}")
        if isinstance(one, type) and not issubclass(one, Exception):
            members = [
                (key, member) for key, member in vars(one).items() if not key.startswith("_")
            ]
            for key, member in members:
                if isinstance(member, FunctionType):
                    parts.append(f"### {name}.{key}\n\n{_described(key, member)}")
            told = [
                f"| `{key}` | {_cell(_first_line(member))} |"
                for key, member in members
                if isinstance(member, property) and member.__doc__
            ]
            if told:
                parts.append("\n".join((f"| Property of `{name}` | |", "|---|---|", *told)))
    return "\n\n".join(parts) + "\n"


_HEAD_PYTHON = """# Python

`pip install highwater`, then `import highwater as hw`. What stands here stays; what lies below, as
`highwater.engine` does, may change. The tests run every example. A [move](moves.md) is a line of a
script, a name in `broken` is one of the [invariants](invariants.md), a column of a study one of the
[metrics](metrics.md), and a step's `view` is what [pages get](wire.md)."""


def _described(name: str, one: object) -> str:
    """Signature of a function, text and example, as Markdown."""
    told, _, example = (inspect.getdoc(one) or "").partition("\n>>> ")
    lines = [told.strip()]
    if isinstance(one, FunctionType):
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(one)))
        lines.insert(0, f"```python\n{name}{signature}\n```")
    if example:
        shown, _, after = f">>> {example}".partition("\n\n")
        lines += [f"```python\n{shown.strip()}\n```", after.strip()]
    return "\n\n".join(line for line in lines if line)


def _first_line(member: property) -> str:
    return (inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ")


PAGES = {
    "commands.md": commands_page,
    "invariants.md": invariants_page,
    "metrics.md": metrics_page,
    "moves.md": moves_page,
    "python.md": python_page,
    "rules.md": rules_page,
    "settings.md": settings_page,
    "wire.md": wire_page,
}


def write() -> None:
    """Writes all reference pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    write()
