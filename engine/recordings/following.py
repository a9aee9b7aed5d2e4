"""The run of a recording: the same moves, in the order in which they really happened.

Reality says what happened, the engine fills in the rest.  A recording may say itself what to play
for a move (`plays`).  Beyond that four things are followed, since the facts tell them:

- A producer's record that the leader's disk held only some moves later was sent later, because a
  broker reads one request of a connection at a time.
- In a quorum the clock counts and chance decides.  Each move takes effect when it did there, and
  elections are drawn until they go as they went there.
- A broker that was just started, in the ZooKeeper era, may not have handled its LeaderAndIsr yet.
  It then does before the next move.  This is played only if every fact of the step agrees with it.
- A member of a group sends again what was refused, by its own clock, also during a move that takes
  time on a cluster and none in the model.  Again every fact of the step has to agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final

from engine.model.configs import CATALOGUE, build
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.model.quorum import FOLLOWER
from engine.recordings.facts import facts_now, metadata_end, pairs
from engine.recordings.reading import Facts, RecordedStep, Recording, records_of
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import Chance
from engine.sim.run import play
from engine.sim.simulation import Simulation

OF_THE_TOPIC: Final = ("min.insync.replicas", "unclean.leader.election.enable")
"""Topic configurations whose value in the scenario overrides that of the recording's cluster."""

SEEDS: Final = 16
"""Seeds that are tried for a recording of a quorum, after its own."""

DRAWS: Final = 12
"""Courses of chance that are tried for a step of it, each with `READINGS` moments of reading."""

READINGS: Final = 4

OUT_OF_STEP_MS: Final = 30

RETRIES_S: Final = 3
"""Seconds in which members may send again, shorter than any session."""

VOTERS_DELAY_MS: Final = [1, 10]
"""Delays of the control plane in a quorum: with a fixed one, all voters would wake at once."""

Played = tuple[int, RecordedStep, Facts, str]
"""(number, step, the engine's facts, why the engine refused to play it or "")."""


def scenario_of(recording: Recording, played: Scenario | None = None) -> Scenario:
    """Return the scenario under the recording's settings.

    It is `played`, or the library's, or one made for the recording.  Raises InputError for a
    profile, a replica list or a setting that cannot be.
    """
    profile = get_profile(recording.profile)
    named = recording.names or map(str, range(1, recording.brokers + 1))
    brokers = [
        # A broker without a name is listed with its number, which is no name.
        {"id": number, **({} if name.isdecimal() else {"name": name})}
        for number, name in enumerate(named, 1)
    ]
    data: dict[str, Any] = next(
        (entry.to_dict() for entry in library().values() if entry.code == recording.scenario),
        {"title": recording.scenario, "brokers": brokers},
    )
    if played is not None:
        data = played.to_dict()
    configs = dict(data.get("configs", {})) | recording.configs
    for name, value in recording.settings.items():
        if name in CATALOGUE and not (name in OF_THE_TOPIC and name in configs):
            configs[name] = value
    data |= {
        "brokers": data["brokers"][: recording.brokers],
        "profiles": [recording.profile],
        "expect": {},
        "script": "",
        "configs": configs,
        "partitions": [list(recording.assignment), *map(list, recording.others)],
    }
    if recording.voters:
        data["quorum"] = [f"C{number}" for number in range(1, recording.voters + 1)]
        data["network"] = {"delay_ms": 1, "control_delay_ms": VOTERS_DELAY_MS}
        data["fetching"] = "auto"
    data.pop("initial", None)
    scenario = Scenario.from_dict(data)
    build(profile, dict(scenario.configs))
    return scenario


def _differ(real: Facts, model: Facts) -> bool:
    return any(one != other for _, one, other in pairs(real, model))


def _put_out_of_step(sim: Simulation, seed: int) -> None:
    """Let followers miss the leader some milliseconds apart; at the beginning of a run none does.

    Else all would begin their elections at once until the delays of some fetches differ.
    """
    assert sim.cluster.quorum is not None
    chance = Chance(seed, "out of step")
    for voter in sim.cluster.quorum.voters.values():
        if voter.state == FOLLOWER:
            voter.deadline += chance.below(OUT_OF_STEP_MS)


def _draw(sim: Simulation, seed: int, number: str) -> None:
    """Draw other timeouts and delays from here on."""
    assert sim.cluster.quorum is not None
    sim.cluster.quorum.chance = Chance(seed, f"{number} quorum")
    sim.network.chance = Chance(seed, f"{number} network")


class Follower:
    """Plays a recording step by step; `notes` say where the order was the recording's."""

    def __init__(self, recording: Recording, played: Scenario | None = None) -> None:
        self.recording = recording
        self.scenario = scenario_of(recording, played)
        self._begin(0)

    def _begin(self, seed: int) -> None:
        self.seed = seed
        self.sim = Simulation(self.scenario, self.recording.profile, seed)
        self.sim.rush = True
        self.began = metadata_end(self.sim)
        if self.recording.voters:
            _put_out_of_step(self.sim, seed)
        self.notes: list[str] = []
        self.owed: list[str] = []  # what has to be played before the next step
        self.late: list[tuple[str, int, str]] = []  # record, the broker it is for, how it is sent

    def steps(self) -> Iterator[Played]:
        """Yield every step.  In a quorum the seed counts: the first under which no fact differs.

        The voter that fetched first misses the leader first, so what happened long before an
        election may have to be drawn again.  If no seed will do, it is the one under which the
        first difference comes latest.
        """
        if self.recording.voters:
            furthest, best = -1, 0
            for seed in [self.recording.seed, *range(SEEDS)]:
                self._begin(seed)
                equal = sum(1 for _ in takewhile(self._agrees, self._steps()))
                if equal > furthest:
                    furthest, best = equal, seed
                if equal == len(self.recording.steps):
                    break
            self._begin(best)
        yield from self._steps()

    def _steps(self) -> Iterator[Played]:
        for number, step in enumerate(self.recording.steps):
            if len(step.plays) != 1 or step.plays[0] != step.move:
                self._note_order(number, step)
            while self.owed:
                self._play(self.owed.pop(0))
            held = self._held_back(step)
            before = self.sim.copy() if held else self.sim
            refused = self._play_drawn(number, step)
            facts = self._facts()
            if held and _differ(step.facts, facts):
                before, self.sim = self.sim, before
                self._play(f"hold md {held}")
                refused = self._play_step(number, step)
                if _differ(step.facts, self._facts()):
                    self.sim = before
                else:
                    facts = self._facts()
                    self.owed.append(f"release md {held}")
                    self.notes.append(
                        f"step {number}, “{step.move}”: read before it heard its role"
                    )
            if self.scenario.groups and self._differences(number, step, facts):
                facts = self._let_members_retry(number, step, facts)
            yield number, step, facts, refused

    def _agrees(self, played: Played) -> bool:
        number, step, model, _ = played
        return self._differences(number, step, model) == 0

    def _differences(self, number: int, step: RecordedStep, model: Facts) -> int:
        """Return how many facts differ without an explanation in the recording."""
        explained = self.recording.explained
        return sum(
            real != own
            and all((real, own) != reason[:2] for reason in explained.get((number, fact), ()))
            for fact, real, own in pairs(step.facts, model)
        )

    def _facts(self) -> Facts:
        return facts_now(self.sim, self.began)

    def _play_drawn(self, number: int, step: RecordedStep) -> str:
        """Play a step; in a quorum with the chance that gives the facts of the recording.

        The winner of an election, and after how many, is drawn.  The first draw under which every
        fact agrees is kept; if none does, one with the fewest differences.
        """
        before, quorum = self.sim, self.sim.cluster.quorum
        if quorum is None:
            return self._play_step(number, step)
        best: tuple[int, Simulation, str] | None = None
        for draw in range(DRAWS * READINGS):
            self.sim = before.copy()
            if draw >= READINGS:
                _draw(self.sim, self.seed, f"{number}/{draw // READINGS}")
            refused = self._play_step(number, step, draw)
            differences = self._differences(number, step, self._facts())
            if best is None or differences < best[0]:
                best = differences, self.sim, refused
            if not differences:
                break
        assert best is not None
        self.sim = best[1]
        return best[2]

    def _play_step(self, number: int, step: RecordedStep, draw: int = 0) -> str:
        """Play the recording's move of a step; return why the engine refuses it, or "".

        `draw` chooses a moment of those at which the facts were read.
        """
        refused = ""
        acted, since, until = step.at or (0, 0, 0)
        self._wait(acted)
        for line in step.plays:
            if not (step.at and line.startswith("advance ")):  # its clock is that of the recording
                refused = self._play(self._on_time(number, line)) or refused
        self._wait(since + (until - since) * (draw % READINGS) // READINGS)
        self._send_late(number, step)
        # Real brokers were made to write their marks to disk after every move.
        self._play("checkpoint")
        return refused

    def _let_members_retry(self, number: int, step: RecordedStep, facts: Facts) -> Facts:
        """Return the facts after some more seconds if they are those of the step."""
        before = self.sim.copy()
        for second in range(1, RETRIES_S + 1):
            for line in ("advance 1s", step.move if step.move == "settle" else ""):
                self._play(line)
            later = self._facts()
            if not self._differences(number, step, later):
                self.notes.append(f"step {number}, “{step.move}”: members had {second} s more")
                return later
        self.sim = before
        return facts

    def _wait(self, until_ms: int) -> None:
        """Let the clock run until then, if that is not over."""
        if until_ms > self.sim.kernel.now:
            self._play(f"at {until_ms}")

    def _held_back(self, step: RecordedStep) -> str:
        """Return the broker that a step starts and that learns its role from LeaderAndIsr."""
        verb, _, broker = step.move.partition(" ")
        starts = verb == "restart" and broker != "K" and step.plays == (step.move,)
        return broker if starts and self.sim.profile.mode == "zk" else ""

    def _note_order(self, number: int, step: RecordedStep) -> None:
        if number:
            said = "; ".join(step.plays) or "nothing"
            self.notes.append(f"step {number}, “{step.move}”: played as {said}")

    def _play(self, line: str) -> str:
        """Play a move; return why it cannot be played, or ""."""
        if not line:
            return ""
        try:
            for _ in play(self.sim, (line,)):
                pass
        except InputError as error:
            return error.sentence
        return ""

    # -- records that came later -----------------------------------------------------------------

    def _on_time(self, number: int, line: str) -> str:
        """Return the move without those of its records that reached the leader's log only later."""
        words = line.split()
        if words[0] != "produce":
            return line
        count = next((i for i, w in enumerate(words) if w == "to" or "=" in w), len(words))
        names, how = words[1:count], words[count:]
        target = self._target(number, how)
        late = [name for name in names if self._came_later(number, name, target)]
        if not late:
            return line
        self.late += [(name, target, " ".join(how)) for name in late]
        self.notes.append(f"step {number}, “{line}”: {', '.join(late)} came later")
        now = [name for name in names if name not in late]
        return " ".join(["produce", *now, *how]) if now else ""

    def _target(self, number: int, how: list[str]) -> int:
        if "to" in how:
            name = how[how.index("to") + 1]
            for spec in self.scenario.brokers:
                if name in (str(spec.id), spec.name):
                    return spec.id
        leader = self.recording.steps[number].facts.get("leader", -1)
        return int(leader)

    def _came_later(self, number: int, name: str, broker: int) -> bool:
        if self._holds(number, name, broker):
            return False
        later = range(number + 1, len(self.recording.steps))
        return any(self._holds(n, name, broker) for n in later)

    def _holds(self, number: int, name: str, broker: int) -> bool:
        facts = self.recording.steps[number].facts
        return any(name == record for record, _ in records_of(facts, f"b{broker}"))

    def _send_late(self, number: int, step: RecordedStep) -> None:
        while self.late and self._holds(number, *self.late[0][:2]):
            name, _, how = self.late.pop(0)
            self._play(f"produce {name} {how}")
            if step.move == "settle":
                self._play("settle")
