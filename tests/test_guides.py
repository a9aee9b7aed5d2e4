"""Reading guides: read strictly; moments, verdicts and the table are what playing gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command.reading import verdict
from engine.learn import guides as module
from engine.learn import reading
from engine.learn.guides import Guide, Statement, guides, read
from engine.learn.reading import (
    Finding,
    bits,
    findings_of,
    labels,
    moment_of,
    row_of,
    stack_of,
    summary,
)
from engine.lens.source import source
from engine.model.errors import InputError
from tests.conftest import THOROUGH

SAMPLE = ("Z0102", "K39")
FOLDER = Path(module.__file__).parent / module.FOLDER
TABLE = Path(__file__).resolve().parent.parent / "docs/reference/posts.md"
ITEMS = 121
FOLLOWED = 120
GUIDE = """
title: A post
lead: What it says.
reads: 2.5.1
sections:
- title: One
  statements:
  - says: A follower appends.
    run: S01
    shows: L-4
"""


def pairs() -> Iterator[tuple[Guide, Statement, Finding]]:
    for guide in guides().values():
        for statement, found in zip(guide.statements(), findings_of(guide), strict=True):
            yield guide, statement, found


STATEMENTS = [
    pytest.param(guide, one, id=f"{guide.name}-{one.number}")
    for guide in guides().values()
    for one in guide.statements()
]


def test_kept_answers_are_rewritten_on_demand(rewrite: bool) -> None:
    if rewrite:
        lines = []
        for guide in guides().values():
            rows = []
            for one in guide.statements():
                found = reading.follow(one)
                moment = found.moment
                rows.append(
                    [
                        [moment.step, moment.cue, moment.node] if moment else None,
                        bits(one, found.row),
                    ]
                )
            told = ",\n".join(f"    {json.dumps(row)}" for row in rows)
            lines.append(f'  "{guide.name}": [\n{told}\n  ]')
        (FOLDER / reading.KEPT).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        reading._stored_findings.cache_clear()
        TABLE.write_text(table(), "utf-8")
    assert TABLE.read_text("utf-8") == table(), "pytest tests/test_guides.py --rewrite"


def table() -> str:
    """docs/reference/posts.md: every statement of the five posts, and where it can be followed."""
    items = sorted((one.item, guide, one, found) for guide, one, found in pairs() if one.item)
    followed = sum(found.moment is not None for *_, found in items)
    wrong = sum(summary(found.row)[0] == reading.NEVER for *_, found in items)
    rows = [_line(*row) for row in items]
    return (
        "# What posts on Kafka's replication say, and where it is followed\n\n"
        "Generated from the reading guides by `pytest tests/test_guides.py --rewrite`.\n\n"
        f"{len(items)} statements in our own words. {followed} can be followed: a step of a run"
        " shows that it happens, or not.\n"
        f"{wrong} are wrong in every release. A verdict is computed by playing the run under every"
        " release, or from the index of\nKafka's source.\n\n"
        "| # | Guide | Statement | Followed at | Thread and method | Verdict | Decided by |\n"
        "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def _line(item: int, guide: Guide, one: Statement, found: Finding) -> str:
    kind, what = one.proof
    proof = f"{kind} `{what}`" if kind else "–"
    if found.moment is None:
        return f"| {item} | {guide.name} | {one.says['en']} | – | {one.missing['en']} | – | – |"
    moves = "*" if one.moves is not None or one.first else ""
    where = f"{one.scenario}{moves}, {one.kafka}, step {found.moment.step}"
    stack = stack_of(one, found.moment, guide.reads)
    acts = f"{stack.thread}: `{stack.frames[stack.acting].name}`" if stack and stack.frames else "–"
    told = verdict(one, found).replace("Kafka ", "").replace("never so", "**never so**")
    return f"| {item} | {guide.name} | {one.says['en']} | {where} | {acts} | {told} | {proof} |"


def test_every_statement_of_the_list_is_there_once() -> None:
    items = [one.item for _, one, _ in pairs() if one.item]
    assert sorted(items) == list(range(1, ITEMS + 1))
    missing = [one for _, one, found in pairs() if one.item and found.moment is None]
    assert len(items) - len(missing) >= FOLLOWED
    assert all(one.missing for one in missing)


def test_wrong_statements_have_a_correction() -> None:
    wrong = [
        (guide, one) for guide, one, found in pairs() if summary(found.row)[0] == reading.NEVER
    ]
    for guide, one in wrong:
        assert one.instead or one.proof[0] == "claim", (guide.name, one.number)
    assert len(wrong) >= 14


@pytest.mark.parametrize(("guide", "statement"), STATEMENTS)
def test_a_moment_and_its_verdicts_are_what_playing_gives(
    guide: Guide, statement: Statement
) -> None:
    at = list(guide.statements()).index(statement)
    found = findings_of(guide)[at]
    again = f"{guide.name} {statement.number}: pytest tests/test_guides.py --rewrite"
    assert moment_of(statement) == found.moment, again
    names = tuple(labels(statement))
    if statement.proof[0] in reading.PLAYED and not THOROUGH:
        names = SAMPLE
    for name, holds in row_of(statement, names).items():
        assert found.row.get(name) == holds, f"{again}, {name}"


def test_a_stack_is_of_the_release_that_the_post_reads() -> None:
    stacks = 0
    for guide, one, found in pairs():
        if found.moment is None:
            continue
        stack = stack_of(one, found.moment, guide.reads)
        if stack is None or not stack.frames:
            continue
        stacks += 1
        for frame in stack.frames:
            assert source().has(guide.reads, frame.name), (guide.name, one.number, frame.name)
    assert stacks >= 115


def test_every_text_stands_in_both_languages() -> None:
    for guide, one, _ in pairs():
        for texts in (guide.title, guide.lead, one.says, one.instead, one.missing):
            if texts and texts is not guide.title:
                assert texts["en"] != texts["zh-Hans"], (guide.name, one.number)


def test_a_guide_of_ones_own_needs_little() -> None:
    guide = read(GUIDE, "mine")
    (one,) = guide.statements()
    assert one.kafka == "2.5.1" and one.proof == ("acts", "L-4")
    found = reading.follow(one)
    assert found.moment is not None and summary(found.row)[0] == reading.HOLDS


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("shows: L-4", "shows: L-44", "No rule that a step can show is called L-44"),
        ("shows: L-4", "", "either shows, a rule, or when"),
        ("shows: L-4", "shows: L-4\n    when: leader = 1", "either shows, a rule, or when"),
        ("run: S01", "run: S999", "There is no scenario S999"),
        ("run: S01", "", "needs the run"),
        ("reads: 2.5.1", "reads: 2.5", "is one of"),
        ("reads: 2.5.1", "reads: 2.5.1\npost: javascript:alert(1)", "begins with https://"),
        ("shows: L-4", "shows: L-4\n    code: [doWorkk]", "No release of the index has doWorkk"),
        ("shows: L-4", "shows: L-4\n    quote: One. Two.", "one sentence at most"),
        ("shows: L-4", "shows: L-4\n    quote: 第一句。第二句。", "one sentence at most"),
        ("shows: L-4", "shows: L-4\n    quote: " + "x" * 161, "at most 160 fit"),
        ("shows: L-4", "shows: L-4\n    kafka: K99", "There is no profile K99"),
        ("shows: L-4", "shows: L-4\n    moves: [hop]", "There is no move"),
        ("shows: L-4", "shows: L-4\n    property: leader =", "expected, not"),
        ("shows: L-4", "shows: L-4\n    has: A.b\n    idle: L-4", "has one proof"),
        ("shows: L-4", "shows: L-4\n    calls: A.b > C.d", "In no release of the index"),
        ("shows: L-4", "shows: L-4\n    verdict: right", "There is no key verdict"),
    ],
)
def test_malformed_guides_are_refused_with_their_place(old: str, new: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        read(GUIDE.replace(old, new), "mine")
    assert told in refused.value.sentence
    assert refused.value.where.startswith("mine.yaml:")
