"""Reading of a pasted text, in one call of a worker: the run, what was read, and what it means."""

from __future__ import annotations

from typing import Final, NamedTuple, TypedDict

from app.cluster.box import BoxJson, read_box
from app.cluster.findings import ClusterReport, report_of
from app.cluster.scenario import scenario_of
from app.questions.context import Context
from app.questions.names import RUN_BYTES
from app.reading import paste
from app.reading.facts import MIN_ISR, UNCLEAN, Facts, Notice
from app.reading.names import topic_of
from engine.model.errors import InputError
from engine.model.json_types import Json
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


class ClusterSummary(TypedDict):
    """The state that was read; `run` and `profile` are None where nothing can be played."""

    run: str | None
    profile: str | None
    partitions: list[PartitionRead]
    topics: list[TopicRead]
    offline: list[int]


class Reading(NamedTuple):
    run: Run | None
    summary: ClusterSummary
    notes: list[Notice]
    problems: list[Notice]
    report: ClusterReport | None
    box: BoxJson


def read_text(text: str, profile: str, partition: str, title: str, language: str) -> Reading:
    """Read a text; `partition` is the one whose story is told, "" for the only one.

    Pure: text in, plain data out.
    """
    facts = paste.read(text)
    facts.profile = profile or facts.profile
    box = read_box(text, facts, partition, language, title)
    data, notes = scenario_of(facts, title)
    problems = [*facts.problems]
    run = None
    if data is not None:
        run = _run(data, problems)
    summary: ClusterSummary = {
        "run": None if run is None else run.text(),
        "profile": None if run is None else run.profile,
        "partitions": [] if data is None else _summary(data, facts),
        "topics": [] if data is None else _topics(data, facts),
        "offline": [] if data is None else data["initial"]["offline"],
    }
    report = None if run is None else report_of(run.scenario.to_dict(), facts)
    return Reading(run, summary, notes, problems, report, box)


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
            "name": part["name"],
            "topic": (topic := topic_of(part["name"])),
            "leader": part["leader"],
            "isr": part["isr"],
            "elr": part["elr"],
            "replicas": replicas,
            "min_isr": facts.min_isr(topic),
        }
        for part, replicas in states
    ]


def _topics(data: Json, facts: Facts) -> list[TopicRead]:
    names = dict.fromkeys(
        topic_of(partition["name"]) for partition in data["initial"]["partitions"]
    )
    return [
        {
            "name": name,
            "settings": {**facts.settings.get("", {}), **facts.settings.get(name, {})},
            "assumed": [
                setting for setting in (MIN_ISR, UNCLEAN) if facts.setting(name, setting) is None
            ],
        }
        for name in names
    ]


def note_json(context: Context, notice: Notice) -> Note:
    return {
        "key": notice.key,
        "args": dict(notice.args),
        "line": notice.line,
        "sentence": context.text(notice.key, notice.args),
        "choices": [
            {"key": each.key, "args": dict(each.args), "put": each.put, "before": each.before}
            for each in notice.choices
        ],
        "topics": list(notice.topics),
    }
