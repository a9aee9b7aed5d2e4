"""Run embedded in another site's page: the first view from the server, no cookies, no socket."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypedDict

from flask import Blueprint, render_template, request

from app.core.request_fields import whole_number
from app.server import visitor
from app.server.services import services
from app.web.naming import run_named
from engine import ENGINE_VERSION
from engine.model.json_types import Json
from engine.model.languages import LANGUAGES, USUAL, language_of, short
from engine.story import story
from engine.view.wire import PartitionView, Record, StepJson, View

blueprint = Blueprint("embeds", __name__)

CHOICES: Final = {
    "controls": ("step", "play", "none"),
    "panel": ("now", "none"),
    "theme": ("auto", "light", "dark"),
}
"""What an address may choose; the first of each is the usual one."""
RECORDS_SHOWN: Final = 16
GUESS: Final = re.compile(r"(hw|leo):(\d{1,6}):(\d{1,9})")
STEPS_AT_FIRST: Final = 8


class EmbedGuess(TypedDict):
    """An answered offset: its mark (hw or leo), the broker, and the offset."""

    mark: str
    who: int
    at: int


class ReplicaRow(TypedDict):
    """A replica for the table: its last records, and how many `more` it has."""

    broker: str
    state: str
    in_isr: bool
    hw: int
    leo: int
    more: int
    records: list[Record]


@blueprint.get("/e/<digest>")
def embed(digest: str) -> str:
    """Render one run, opened at ``?step=``; an answer that cannot be read is named and ignored."""
    run_named(digest)
    requested, chosen, problems = chosen_of(request.args)
    lang = visitor.lang()
    saved = services().replays.saved(digest)
    with services().replays.using(digest) as replay:
        facts = services().replays.facts(replay, saved, lang)
        step = min(requested, replay.total)
        first = max(0, step - 2)
        steps = replay.around(first, step, STEPS_AT_FIRST)
    here = steps[step - steps[0]["n"]]
    to = whole_number(request.args.get("to", "0")) or 0
    boot = {
        "run": digest,
        "step": step,
        "to": min(to, replay.total),
        "guess": guess_of(request.args.get("guess", "")),
        "lang": lang,
        "engine": ENGINE_VERSION,
        "facts": facts,
        "steps": steps,
        **chosen,
    }
    return render_template(
        "embed.html",
        boot=boot,
        chosen=chosen,
        problems=problems,
        title=facts["scenario"]["title"],
        step=step,
        total=facts["total"],
        sentences=sentences(here, facts, lang),
        rows=table_rows(here["view"]),
    )


def chosen_of(
    args: Mapping[str, str],
) -> tuple[int, dict[str, str], list[dict[str, str]]]:
    """Return step and options in the address, and each that cannot be read, with its choices."""
    problems = []
    chosen: dict[str, str] = {}
    step = whole_number(args.get("step", "0"))
    if step is None:
        problems.append({"name": "step", "value": args["step"][:40], "known": "0, 1, 2 …"})
    for name, values in CHOICES.items():
        value = args.get(name, values[0])
        chosen[name] = value if value in values else values[0]
        if value not in values:
            problems.append({"name": name, "value": value[:40], "known": ", ".join(values)})
    if language_of(args.get("lang", USUAL)) is None:
        problems.append(
            {"name": "lang", "value": args["lang"][:40], "known": ", ".join(map(short, LANGUAGES))}
        )
    return step or 0, chosen, problems


def guess_of(text: str) -> EmbedGuess | None:
    """Parse an answer to be drawn beside the truth, hw:2:4: mark, broker, offset."""
    match = GUESS.fullmatch(text)
    if match is None:
        return None
    return {"mark": match[1], "who": int(match[2]), "at": int(match[3])}


def sentences(step: StepJson, facts: Json, lang: str) -> list[str]:
    """Return the events of the step, in words, and their reasons."""
    names = {one["id"]: one["name"] for one in facts["scenario"]["brokers"]}
    return [story.render(told, names, lang) for told in (*step["say"], *step["why"])]


def table_rows(view: View) -> list[ReplicaRow]:
    """Return the first partition's replicas as rows of a table."""
    return [row for part in view["partitions"][:1] for row in _rows(part, view)]


def _rows(part: PartitionView, view: View) -> list[ReplicaRow]:
    """Return one line of the table for each replica."""
    brokers = {broker["id"]: broker for broker in view["brokers"]}
    rows: list[ReplicaRow] = []
    for number in part["ar"]:
        replica = part["replicas"][str(number)]
        up = brokers[number]["alive"] == "up"
        records = replica["records"]
        rows.append(
            {
                "broker": brokers[number]["name"],
                "state": f"role.{replica['role']}" if up else f"alive.{brokers[number]['alive']}",
                "in_isr": number in part["record"]["isr"],
                "hw": replica["hw"],
                "leo": replica["leo"],
                "more": max(0, len(records) - RECORDS_SHOWN),
                "records": records[-RECORDS_SHOWN:],
            }
        )
    return rows
