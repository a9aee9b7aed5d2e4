"""Inputs and outputs of the routes below /api, declared beside each for `app.server.openapi`.

A field with a bound is bounded by the code that reads it; what is written here is documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict, TypeVar

from app.batch.bounds import (
    CELLS_MOST,
    CURSOR,
    FUTURES_MOST,
    PROFILES_MOST,
    RUNS_MOST,
    STUDIES_MOST,
)
from app.batch.wire import BatchCost, BatchResult, BatchSnapshot, FailureOrder, ListedStudy
from app.cluster.box import BoxJson
from app.cluster.findings import ClusterReport
from app.cluster.reading import Note, PartitionRead, TopicRead
from app.core.request_fields import SEED_MAX
from app.find.answers import Results
from app.find.entries import KINDS
from app.find.index import MAX_HITS
from app.questions.editor import LineProblem, OutcomeJson, Problem
from app.questions.names import RUN_BYTES, SCENARIO_BYTES
from app.reading.facts import MOST_CHARS
from engine.model.json_types import Json

try:
    from msgspec import Meta
except ModuleNotFoundError:  # in a browser, where nothing reads the descriptions
    Meta = dict  # type: ignore[misc,assignment]

View = TypeVar("View", bound=Callable[..., Any])

STEPS_MOST: Final = 200
"""Steps of one answer."""
MOVES_MOST: Final = 200
MOVE_CHARS: Final = 2_000
STATES_MOST: Final = 3_000
"""States of one search: they take about five seconds."""
BUDGET_MOST: Final = 3
PARTITION_CHARS: Final = 260

YAML: Final[Json] = {
    "yaml": "title: Two\nbrokers: 2\nprofiles: [K39]\nscript: |\n  produce a\n  fetch 2 x2\n"
}
"""The scenario of the examples."""
FAILED: Final[Json] = {"run": "0123456789abcdef", "invariant": "I7"}

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Runs = Annotated[int, Meta(ge=1, le=RUNS_MOST)]
Seed = Annotated[int, Meta(ge=0, le=SEED_MAX)]
ScenarioText = Annotated[str, Meta(max_length=SCENARIO_BYTES)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Move = Annotated[str, Meta(max_length=MOVE_CHARS)]
Budget = Annotated[int, Meta(ge=0, le=BUDGET_MOST)]
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
    moves: NotRequired[Annotated[list[Move], Meta(max_length=MOVES_MOST)]]


class PlaySent(ProgramRun):
    """A run, and steps of it from `first` on."""

    first: NotRequired[Annotated[int, Meta(ge=0)]]
    count: NotRequired[Annotated[int, Meta(ge=0, le=STEPS_MOST)]]


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


class ExploreSent(ProgramRun):
    """A run, the step to search from (its last if none is named), and how often faults happen.

    `never`: invariants that end the search, such as "I7"; `reach`: a property to reach instead.
    """

    step: NotRequired[Annotated[int, Meta(ge=0)]]
    budgets: NotRequired[dict[str, Budget]]
    never: NotRequired[Move]
    reach: NotRequired[Move]
    states: NotRequired[Annotated[int, Meta(ge=1, le=STATES_MOST)]]


class FoundRun(TypedDict):
    """A shortest run to what was looked for; /api/play takes `moves` with the same scenario."""

    moves: list[str]
    url: str


class Explored(TypedDict):
    """`complete`: all states were seen; `found`: an invariant, or "reached" -> a run."""

    ok: Yes
    complete: bool
    states: int
    said: list[str]
    found: dict[str, FoundRun]


class IncidentSent(TypedDict):
    """Lines of logs or dumps; above those of each file `==> 2=server.log <==`, 2 is the broker."""

    text: Annotated[str, Meta(min_length=1, max_length=2 * MOST_CHARS)]
    partition: NotRequired[Annotated[str, Meta(max_length=PARTITION_CHARS)]]


class IncidentEvent(TypedDict):
    ms: int
    node: str
    said: str


class IncidentTold(TypedDict):
    """Events of a partition; `url`: a run that makes its states, `finding`: the first it misses."""

    ok: Yes
    partition: str
    kafka: str
    verdict: list[str]
    events: list[IncidentEvent]
    finding: str
    notes: list[str]
    url: str | None


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
    """`key`, for a program: sent as `Authorization: Bearer KEY`, it may change the study."""

    ok: Yes
    id: str
    url: str
    key: NotRequired[str]


class StudiesAsked(TypedDict):
    """Page of a list: `after` is the `next` of the page before."""

    limit: NotRequired[Annotated[int, Meta(ge=1, le=STUDIES_MOST)]]
    after: NotRequired[Annotated[str, Meta(pattern=CURSOR)]]


class StudyListed(ListedStudy):
    url: str


class StudiesListed(TypedDict):
    """Studies, newest first; `next`: where the next page begins, null on the last."""

    ok: Yes
    studies: list[StudyListed]
    next: str | None


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


class FailuresAsked(TypedDict("First", {"from": NotRequired[Annotated[int, Meta(ge=0)]]})):
    """Filter of the failing runs, and the first one to list."""

    profile: NotRequired[Annotated[str, Meta(max_length=120)]]
    invariant: NotRequired[Annotated[str, Meta(max_length=40)]]
    cell: NotRequired[Annotated[int, Meta(ge=0, le=CELLS_MOST)]]
    order: NotRequired[FailureOrder]


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
    kind: NotRequired[Annotated[str, Meta(extra_json_schema={"enum": list(KINDS)})]]
    limit: NotRequired[Annotated[int, Meta(ge=1, le=MAX_HITS)]]


class FoundJson(Results):
    ok: Yes


class SightingsJson(TypedDict):
    ok: Yes
    scenarios: list[str]


@dataclass(frozen=True)
class RouteSchema:
    """Declaration of a route: `gives` by status; `takes` is the body, `asks` the query.

    `example`: a body that is answered.
    """

    gives: Any
    statuses: tuple[int, ...]
    takes: Any = None
    asks: Any = None
    example: Json | None = None


VIEWS: Final = "__told__"


def declare(
    gives: Any, *statuses: int, takes: Any = None, asks: Any = None, example: Json | None = None
) -> Callable[[View], View]:
    """Declare a route; without statuses it is 200."""

    def declare(view: View) -> View:
        setattr(view, VIEWS, RouteSchema(gives, statuses or (200,), takes, asks, example))
        return view

    return declare
