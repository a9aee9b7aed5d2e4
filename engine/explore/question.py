"""A question to the search: from which step of which run, within which budgets, for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.clients.consumers import Client, Consumer
from engine.explore.budgets import VOTERS, Budgets, checked
from engine.model.configs import WEEK_MS
from engine.model.errors import InputError
from engine.moves import moves
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation

LAST = -1
"""Instead of a step: where the run ends."""


@dataclass(frozen=True)
class SearchQuestion:
    """`run` is played as far as the search begins (see `cut_at`)."""

    run: Run
    budgets: Budgets
    never: tuple[str, ...] = ()
    """Invariants: the search ends with the first that breaks.  None: all are watched to the end."""
    reach: str = ""
    """A goal (see `goals`): the search ends where it is so."""

    def __post_init__(self) -> None:
        checked(self.budgets)

    def start(self) -> Simulation:
        """Return the state in which the search begins.

        Raises InputError for a run that breaks off, and for a cluster the search does not know.
        """
        sim = self.run.simulation()
        run_to_end(sim, self.run.lines())
        _refuse_unknown(sim)
        if sim.cluster.quorum is not None:
            _refuse_budgets(self.budgets)
        return sim

    def begun(self) -> tuple[Simulation, frozenset[str]]:
        """Return the simulation, ready to be searched, and what is broken there already.

        Raises InputError as `start` does, and for what was to be looked for and is broken before.
        """
        sim = self.start()
        before = frozenset(name for name, _, _ in sim.broken)
        for name in self.never:
            if name in before:
                raise InputError(
                    "impossible", "{0} is broken before the search begins: begin earlier.", name
                )
        sim.hush()
        sim.rush = True
        return sim, before

    def followed_by(self, moves: Sequence[str]) -> Run:
        """Return a way that was found, as a run from its very beginning."""
        run = self.run
        return Run(run.scenario, run.profile, run.seed, (*run.lines(), *moves))


def cut_at(run: Run, step: int = LAST) -> Run:
    """Return the run up to a step (a number of its events), as a run that ends there, by hand.

    What followers fetch must wait for a hand, so that the search can decide: where it does not,
    `fetching manual` is the last move before the search.
    """
    lines = list(run.lines())
    sim = run.simulation(cues=True)  # no event may be passed over
    played = []
    for line in lines:
        if step != LAST and sim.events >= step:
            break
        played.append(_played(sim, line, step))
    if step > sim.events:
        raise InputError(
            "impossible", "The run has {0} steps, so there is no step {1}.", sim.events, step
        )
    if sim.auto:
        played.append("fetching manual")
    return Run(run.scenario, run.profile, run.seed, tuple(played))


def _played(sim: Simulation, line: str, step: int) -> str:
    """Play a move, no further than a step, and return the move, cut where it was."""
    before = sim.events
    for _ in moves.play(sim, moves.parse(line, sim.scenario.brokers)):
        if step != LAST and sim.events >= step:
            cut, _, _ = line.partition(" !")
            return f"{cut} !{sim.events - before}"
    return line


def _refuse_unknown(sim: Simulation) -> None:
    """Refuse what the key of a state leaves out, or a choice cannot play."""
    scenario: Scenario = sim.scenario
    network = sim.network.settings
    reasons = {
        "fetch sessions (fetch_sessions)": bool(sim.configs.values["fetch_sessions"]),
        "replication quotas": any(
            b.process is not None and b.process.quotas is not None for b in sim.brokers.values()
        ),
        "several log directories": any(b.machine.dirs > 1 for b in sim.brokers.values()),
        "slow disks": any(b.machine.disk_rate or b.machine.read_rate for b in sim.brokers.values()),
        "a network that loses by chance": bool(network.loss),
        "delays by chance": any(_varies(d) for d in (network.delay_ms, network.control_delay_ms)),
        "links that lose by chance": any(link.loss for link in sim.network.links.values()),
        "clients by the clock": any(_by_the_clock(sim, client) for client in sim.clients.values()),
        "topics that are made or deleted": bool(sim.cluster.controller.deletions),
        "remote storage that is slow": sim.cluster.store is not None
        and sim.cluster.store.slow_ms > 0,
        "segments in remote storage that expire by age": _expires_by_age(sim),
    }
    for name, present in reasons.items():
        if present:
            raise InputError(
                "impossible",
                "The search does not know {0}: take a run of {1} without.",
                name,
                repr(scenario.title[:60]),
            )


def _refuse_budgets(budgets: Budgets) -> None:
    for name, given in budgets._asdict().items():
        if given and name not in VOTERS:
            raise InputError(
                "impossible",
                "The search of a quorum plays its voters, not the brokers: leave out {0}; it knows "
                "{1}.",
                name,
                ", ".join(VOTERS),
            )


def _expires_by_age(sim: Simulation) -> bool:
    """Check whether segments may be too old soon: no state has the times of its records."""
    local, whole = sim.configs.local_retention_ms, sim.configs.retention_ms
    return sim.cluster.store is not None and any(0 <= age < WEEK_MS for age in (local, whole))


def _by_the_clock(sim: Simulation, client: Client) -> bool:
    if isinstance(client, Consumer):
        return client.running
    return client.interval > 0 and sim.now < client.stop_at


def _varies(delay: object) -> bool:
    return not (isinstance(delay, tuple) and delay[0] == delay[-1])
