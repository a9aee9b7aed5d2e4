"""Inputs and outputs of the routes below /api, declared beside each for `app.server.openapi`.

A field with a bound is bounded by the code that reads it; what is written here is documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, TypeVar

from app.batch.bounds import CELLS_MOST, FUTURES_MOST, PROFILES_MOST, RUNS_MOST
from app.batch.wire import BatchCost, BatchResult, BatchSnapshot
from app.cluster.box import BoxJson
from app.cluster.findings import ClusterReport
from app.cluster.reading import Note, PartitionRead, TopicRead
from app.core.request_fields import SEED_MAX
from app.find.answers import Results
from app.questions.editor import LineProblem, OutcomeJson, Problem
from app.questions.names import RUN_BYTES, SCENARIO_BYTES
from app.reading.facts import MOST_CHARS
from engine.model.json_types import Json

try:
    from msgspec import Meta
except ModuleNotFoundError:  # in a browser, where nothing reads the descriptions
    Meta = dict  # type: ignore[misc,assignment]

View = TypeVar("View", bound=Callable[..., Any])

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Runs = Annotated[int, Meta(ge=1, le=RUNS_MOST)]
Seed = Annotated[int, Meta(ge=0, le=SEED_MAX)]
ScenarioText = Annotated[str, Meta(max_length=SCENARIO_BYTES)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Yes = Literal[True]


class RunSent(TypedDict):
    """A run: its text, or the digest of one that this server knows."""

    text: NotRequired[Annotated[str, Meta(max_length=RUN_BYTES)]]
    run: NotRequired[Digest]


class ScenarioSent(TypedDict):
    """A scenario: YAML, or the same as an object."""

    yaml: NotRequired[ScenarioText]
    scenario: NotRequired[Json]


class ScenarioTried(ScenarioSent):
    profile: NotRequired[Name]


class Saved(TypedDict):
    ok: Yes
    digest: Digest
    url: str


class Checked(TypedDict):
    ok: Yes
    yaml: str
    scenario: Json | None
    problems: list[Problem]


class PlayedJson(TypedDict):
    ok: Yes
    profiles: list[OutcomeJson]


class Tried(TypedDict):
    ok: Yes
    run: Digest
    facts: Json
    steps: list[Json]
    problem: LineProblem | None


class ProgramRun(TypedDict):
    """A run: a scenario by name or as YAML, a release, a seed, and moves instead of its script."""

    scenario: NotRequired[Name]
    yaml: NotRequired[ScenarioText]
    release: NotRequired[Annotated[str, Meta(max_length=40)]]
    seed: NotRequired[Seed]
    moves: NotRequired[Annotated[list[str], Meta(max_length=200)]]


class PlaySent(ProgramRun):
    """A run, and steps of it from `first` on."""

    first: NotRequired[Annotated[int, Meta(ge=0)]]
    count: NotRequired[Annotated[int, Meta(ge=0, le=200)]]


class PlayedBreak(TypedDict):
    invariant: str
    step: int
    why: str


class PlayedStep(TypedDict):
    number: int
    time_ms: int
    move: str
    said: list[str]
    why: list[str]
    broken: list[str]


class Played(TypedDict):
    """End of a run, steps from `first` on, and the page that shows it; `last` is its last step."""

    ok: Yes
    run: Digest
    title: str
    release: str
    verdict: str
    holds: bool
    lost: list[str]
    broken: list[PlayedBreak]
    last: int
    first: int
    steps: list[PlayedStep]
    url: str


class WhySent(ProgramRun):
    """A run, a step of it, and a subject: `hw 1`, `isr 2`, `ack m1`, `leader 3`, `move kill 1`."""

    step: Annotated[int, Meta(ge=0)]
    subject: Annotated[str, Meta(min_length=1, max_length=200)]


class WhyGuard(TypedDict):
    """A condition: whether it holds, its sentence, and a move that would make it hold, or ""."""

    holds: bool
    said: str
    move: str


class WhyTold(TypedDict):
    ok: Yes
    about: str
    happens: bool
    guards: list[WhyGuard]


class CompareSent(ProgramRun):
    """A run, and another release that plays its script."""

    other: Annotated[str, Meta(max_length=40)]


class ComparedRuns(TypedDict):
    """Both ends in words; `at` has the first step of each that differs, if one does."""

    ok: Yes
    said: list[str]
    lost: list[str]
    other_lost: list[str]
    at: list[int]


class Playable(TypedDict):
    """Scenarios, name of a release -> the releases it stands for, and grammar of a move -> help."""

    ok: Yes
    scenarios: list[dict[str, str]]
    releases: dict[str, str]
    moves: dict[str, str]


class ClusterSent(TypedDict):
    text: Annotated[str, Meta(min_length=1, max_length=2 * MOST_CHARS)]
    profile: NotRequired[Name]
    partition: NotRequired[Name]


class ClusterRead(TypedDict):
    ok: Yes
    run: str | None
    what_if: str | None
    profile: str | None
    partitions: list[PartitionRead]
    topics: list[TopicRead]
    offline: list[int]
    notes: list[Note]
    problems: list[Note]
    report: ClusterReport | None
    box: BoxJson


class BatchSent(TypedDict):
    """A study of one of `scenario`, `run` and `again`, a study whose scenario is taken."""

    scenario: NotRequired[Name]
    run: NotRequired[Digest]
    again: NotRequired[Name]
    runs: Runs
    profiles: NotRequired[Annotated[list[Name], Meta(max_length=PROFILES_MOST)]]
    vary: NotRequired[Annotated[list[str], Meta(max_length=CELLS_MOST)]]
    first_seed: NotRequired[Seed]
    within: NotRequired[Annotated[int, Meta(ge=0, le=100)]]


class BatchTold(BatchResult):
    ok: Yes


class Estimated(BatchCost):
    ok: Yes
    notes: list[str]


class BatchStarted(TypedDict):
    ok: Yes
    id: str
    url: str


class MoreSent(TypedDict):
    runs: Runs


class TitleSent(TypedDict):
    title: str


class Titled(TypedDict):
    ok: Yes
    title: str


class Changed(TypedDict):
    ok: Yes
    batch: BatchSnapshot


class FailureSent(TypedDict):
    run: Digest
    invariant: Annotated[str, Meta(min_length=1, max_length=20)]


class FuturesSent(FailureSent):
    runs: NotRequired[Annotated[int, Meta(ge=1, le=FUTURES_MOST)]]


class Done(TypedDict):
    ok: Yes


class FailuresAsked(TypedDict):
    """Filter of the failing runs."""

    profile: NotRequired[str]
    invariant: NotRequired[str]
    cell: NotRequired[Annotated[int, Meta(ge=0, le=CELLS_MOST)]]
    order: NotRequired[str]


class ProfileAsked(TypedDict):
    profile: NotRequired[str]


class ReleaseJson(TypedDict):
    name: str
    modes: list[str]


class Releases(TypedDict):
    ok: Yes
    base: str
    releases: list[ReleaseJson]
    own: str


class MethodAsked(TypedDict):
    name: NotRequired[str]
    profile: NotRequired[str]


class ReachedJson(TypedDict):
    ok: Yes
    methods: list[str]
    cues: list[str]


class QuestionAsked(TypedDict):
    q: NotRequired[str]


class Sought(TypedDict):
    q: NotRequired[str]
    kind: NotRequired[str]
    limit: NotRequired[int]


class FoundJson(Results):
    ok: Yes


class SightingsJson(TypedDict):
    ok: Yes
    scenarios: list[str]


@dataclass(frozen=True)
class RouteSchema:
    """Declaration of a route: `gives` by status; `takes` is the body, `asks` the query."""

    gives: Any
    statuses: tuple[int, ...]
    takes: Any = None
    asks: Any = None


VIEWS: Final = "__told__"


def declare(
    gives: Any, *statuses: int, takes: Any = None, asks: Any = None
) -> Callable[[View], View]:
    """Declare a route; without statuses it is 200."""

    def declare(view: View) -> View:
        setattr(view, VIEWS, RouteSchema(gives, statuses or (200,), takes, asks))
        return view

    return declare
