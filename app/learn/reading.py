"""Reading guides: posts about Kafka, statement by statement.

Each statement has a moment of a run, the code that acts there, and its verdict in every release.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, NotRequired, TypedDict
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, request

from app.core.config import SettingError
from app.core.memoize import last
from app.core.refusals import RequestError
from app.server import visitor
from app.server.services import services
from app.web.moments import code_of, frame
from engine.learn import guides as book
from engine.learn import reading
from engine.learn.claims import claims
from engine.learn.guides import Guide, Statement
from engine.learn.reading import Finding
from engine.lens.lens_json import leader_of
from engine.lens.source import source
from engine.lens.stacks import Stack, thread_name
from engine.model.errors import InputError
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("reading", __name__)

EXAMPLE: Final = "1-fetcher.yaml"
MOST_OWN: Final = 40
"""Guides of one's own that are read from the directory."""


class GuideFrame(TypedDict):
    """A frame of a stack: method, the gap before it, and its line of Kafka with the address."""

    name: str
    gap: str
    at: str
    url: str


class GuideStack(TypedDict):
    thread: str
    release: str
    acting: int
    frames: list[GuideFrame]


class GuideStatement(TypedDict):
    """A statement: its verdict (`way`, from release `first` to `last`), its run, and its code.

    The run is there where the statement can be followed, the code where it is also open.
    """

    number: int
    says: str
    quote: str
    way: str
    first: str
    last: str
    instead: str
    missing: str
    code: tuple[str, ...]
    open: bool
    run: NotRequired[str]
    step: NotRequired[int]
    stage: NotRequired[str]
    frame: NotRequired[str]
    lanes: NotRequired[int]
    stack: NotRequired[GuideStack | None]
    reason: NotRequired[str]
    rows: NotRequired[list[tuple[str, bool]]]
    proof: NotRequired[tuple[str, str]]


def own(folder: str) -> dict[str, Guide]:
    """Return the guides of a directory, by name.

    Raises SettingError for one that cannot be read.
    """
    by_name = {}
    for path in sorted(Path(folder).glob("*.yaml"))[:MOST_OWN] if folder else ():
        try:
            guide = book.load(path)
        except InputError as bad:
            raise SettingError(f"HIGHWATER_GUIDES: {bad.where}: {bad.sentence}") from bad
        by_name[guide.name] = guide
    return by_name


def shelf() -> dict[str, Guide]:
    """Return the guides that come with the engine, then those of the directory that is set."""
    known = book.guides()
    return known | {name: one for name, one in services().guides.items() if name not in known}


def _findings(guide: Guide) -> list[Finding]:
    if guide.name in book.guides():
        return reading.findings_of(guide)
    with services().plays.turn():
        return _followed(guide.name, services().settings.guides)


@last(MOST_OWN)
def _followed(name: str, folder: str) -> list[Finding]:
    return [reading.follow(one) for one in services().guides[name].statements()]


@blueprint.get("/read")
def guides() -> str:
    """Render all guides, with how much of each can be followed and how much of it is wrong."""
    rows = []
    for name, guide in shelf().items():
        findings = _findings(guide)
        rows.append(
            {
                "name": name,
                "title": _usual_text(guide.title),
                "lead": _usual_text(guide.lead),
                "total": len(findings),
                "followed": sum(finding.moment is not None for finding in findings),
                "wrong": sum(
                    reading.summary(finding.row)[0] == reading.NEVER for finding in findings
                ),
            }
        )
    return render_template("learn/read.html", guides=rows)


@blueprint.get("/read/format")
def format_() -> Response:
    """Return the file of a guide, as an example of the format."""
    text = (files("engine.learn") / book.FOLDER / EXAMPLE).read_text("utf-8")
    return Response(text, mimetype="text/plain")


@blueprint.get("/read/<name>")
def guide(name: str) -> str:
    """Render one guide; ``?at=`` opens a statement: the stage, the stack, the releases."""
    here = shelf().get(name)
    if here is None:
        raise RequestError("not_found")
    findings = _findings(here)
    at = request.args.get("at", 0, type=int)
    sections = [
        {
            "title": _usual_text(section.title),
            "statements": [
                _statement_json(here, statement, findings[statement.number - 1], at)
                for statement in section.statements
            ],
        }
        for section in here.sections
    ]
    return render_template(
        "learn/guide.html",
        guide=here,
        title=_usual_text(here.title),
        lead=_usual_text(here.lead),
        newest=source().releases[-1],
        sections=sections,
        at=at,
    )


def _usual_text(texts: dict[str, str]) -> str:
    return texts.get(visitor.lang(), "")


def _statement_json(
    guide: Guide, statement: Statement, finding: Finding, at: int
) -> GuideStatement:
    way, first, last_ = reading.summary(finding.row)
    shown: GuideStatement = {
        "number": statement.number,
        "says": _usual_text(statement.says),
        "quote": statement.quote,
        "way": "only" if way == reading.FROM and first == last_ else way,
        "first": reading.edge(statement, first, False) if first else "",
        "last": reading.edge(statement, last_, True) if last_ else "",
        "instead": _instead(statement),
        "missing": _usual_text(statement.missing),
        "code": statement.code,
        "open": statement.number == at,
    }
    if finding.moment is None:
        return shown
    run = statement.run()
    shown["run"] = in_language(run.scenario, visitor.lang()).title
    shown["step"] = finding.moment.step
    shown["stage"] = _stage(guide, run, finding.moment.step)
    if statement.number == at:
        stack = reading.stack_of(statement, finding.moment, guide.reads)
        shown["frame"] = frame(run, finding.moment.step)
        shown["lanes"] = min(len(run.scenario.partitions[0]), 4)
        leader = _leader(run, finding.moment)
        shown["stack"] = _stack_json(stack, finding, leader) if stack and stack.frames else None
        shown["reason"] = stack.reason if stack and not stack.frames else ""
        shown["rows"] = [(reading.stands_for(name), holds) for name, holds in finding.row.items()]
        shown["proof"] = statement.proof
    return shown


def _instead(statement: Statement) -> str:
    """Return the correction: the guide's words, else those of the claim that decides."""
    if statement.instead:
        return _usual_text(statement.instead)
    kind, what = statement.proof
    return claims()[what].truth[visitor.lang()] if kind == "claim" else ""


def _stage(guide: Guide, run: Run, step: int) -> str:
    """Return the stage at the moment, with the code of the release that the post reads.

    Beside it stands that of the newest.
    """
    code = code_of(run)
    query = {"step": str(step), "tab": "code", "lens": f"{guide.reads},{source().releases[-1]}"}
    if code is None:
        return f"/r/{services().replays.register(run)}?{urlencode(query)}"
    return f"/s/{code}?{urlencode({'profile': run.profile, **query})}"


def _leader(run: Run, moment: reading.StatementMoment) -> int | None:
    """Return the leader that the acting node follows at the moment, part of its fetcher's name."""
    digest = services().replays.register(run)
    with services().replays.using(digest) as replay:
        return leader_of(replay.steps(moment.step, 1)[0]["view"], moment.node)


def _stack_json(stack: Stack, finding: Finding, leader: int | None) -> GuideStack:
    node = finding.moment.node if finding.moment else None
    return {
        "thread": thread_name(stack, node, leader),
        "release": stack.release,
        "acting": stack.acting,
        "frames": [
            {
                "name": step.name,
                "gap": step.gap,
                "at": f"{step.place.file.rpartition('/')[2]}:{step.place.line}"
                if step.place
                else "",
                "url": source().url(stack.release, step.place) if step.place else "",
            }
            for step in stack.frames
        ],
    }
