"""A run of the playground in which happens what the files tell.

Reality says what became of brokers and of the record; the model fills in fetches and high
watermarks between.  Every state of the record is compared with the model's: the first one that it
does not reach by itself is the finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from app.incident.events import Event
from app.incident.facts import Ends, Scale, ends_of_epochs
from app.incident.telling import record as shown
from app.incident.timeline import State, Timeline
from app.kafka.metadata import Partition
from app.kafka.versions import numbers_of, profile_of
from engine.model.errors import BadInput
from engine.model.profiles import get_profile
from engine.model.records import PartitionRecord
from engine.model.state import DOWN
from engine.scenarios.scenario import Scenario
from engine.show.view import view
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation

GOES: Final = ("fenced", "failed", "leaving", "stops")
COMES: Final = ("unfenced", "came")
ROUNDS: Final = 6
MOST_RECORDS: Final = 100
TOGETHER_MS: Final = 1.0


@dataclass(slots=True)
class Rebuilt:
    """`followed` of `states` states of the record are the model's, too; `finding` says what is not,
    "" where the model can follow to the end."""

    run: Run
    followed: int
    states: int
    finding: str = ""
    notes: list[str] = field(default_factory=list)


def rebuild(
    told: Timeline, profile: str = "", between: Callable[[], None] = lambda: None
) -> Rebuilt:
    """The run, as far as the model can follow; `between` is called before each state and event, and
    may raise.  Raises BadInput for a profile that there is none of."""
    name = get_profile(profile).name if profile else _profile(told)
    return _Builder(told, name).build(between)


def _profile(told: Timeline) -> str:
    numbers = numbers_of(told.version) or ((3, 9, 1) if told.kraft else (2, 8, 2))
    name = profile_of(numbers, told.kraft)
    has_elr = any(state.record.elr or state.record.last_known_elr for state in told.states)
    row = get_profile(name)
    return f"{name}+elr" if has_elr and row.elr_available and not row.elr else name


class _Builder:
    def __init__(self, told: Timeline, profile: str) -> None:
        self.told = told
        self.ends = ends_of_epochs(told)
        starts = [disk.start or 0 for disk in told.disks.values()]
        self.fresh = told.states[0].record.partition_epoch == 0
        first = told.states[0].record
        low = self.ends[first.leader_epoch]
        begin = min([low.committed, *low.leo.values(), *low.hw.values()])
        self.scale = Scale(self.ends, 0 if self.fresh else max(min(starts, default=0), begin))
        self.replicas = list(first.replicas) if told.kraft and first.replicas else told.replicas
        held = {broker for state in told.states for broker in state.record.replicas}
        self.brokers = {*told.replicas, *self.replicas, *held}
        self.moves: list[str] = []
        self.notes: list[str] = []
        self.filled: set[int] = set()
        self.run = Run(self._scenario(profile), profile, 0, ())
        self.sim = self.run.simulation()
        self.sim.rush = True
        self.cut: set[int] = set()

    def _scenario(self, profile: str) -> Scenario:
        told, first = self.told, self.told.states[0].record
        configs: dict[str, Any] = {"auto.leader.rebalance.enable": False}
        for name, value in told.configs.items():
            if name == "min.insync.replicas":
                configs[name] = int(value)
            elif name == "unclean.leader.election.enable":
                configs[name] = value == "true"
        data: dict[str, Any] = {
            "title": f"What happened to {told.partition}",
            "profiles": [profile],
            "brokers": [{"id": broker} for broker in sorted(self.brokers)],
            "partitions": [self.replicas],
            "configs": configs,
        }
        if not self.fresh:
            at = self.scale.start
            epochs = [[first.leader_epoch, at]]
            data["initial"] = {
                "offline": [],
                "partitions": [
                    {
                        "name": "t-0",
                        "leader": first.leader,
                        "leader_epoch": first.leader_epoch,
                        "partition_epoch": first.partition_epoch,
                        "isr": list(first.isr),
                        "elr": list(first.elr),
                        "last_known_elr": list(first.last_known_elr),
                        "logs": [
                            {"broker": broker, "epochs": epochs, "end": at, "hw": at}
                            for broker in self.replicas
                        ],
                    }
                ],
            }
        return Scenario.from_dict(data)

    # -- the whole ---------------------------------------------------------------------------------

    def build(self, between: Callable[[], None]) -> Rebuilt:
        followed, finding = 0, ""
        before: State | None = None
        for what in self._in_order():
            between()
            if isinstance(what, Event):
                self._broker(what)
                continue
            if not self._reach(before, what):
                finding = self._finding(what)
                break
            followed += 1
            before = what
        if not finding:
            self._fill(self._model().leader_epoch)
            self._play("settle")
            finding = self._differing_disks()
        if self.scale.shortened:
            self.notes.append(
                "Offsets are those of the run: long stretches of records are left out of it."
            )
        run = self._whole_run()
        return Rebuilt(run, followed, len(self.told.states), finding, self.notes)

    def _whole_run(self) -> Run:
        """A scenario whose script is the run; a run of moves where it is too long for a script."""
        scenario, profile = self.run.scenario, self.run.profile
        data = {**scenario.to_dict(), "script": "\n".join(self.moves)}
        try:
            return Run(Scenario.from_dict(data), profile)
        except BadInput:
            return Run(scenario, profile, 0, tuple(self.moves))

    def _in_order(self) -> list[State | Event]:
        """States and what became of brokers: before a state comes what led to it."""
        rows: list[tuple[int, int, float, int, State | Event]] = []
        for number, state in enumerate(self.told.states):
            rows.append((number, 1, 0.0, 0, state))
        times = self._times()
        for number, (time_ms, event) in enumerate(self.told.events):
            if event.kind not in (*GOES, *COMES) or time_ms <= times[0]:
                continue
            if event.node == self.told.clocks.reference or event.kind == "stops":
                rows.append((self._leads_to(event, time_ms, times), 0, time_ms, number, event))
        rows.sort(key=lambda row: row[:4])
        return [row[4] for row in rows]

    def _times(self) -> list[float]:
        """When each state was written; one whose time nobody tells, with the one before it."""
        times: list[float] = []
        for state in self.told.states:
            last = times[-1] if times else 0.0
            times.append(last if state.time_ms is None else max(last, state.time_ms))
        return times

    def _leads_to(self, event: Event, time_ms: float, times: list[float]) -> int:
        """The number of the state that follows from an event.  The controller writes the fencing
        of a broker behind the change that it causes, both at one moment."""
        states = self.told.states
        after = next((n for n, written in enumerate(times) if written >= time_ms), len(states))
        if event.kind != "fenced":
            return after
        broker = event.data["broker"]
        for number in range(max(1, after), len(states)):
            if times[number] > time_ms + TOGETHER_MS:
                break
            was, now = states[number - 1].record, states[number].record
            if broker in was.isr and (broker not in now.isr or was.leader != now.leader):
                return number
        return after

    # -- brokers -----------------------------------------------------------------------------------

    def _broker(self, event: Event) -> None:
        listed = event.data.get("brokers") or [event.data.get("broker", event.node)]
        for broker in (int(one) for one in listed):
            if broker not in self.brokers:
                continue
            if event.kind in ("leaving", "stops"):
                if self._is_up(broker) and broker not in self.cut:
                    self._fill_before_change()
                    self._play(f"shutdown {broker}")
            elif event.kind in GOES:
                if self._is_up(broker) and broker not in self.cut:
                    self._fill_before_change()
                    self._goes(broker, event)
            elif broker in self.cut:
                self.cut.discard(broker)
                self._play(f"heal {broker} K")
            elif not self._is_up(broker):
                self._play(f"restart {broker}")

    def _is_up(self, broker: int) -> bool:
        return self.sim.brokers[broker].status != DOWN

    def _goes(self, broker: int, event: Event) -> None:
        """A process that never started again before it was back has only been cut off."""
        back, found = self._comes_back(broker, event)
        if back and not self._starts_between(broker, event, back):
            self.cut.add(broker)
            self._play(f"cut {broker} K")
        elif found is not None and self.scale_of(found) < self._leo(broker):
            self._play(f"flush {broker} upto {self.scale_of(found)}")
            self._play(f"power {broker}")
        else:
            self._play(f"kill {broker}")
        self._play(f"detect {broker}")

    def scale_of(self, offset: int) -> int:
        try:
            return self.scale.of(offset)
        except KeyError:
            return offset

    def _comes_back(self, broker: int, gone: Event) -> tuple[Event | None, int | None]:
        """The event of its return, and the log end that it then found."""
        later = False
        found: int | None = None
        for _, event in self.told.events:
            later = later or event is gone
            if not later:
                continue
            if event.kind == "loaded" and event.node == str(broker) and found is None:
                found = event.data["leo"]
            names = event.data.get("brokers") or [event.data.get("broker")]
            if event.kind in COMES and broker in names:
                return event, found
        return None, found

    def _starts_between(self, broker: int, gone: Event, back: Event) -> bool:
        between = False
        for _, event in self.told.events:
            if event is gone:
                between = True
            if between and event.kind == "registered" and event.data["broker"] == broker:
                return True
            if between and event.kind == "starts" and event.node == str(broker):
                return True
            if event is back:
                return False
        return False

    # -- the record --------------------------------------------------------------------------------

    def _model(self) -> PartitionRecord:
        return self.sim.cluster.controller.records[0]

    def _same(self, wanted: Partition) -> bool:
        model = self._model()
        same = (model.leader, model.leader_epoch, model.partition_epoch) == (
            wanted.leader,
            wanted.leader_epoch,
            wanted.partition_epoch,
        )
        return (
            same
            and set(model.isr) == set(wanted.isr)
            and set(model.elr) == set(wanted.elr)
            and model.recovering == wanted.recovering
        )

    def _reach(self, before: State | None, state: State) -> bool:
        """Plays what leads to the next state of the record; is it reached?"""
        wanted = state.record
        if self._same(wanted):
            return True
        if before is None:
            return False
        was = before.record
        joined = [broker for broker in wanted.isr if broker not in was.isr]
        left = [broker for broker in was.isr if broker not in wanted.isr]
        if self._reassigns(was, wanted):
            return self._same(wanted)
        elected = wanted.leader_epoch != was.leader_epoch and wanted.leader >= 0
        if elected and (not left or wanted.leader not in (*was.isr, *was.elr)):
            self._fill_before_change()
            self._elect(was, wanted)
        elif left and wanted.leader == was.leader:
            self._fill_before_change()
            self._lag(wanted, left)
        for _ in range(ROUNDS):
            if self._same(wanted) or self._model().partition_epoch > wanted.partition_epoch:
                break
            for broker in joined or wanted.isr:
                if broker != self._model().leader and not self._same(wanted):
                    self._play(f"fetch {broker}")
        return self._same(wanted)

    def _reassigns(self, was: Partition, wanted: Partition) -> bool:
        """An operator asked for other replicas, or took that back; is that what happened?"""
        before, after = (was.adding, was.removing), (wanted.adding, wanted.removing)
        if any(after) and after != before:
            target = [broker for broker in wanted.replicas if broker not in wanted.removing]
            self._fill_before_change()
            return self._play(f"reassign {' '.join(map(str, target))}")
        if any(before) and not any(after) and set(was.adding).isdisjoint(wanted.replicas):
            return bool(was.adding) and self._play("reassign cancel")
        return False

    def _elect(self, was: Partition, wanted: Partition) -> None:
        if wanted.leader not in (*was.isr, *was.elr):
            self._play("elect unclean")
        elif wanted.leader == self._preferred(wanted):
            self._play("elect preferred")
        else:
            self._play(f"elect {wanted.leader}")

    def _preferred(self, record: Partition) -> int:
        """Requests of 0.10.2 tell the replicas as a set; only the controller told their order."""
        ordered = record.replicas if self.told.kraft else ()
        return (ordered or self.replicas)[0]

    def _lag(self, wanted: Partition, left: list[int]) -> None:
        """A follower that asks for nothing leaves the ISR; the others go on asking."""
        lag_ms = self.sim.configs.lag_time_max_ms
        for _ in range(ROUNDS):
            if self._same(wanted):
                return
            self._play(f"advance {max(1, lag_ms // 2)}")
            for broker in wanted.isr:
                if broker != wanted.leader:
                    self._play(f"fetch {broker} x2")
            self._play(f"tick {wanted.leader}")

    # -- records and marks -------------------------------------------------------------------------

    def _leo(self, broker: int) -> int:
        disk = self.sim.brokers[broker].machine.disks.get(0)
        return 0 if disk is None else disk.log.leo

    def _fill_before_change(self) -> None:
        self._fill(self._model().leader_epoch)

    def _fill(self, epoch: int) -> None:
        """Writes what the leader of an epoch wrote, once, while its followers can still fetch."""
        if epoch in self.filled or self._model().leader < 0:
            return
        self.filled.add(epoch)
        ends = self.ends.get(epoch, Ends())
        leader = self._model().leader
        followers = [broker for broker in self._model().isr if broker != leader]
        committed = self.scale.of(ends.committed)
        known = {b: self.scale.of(leo) for b, leo in ends.leo.items()}
        marks = {b: self.scale.of(ends.hw[b]) if b in ends.hw else committed for b in followers}
        self._write(leader, min(marks.values(), default=committed))
        for _ in range(2):
            # Who is known to have ended before the leader did has not fetched all of this.
            self._fetch([b for b in followers if known.get(b, committed) >= self._leo(leader)])
        if self._leo(leader) < committed:
            self._write(leader, committed)
            followers = [b for b in followers if known.get(b, committed) >= committed]
            self._fetch(followers)
            # Whose mark is lower has asked for more, and was not answered yet.
            self._fetch([b for b in followers if marks[b] < committed], "ask")
            for _ in range(2):
                self._fetch([b for b in followers if marks[b] >= committed])
        written = self.scale.of(ends.written)
        if self._leo(leader) < written:
            self._write(leader, written)
            self._fetch([b for b in followers if known.get(b, 0) >= written])

    def _fetch(self, followers: list[int], verb: str = "fetch") -> None:
        for broker in followers:
            self._play(f"{verb} {broker}")

    def _write(self, leader: int, end: int) -> None:
        """Records are named after their offset and leader epoch."""
        epoch = self._model().leader_epoch
        missing = [f"o{offset}e{epoch}" for offset in range(self._leo(leader), end)]
        for at in range(0, len(missing), MOST_RECORDS):
            names = " ".join(missing[at : at + MOST_RECORDS])
            self._play(f"produce {names} to {leader} acks=1")

    def _play(self, move: str) -> bool:
        """Plays a move and keeps it; one that the model refuses, or a fetch after which all is as
        it was, is left out."""
        before = self.sim.copy() if move.startswith("fetch ") else None
        try:
            for _ in play(self.sim, (move,)):
                pass
        except BadInput:
            return False
        if before is not None and _seen(before) == _seen(self.sim):
            self.sim = before
            return False
        self.moves.append(move)
        return True

    # -- what is found -----------------------------------------------------------------------------

    def _finding(self, state: State) -> str:
        model, release = self._model(), get_profile(self.run.profile).stands_for
        own = Partition(
            model.leader,
            model.leader_epoch,
            model.partition_epoch,
            tuple(model.isr),
            (),
            tuple(model.elr),
            tuple(model.last_known_elr),
            model.recovering,
        )
        return (
            f"At {state.where} the record becomes {shown(state.record)}; the model of {release} "
            f"is at {shown(own)} then. Here something happened that the files do not tell, or that "
            "this Kafka does not do by itself."
        )

    def _differing_disks(self) -> str:
        for node, disk in self.told.disks.items():
            if not node.isdigit() or int(node) not in self.brokers:
                continue
            if not disk.runs or not self._is_up(int(node)):
                continue
            end = self.scale_of(disk.end)
            if end != self._leo(int(node)):
                return (
                    f"On broker {node}'s disk the log ends at {disk.end}; in the model it ends at "
                    f"{self._leo(int(node))} (in the files' offsets it would be {end})."
                )
        return ""


def _seen(sim: Simulation) -> Any:
    """The partition as somebody sees it who watches the run."""
    return view(sim)["partitions"][0]
