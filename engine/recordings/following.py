"""The run of a recording: the same moves, in the order in which they really happened.

Reality says what happened, the engine fills in the rest.  A recording may say itself what to play
for a move (`plays`).  Beyond that two things are followed, since the facts tell them:

- A producer's record that the leader's disk held only some moves later was sent later, because a
  broker reads one request of a connection at a time.
- A broker that was just started, in the ZooKeeper era, may not have handled its LeaderAndIsr yet.
  It then does before the next move.  This is played only if every fact of the step agrees with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.model.configs import CATALOGUE, build
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.recordings.facts import facts_now, pairs
from engine.recordings.reading import Facts, RecordedStep, Recording
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import play
from engine.sim.simulation import Simulation

OF_THE_TOPIC: Final = ("min.insync.replicas", "unclean.leader.election.enable")
"""Topic configurations whose value in the scenario overrides that of the recording's cluster."""

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
        (one.to_dict() for one in library().values() if one.code == recording.scenario),
        {"title": recording.scenario, "brokers": brokers},
    )
    if played is not None:
        data = played.to_dict()
    configs = dict(data.get("configs", {})) | recording.configs
    for name, value in recording.settings.items():
        if name in CATALOGUE and not (name in OF_THE_TOPIC and name in configs):
            configs[name] = value
    data |= {
        "profiles": [recording.profile],
        "expect": {},
        "script": "",
        "configs": configs,
        "partitions": [list(recording.assignment)],
    }
    data.pop("initial", None)
    scenario = Scenario.from_dict(data)
    build(profile, dict(scenario.configs))
    return scenario


def _differ(real: Facts, model: Facts) -> bool:
    return any(one != other for _, one, other in pairs(real, model))


class Follower:
    """Plays a recording step by step; `notes` say where the order was the recording's."""

    def __init__(self, recording: Recording, played: Scenario | None = None) -> None:
        self.recording = recording
        self.scenario = scenario_of(recording, played)
        self.sim = Simulation(self.scenario, recording.profile)
        self.sim.rush = True
        self.notes: list[str] = []
        self.owed: list[str] = []  # what has to be played before the next step
        self.late: list[tuple[str, int, str]] = []  # record, the broker it is for, how it is sent

    def steps(self) -> Iterator[Played]:
        for number, step in enumerate(self.recording.steps):
            if len(step.plays) != 1 or step.plays[0] != step.move:
                self._note_order(number, step)
            while self.owed:
                self._play(self.owed.pop(0))
            held = self._held_back(step)
            before = self.sim.copy() if held else self.sim
            refused = self._play_step(number, step)
            found = facts_now(self.sim)
            if held and _differ(step.facts, found):
                before, self.sim = self.sim, before
                self._play(f"hold md {held}")
                refused = self._play_step(number, step)
                if _differ(step.facts, facts_now(self.sim)):
                    self.sim = before
                else:
                    found = facts_now(self.sim)
                    self.owed.append(f"release md {held}")
                    self.notes.append(
                        f"step {number}, “{step.move}”: read before it heard its role"
                    )
            yield number, step, found, refused

    def _play_step(self, number: int, step: RecordedStep) -> str:
        """Play the recording's move of a step; return why the engine refuses it, or ""."""
        refused = ""
        for line in step.plays:
            refused = self._play(self._on_time(number, line)) or refused
        self._send_late(number, step)
        # Real brokers were made to write their marks to disk after every move.
        self._play("checkpoint")
        return refused

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
        log = self.recording.steps[number].facts.get(f"b{broker} log", "")
        return name in (record.rpartition("@")[0] or record for record in log.split())

    def _send_late(self, number: int, step: RecordedStep) -> None:
        while self.late and self._holds(number, *self.late[0][:2]):
            name, _, how = self.late.pop(0)
            self._play(f"produce {name} {how}")
            if step.move == "settle":
                self._play("settle")
