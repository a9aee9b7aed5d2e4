"""The tables of formats in the docs are those of the registries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.reading.formats import FORMATS, SHOWN
from tests.conftest import ROOT

BEGIN, END = "<!-- formats:", "<!-- end of formats -->"


def table(part: str, rows: list[tuple[tuple[str, ...], str]]) -> str:
    """Markdown: what prints or writes it, and what it tells."""
    words = json.loads((ROOT / f"static/i18n/{part}.en.json").read_text("utf-8"))
    lines = ["| Input | Contents |", "|---|---|"]
    for names, key in rows:
        shown = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {shown} | {words[key]} |")
    return "\n".join(lines)


OF_CLUSTER = [(one.commands, f"cluster.known.{one.name}") for one in SHOWN]
OF_INCIDENT = [(row.files, row.key) for one in FORMATS for row in one.rows]


@pytest.mark.parametrize(
    ("path", "part", "rows"),
    [
        ("docs/how-to/cluster.md", "cluster", OF_CLUSTER),
        ("docs/how-to/incident.md", "incident", OF_INCIDENT),
    ],
)
def test_the_docs_have_the_table(
    path: str, part: str, rows: list[tuple[tuple[str, ...], str]], rewrite: bool
) -> None:
    file = Path(ROOT, path)
    text = file.read_text("utf-8")
    head, rest = text.split(BEGIN)
    first, rest = rest.split("\n", 1)
    _, tail = rest.split(END)
    wanted = f"{head}{BEGIN}{first}\n{table(part, rows)}\n{END}{tail}"
    if rewrite:
        file.write_text(wanted, "utf-8")
    assert file.read_text("utf-8") == wanted
