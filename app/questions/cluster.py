"""Question about a cluster: a run that starts in the state that Kafka's tools print."""

from __future__ import annotations

from typing import Final, TypedDict

from app.core.request_fields import RequestFields
from app.questions.context import Answer, Context
from app.questions.names import RUN_BYTES
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.profiles import get_profile
from engine.scenarios import paste, pasted
from engine.scenarios.paste import MIN_ISR, UNCLEAN, Facts, Notice, topic_of
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

MOST_SENT: Final = 190_000
"""Characters that the page sends: as JSON they fit into a request."""


class PartitionRead(TypedDict):
    name: str
    topic: str
    leader: int | None
    isr: list[int]
    elr: list[int]
    replicas: list[int]
    min_isr: int


class TopicRead(TypedDict):
    """The settings of a topic, as the text has them, and the names of those that are assumed."""

    name: str
    settings: dict[str, str]
    assumed: list[str]


class PressJson(TypedDict):
    """A line that changes an assumption, to be put above line `before` of the text (0: first)."""

    key: str
    args: Json
    put: str
    before: int


class Note(TypedDict):
    key: str
    args: Json
    line: int
    sentence: str
    choices: list[PressJson]
    topics: list[str]


def read(context: Context, request: RequestFields) -> tuple[Run | None, Answer, Facts]:
    """Parse {text, profile?}; return the run, if there is one, what was read, and the facts."""
    text = request.text("text", most=2 * paste.MOST_CHARS)
    profile = get_profile(request.text("profile")).name if request.has("profile") else ""
    title = context.text("cluster.title.scenario")
    run, read, notes, problems, facts = context.compute.apart(_parsed, text, profile, title)
    answer = {
        **read,
        "notes": [_note(context, one) for one in notes],
        "problems": [_note(context, one) for one in problems],
    }
    return run, answer, facts


def _parsed(
    text: str, profile: str, title: str
) -> tuple[Run | None, Answer, list[Notice], list[Notice], Facts]:
    """Return the run, what was read, notes, problems and the facts of a text."""
    facts = paste.read(text)
    facts.profile = profile or facts.profile
    data, notes = pasted.scenario_of(facts, title)
    problems = [*facts.problems]
    run = None
    if data is not None:
        run = _run(data, problems)
    read: Answer = {
        "run": None if run is None else run.text(),
        "profile": None if run is None else run.profile,
        "partitions": [] if data is None else _summary(data, facts),
        "topics": [] if data is None else _topics(data, facts),
        "offline": [] if data is None else data["initial"]["offline"],
    }
    return run, read, notes, problems, facts


def _run(data: Json, problems: list[Notice]) -> Run | None:
    """Return the run, if the parts fit together; else add the problem and return None."""
    try:
        scenario = Scenario.from_dict(data)
        run = Run(scenario, scenario.profiles[0])
    except InputError as bad:
        problems.append(Notice("paste.refused", {"why": bad.sentence}))
        return None
    if len(run.text().encode()) > RUN_BYTES:
        problems.append(Notice("paste.large", {"most": RUN_BYTES // 1024}))
        return None
    return run


def _summary(data: Json, facts: Facts) -> list[PartitionRead]:
    states = zip(data["initial"]["partitions"], data["partitions"], strict=True)
    return [
        {
            "name": one["name"],
            "topic": (topic := topic_of(one["name"])),
            "leader": one["leader"],
            "isr": one["isr"],
            "elr": one["elr"],
            "replicas": replicas,
            "min_isr": facts.min_isr(topic),
        }
        for one, replicas in states
    ]


def _topics(data: Json, facts: Facts) -> list[TopicRead]:
    names = dict.fromkeys(topic_of(one["name"]) for one in data["initial"]["partitions"])
    return [
        {
            "name": name,
            "settings": {**facts.settings.get("", {}), **facts.settings.get(name, {})},
            "assumed": [one for one in (MIN_ISR, UNCLEAN) if facts.setting(name, one) is None],
        }
        for name in names
    ]


def _note(context: Context, one: Notice) -> Note:
    return {
        "key": one.key,
        "args": dict(one.args),
        "line": one.line,
        "sentence": context.text(one.key, one.args),
        "choices": [
            {"key": each.key, "args": dict(each.args), "put": each.put, "before": each.before}
            for each in one.choices
        ],
        "topics": list(one.topics),
    }
