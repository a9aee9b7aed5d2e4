"""``python3 -m tests.coverage``: every 95 % interval a page prints, tested on known truths.

The functions that are measured are those that pages call (app/batch/intervals.py, statistics.py).
A case draws many studies of a known truth with numpy and counts the intervals that hold it.
What is random here is drawn by one seed, so that the same command gives the same table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from math import ceil, exp
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import numpy as np

from app.advisor.table import foreseen, grown_to
from app.batch import intervals, statistics
from app.batch.cycles import PILOT_TREES
from app.batch.intervals import Look
from app.web.coverage import BAR

REPETITIONS: Final = 2_000
SHARES: Final = (0.0, 1e-4, 1e-3, 0.03, 0.5)
SIZES: Final = (100, 1_000, 20_000)
LOOKS: Final = 20
RATE, MEND, YEAR = 1 / (30 * 24), 1.0, 24 * 365
"""Of the two replicas whose disks die: failures an hour, hours of a repair, hours of a year."""

Ends = tuple[Any, Any]


class Case(NamedTuple):
    """One row: an interval, its truth, and the studies whose interval held it."""

    interval: str
    truth: str
    n: int
    held: int
    of: int

    @property
    def coverage(self) -> float:
        return self.held / self.of


def measured(repetitions: int = REPETITIONS, seed: int = 1) -> list[Case]:
    """Return all cases; two thousand repetitions of each take seconds of one core."""
    draw = np.random.default_rng(seed)
    return [*_counts(draw, repetitions), *_looks(draw, repetitions), *_tables(draw, repetitions),
            *_differences(draw, repetitions), *_mixtures(draw, repetitions),
            *_two_brokers(draw, repetitions), *_formula(draw, repetitions),
            *_stopped(draw, repetitions)]  # fmt: skip


def _coverage_case(interval: str, truth: str, n: int, held: Any) -> Case:
    return Case(interval, truth, n, int(np.sum(held)), int(np.size(held)))


def _inside(ends: Ends, truth: Any) -> Any:
    return (ends[0] <= truth) & (truth <= ends[1])


def counted(hits: Any, n: int, look: Look) -> Ends:
    """Return `statistics.interval` for each count that occurs, computed once each."""
    found, places = np.unique(hits, return_inverse=True)
    printed = [statistics.interval(int(one), n, look) for one in found]
    low, high = (np.array([one[name] for one in printed])[places] for name in ("low", "high"))
    return low.reshape(np.shape(hits)), high.reshape(np.shape(hits))


def _counts(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    for share in SHARES:
        for n in SIZES:
            hits = draw.binomial(n, share, repetitions)
            yield _coverage_case(
                "count", f"p = {share:g}", n, _inside(counted(hits, n, Look()), share)
            )


def _looks(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield a growing study with twenty looks: right only if all twenty intervals are."""
    for share in SHARES:
        n = 20_000
        hits = draw.binomial(n // LOOKS, share, (repetitions, LOOKS)).cumsum(axis=1)
        sizes = np.broadcast_to(np.arange(1, LOOKS + 1) * (n // LOOKS), hits.shape)
        ends = intervals.growing(hits, sizes)
        yield _coverage_case("growing", f"p = {share:g}", n, _inside(ends, share).all(axis=1))


def _tables(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield tables of twenty cells: right only if all twenty intervals are."""
    for share in (1e-3, 0.03):
        hits = draw.binomial(1_000, share, (repetitions, 20))
        held = _inside(counted(hits, 1_000, Look(at_once=20)), share).all(axis=1)
        yield _coverage_case("table", f"p = {share:g}", 1_000, held)


def _differences(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    for a, b, n in ((0.03, 0.03, 1_000), (1e-3, 4e-3, 1_000), (0.0, 1e-3, 1_000), (0.2, 0.5, 100)):
        pairs = zip(draw.binomial(n, a, repetitions), draw.binomial(n, b, repetitions), strict=True)
        held = []
        for one, two in pairs:
            first, second = statistics.interval(int(one), n), statistics.interval(int(two), n)
            _, low, high = statistics.difference(first, second)
            held.append(low <= b - a <= high)
        yield _coverage_case("difference", f"{b:g} − {a:g}", n, held)


def _weighted(weights: Any, hit: Any, n: int, truth: float, name: str, told: str) -> Case:
    """Return a case; rows are studies, columns runs: the weight of each, and whether it hit."""
    total = (weights * hit).sum(axis=1)
    squares = (weights**2 * hit).sum(axis=1)
    hits, heaviest = hit.sum(axis=1), weights.max(axis=1)
    held = []
    for study in zip(hits, total, squares, heaviest, strict=True):
        seen, whole, square, most = study
        found = statistics.weighted_interval(int(seen), float(whole), float(square), n, float(most))
        held.append(found["low"] <= truth <= found["high"])
    return _coverage_case(name, told, n, held)


def _mixtures(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield a likely cause whose hits are light, beside a rare one whose hits are heavy.

    The rare one strikes in one run of twenty, which weighs much, and one in five of these hits.
    """
    for n, heavy in ((150, 10.0), (1_000, 10.0), (1_000, 40.0)):
        struck = draw.random((repetitions, n)) < 0.05
        hit = draw.random((repetitions, n)) < 0.2
        weights = np.where(struck, heavy, 0.5)
        truth = 0.2 * (0.05 * heavy + 0.95 * 0.5)
        yield _weighted(weights, hit, n, truth, "weighted", f"likely + rare × {heavy:g}")


def _two_brokers(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield cases of two brokers that fail at a rate l each in a window w.

    Both must, and the rates are played f times as fast: importance sampling as batches do it, with
    the ratio of likelihoods as weight.
    """
    window = 1.0
    for rate, n in ((0.02, 150), (0.02, 1_000), (0.2, 1_000)):
        fast = 0.7
        waits = draw.exponential(1 / fast, (repetitions, n, 2))
        struck = waits < window
        until = np.minimum(waits, window)
        ratio = np.where(struck, rate / fast, 1.0) * np.exp((fast - rate) * until)
        truth = (1 - np.exp(-rate * window)) ** 2
        yield _weighted(ratio.prod(axis=2), struck.all(axis=2), n, truth, "weighted",
                        f"two brokers, l = {rate:g}")  # fmt: skip


def _formula(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield cycles of two replicas whose disks die: 2 l^2 m losses a year, and 2 l m hours waiting.

    A tree is one first failure, a repair of exponential length, and four copies of the second: a
    quarter of them soon after the first, as cycles.py has it.
    """
    for trees in (20, 40, 150):
        lost, waits, heaviest = _trees(draw, repetitions, trees, copies=4)
        for told, values, most, truth in (
            ("2 l² m", lost, heaviest, 2 * RATE * RATE * MEND * YEAR),
            ("2 l m", waits, 0.0, 2 * RATE * YEAR * MEND),
        ):
            low, high = intervals.weighed(values.sum(axis=1), (values**2).sum(axis=1), most)
            held = _inside((low / trees, high / trees), truth)
            yield _coverage_case("cycles", told, trees, held)


def _trees(draw: np.random.Generator, studies: int, trees: int, copies: int) -> tuple[Any, ...]:
    """Return (losses, hours of waiting of each tree of each study, heaviest cycle of each)."""
    near, soon = 90 / 3600, 0.25
    size = (studies, trees, copies)
    age = draw.exponential(MEND, size[:2])[..., None] + near
    after = draw.random(size) * np.where(draw.random(size) < soon, near, age)
    density = (1 - soon) / age + np.where(after <= near, soon / near, 0.0)
    weights = 2 * RATE * YEAR * RATE / (copies * density)
    lost = (weights * (after < age - near)).sum(axis=2)
    return lost, 2 * RATE * YEAR * (age[..., 0] - near), weights.max(axis=(1, 2))


def _stopped(draw: np.random.Generator, repetitions: int) -> Iterator[Case]:
    """Yield the interval at the moment at which a stop rule is satisfied.

    Of a batch, looked at after every chunk; of a cell of the advisor's table, from its pilot on.
    """
    for share, within in ((0.03, 0.2), (0.2, 0.1), (1e-3, 0.5)):
        sizes = np.arange(1, 161) * ceil(1.5 / share / within**2 / 10)
        hits = draw.binomial(sizes[0], share, (repetitions, len(sizes))).cumsum(axis=1)
        ends = intervals.growing(hits, np.broadcast_to(sizes, hits.shape))
        yield _at_stop(ends, hits / sizes, share, within, f"p = {share:g} ± {within:.0%}")
    # The same of runs that weigh differently: two brokers as above, whose rates are played faster.
    rate, fast, sizes = 0.2, 0.7, np.arange(1, 61) * 30
    waits = draw.exponential(1 / fast, (repetitions, int(sizes[-1]), 2)).astype(np.float32)
    ratio = np.where(waits < 1, rate / fast, 1.0) * np.exp((fast - rate) * np.minimum(waits, 1))
    weights = ratio.prod(axis=2, dtype=float)
    both = (waits < 1).all(axis=2)
    total, squares = ((weights**k * both).cumsum(axis=1)[:, sizes - 1] for k in (1, 2))
    heaviest = np.maximum.accumulate(weights, axis=1)[:, sizes - 1]
    low, high = intervals.weighed(total, squares, heaviest, Look(growing=1).alpha_of_look)
    truth = (1 - exp(-rate)) ** 2
    yield _at_stop((low / sizes, high / sizes), total / sizes, truth, 0.4, "two brokers ± 40%")
    truth = 2 * RATE * RATE * MEND * YEAR
    for within, copies in ((0.5, 1), (0.5, 4), (0.2, 1)):
        studies = [_stopped_trees(draw, within, copies) for _ in range(repetitions)]
        held = [low <= truth <= high for low, high, _ in studies]
        trees = int(np.median([n for *_, n in studies]))
        yield _coverage_case("stopped", f"2 l² m ± {within:.0%}, {copies} a cycle", trees, held)


def _at_stop(ends: Ends, found: Any, truth: float, within: float, told: str) -> Case:
    """Return the first look that is enough, or the last one.

    Rows are studies, columns the looks at them.  `n` is the median number of looks until a stop.
    """
    low, high = ends
    enough = (found > 0) & (np.maximum(high - found, found - low) <= within * found)
    enough[:, -1] = True
    at = enough.argmax(axis=1)
    held = _inside(ends, truth)[np.arange(len(at)), at]
    return _coverage_case("stopped", told, int(np.median(at)) + 1, held)


def _stopped_trees(
    draw: np.random.Generator, within: float, copies: int
) -> tuple[float, float, int]:
    """Return (low, high, trees) of a cell when its rule stops."""
    pilot = _trees(draw, 1, PILOT_TREES, copies)[0]
    wanted = foreseen(float(pilot.sum()), float((pilot**2).sum()), PILOT_TREES, within)
    total = squares = heaviest = 0.0
    n = looks = 0
    more = int(min(wanted, 10 * PILOT_TREES))
    while more:
        lost, _, most = _trees(draw, 1, more - n, copies)
        total, squares = total + float(lost.sum()), squares + float((lost**2).sum())
        heaviest, n, looks = max(heaviest, float(most[0])), more, looks + 1
        alpha = Look(growing=looks).alpha_of_look
        low, high = (float(end) / n for end in intervals.weighed(total, squares, heaviest, alpha))
        more = grown_to(n, total / n, low, high, within)
    return low, high, n


def worst(cases: Iterable[Case]) -> Case:
    return min(cases, key=lambda one: one.coverage)


def case_rows(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return the cases as the page and --json show them."""
    return [{**case._asdict(), "coverage": case.coverage} for case in cases]


@click.command()
@click.option(
    "--repetitions",
    type=click.IntRange(100, 100_000),
    default=REPETITIONS,
    show_default=True,
    help="Studies of each truth.",
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Writes the table there, as JSON.")
def main(repetitions: int, seed: int, out: Path | None) -> None:
    """Measure how often the 95 % intervals of pages hold truths that are known.

    Exit code 0: all hold in at least 93 % of the studies, less an allowance for luck.
    """
    cases = sorted(measured(repetitions, seed), key=lambda one: one.coverage)
    for one in cases:
        click.echo(f"{one.coverage:7.4f}  {one.interval:10}  {one.truth:24} n = {one.n}")
    least = cases[0].coverage
    click.echo(f"At least {least:.4f} of {repetitions} studies, in {len(cases)} cases.")
    if out is not None:
        found = {"repetitions": repetitions, "seed": seed, "cases": case_rows(cases)}
        out.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    sys.exit(0 if least >= BAR else 1)


if __name__ == "__main__":
    main()
