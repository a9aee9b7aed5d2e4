"""Declared types of a batch's JSON, as `engine.view.wire` declares those of a step.

`docs/reference/wire.schema.json` and `static/js/core/wire.d.ts` are made from these, and a test
holds what `app.batch.result` builds to them.  Shares are numbers from 0 to 1, times milliseconds
since 1970.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from app.core.refusals import KeyedSentence
from app.storage.batch_fields import BatchAbout, BatchCause, BatchState

FailureOrder = Literal["seed", "step", "lost"]


class StudyFinding(KeyedSentence):
    """A finding from counts; `bad` marks what happened, `first` what is shown before all else."""

    bad: bool | None
    first: bool


class Count(TypedDict):
    """`hits` of `n` runs; with 95 % confidence the share lies from `low` to `high`.

    `effective`: how many runs of one weight would know as much.
    """

    hits: int
    n: int
    share: float | None
    low: float
    high: float
    effective: NotRequired[int]


class Waited(Count):
    """Count with `until`: the median number of runs until the first, with its interval."""

    until: str


class CellJson(TypedDict):
    """Results of the runs of a profile and a combination of varied values.

    `broken` by invariant, `unseen` whatever no run broke; `errors` are runs that failed themselves.
    """

    profile: str
    cell: int
    label: str
    values: dict[str, str]
    n: int
    errors: int
    violating: Waited
    broken: dict[str, Waited]
    unseen: Waited


class ProgressJson(TypedDict):
    """Progress of a batch.

    `message` in English, `said` the same where the server says it itself.
    """

    id: str
    state: BatchState
    message: str
    said: KeyedSentence | None
    done_chunks: int
    total_chunks: int
    done_runs: int
    total_runs: int
    runs_per_s: float
    left_s: float | None
    cells: list[CellJson]


class ListedStudy(TypedDict):
    """Row of a list of studies; `runs` of all profiles and cells."""

    id: str
    title: str
    kind: str
    state: BatchState
    profiles: list[str]
    runs: int
    submitted: int


class BatchSnapshot(ProgressJson):
    """Progress with `before`, the number of batches that start sooner."""

    before: int


class BatchCost(TypedDict):
    """Estimated speed and time of a batch.

    `precision`: to either side of a share of 1 %; `bound` of what no run does.
    """

    runs_per_s: float
    cores: int
    total_runs: int
    seconds: float
    precision: float
    bound: float


class BatchScenario(TypedDict):
    slug: str
    code: str
    title: str
    digest: str


class Measured(TypedDict):
    """A metric of a profile and cell.

    `curve`: (share of runs, value that they do not pass); `quantiles`: at 50, 90, 99 and 99.9 %,
    null where so few runs cannot know it.
    """

    profile: str
    cell: int
    label: str
    n: int
    mean: float | None
    min: float | None
    max: float | None
    share: Count
    curve: list[tuple[float, float]]
    quantiles: list[float | None]


class BatchMetric(TypedDict):
    name: str
    unit: str
    meaning: str
    summary: str
    cells: list[Measured]


class BatchPair(TypedDict):
    """The same seeds on two sides, `a` and `b`, with the exact sign test's `p`.

    `common` is what both have, `profiles` whether they differ by profile.
    """

    invariant: str
    neither: int
    only_a: int
    only_b: int
    both: int
    a: str
    b: str
    common: str
    profiles: bool
    n: int
    p: float


class Dot(TypedDict):
    """`kind`: lost, broken, error or held."""

    seed: int
    kind: str
    url: str


class Dots(TypedDict):
    """The first runs of a side, one by one."""

    profile: str
    cell: int
    label: str
    runs: int
    lost: int
    dots: list[Dot]


class FuturesStep(TypedDict):
    step: int
    share: float
    low: float
    high: float


class BatchFutures(TypedDict):
    """Turning point of a failing run: from `point` on most futures fail, at `held` they did not.

    `said`: none, always or point.
    """

    run: str
    invariant: str
    steps: list[FuturesStep]
    point: int | None
    held: int | None
    said: str
    broken: int
    url: str


class BatchLook(TypedDict):
    """Number of intervals that shall hold together, and of times the study has grown."""

    at_once: int
    growing: int


class BatchNeeds(TypedDict):
    """Runs and time needed to know the rarest share `within` a part of itself."""

    seen: bool
    within: float
    runs: int
    seconds: float | None


class BatchFailure(TypedDict):
    """A run that broke an invariant at `step`, or failed itself ("error", -1)."""

    profile: str
    cell: int
    seed: int
    invariant: str
    step: int
    why: str
    lost: int | None
    steps: int | None
    label: str
    url: str


class BatchFailures(TypedDict):
    """Failures from `first` on, of `total` that match."""

    total: int
    first: int
    rows: list[BatchFailure]


class AdviceLosses(TypedDict):
    """Losses of a year, as estimated from `hits`."""

    hits: int
    rate: float
    low: float
    high: float


class AdviceDowntime(TypedDict):
    """Seconds of a year in which writes wait."""

    mean: float
    low: float
    high: float


class AdviceWay(TypedDict):
    """Kinds of failures that lost, in their order, and how often a year they do."""

    path: list[str]
    rate: float


class AdviceRates(TypedDict):
    """Rates of a year; `unseen`: what losses in ways that no run took may add.

    `cycles` and `ways` are of studies of trees.
    """

    lost: AdviceLosses
    down: AdviceDowntime
    unseen: float
    cycles: NotRequired[int]
    ways: NotRequired[list[AdviceWay]]


class AdviceSetting(AdviceRates):
    """Rates of a setting; `yours`: the one that was asked for.

    Of studies of trees `overlaps`: how often a year all replicas are down at once, by formula;
    `left_out`: the part by which it may be more.
    """

    profile: str
    cell: int
    label: str
    yours: bool
    acks: str
    n: int
    overlaps: NotRequired[float | None]
    left_out: NotRequired[float]


class BatchAdvice(TypedDict):
    """Rates of each setting; `better`: the best one is better than yours beyond doubt.

    `whole`: a study of trees that is done; `window_s`: the length of the runs of another.
    """

    about: BatchAbout
    settings: list[AdviceSetting]
    yours: AdviceSetting
    best: AdviceSetting
    better: bool
    whole: NotRequired[bool]
    window_s: NotRequired[int]


class BatchResult(BatchSnapshot):
    """Complete result of a batch; `kind` seeds, futures or advice, and `advice` of the last one."""

    scenario: BatchScenario
    title: str
    profiles: list[str]
    runs: int
    first_seed: int
    submitted: int
    started: int | None
    finished: int | None
    engine: int
    kind: str
    varied: list[str]
    invariants: list[str]
    sentences: list[StudyFinding]
    metrics: list[BatchMetric]
    paired: list[BatchPair]
    paired_said: list[KeyedSentence]
    advice: BatchAdvice | None
    futures: BatchFutures | None
    causes: list[BatchCause]
    weighted: bool
    dots: list[Dots]
    cycles: bool
    look: BatchLook
    needs: BatchNeeds | None
    within: int
    failures: BatchFailures
