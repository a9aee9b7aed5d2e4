"""Run of the playground in which the events of the files happen.

The files have the events of brokers and the states of the record; the model fills in fetches and
high watermarks between.  Every state of the record is compared with the model's: the first one that
it does not reach by itself is the finding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from app.incident.facts import Ends, Scale, beginning, ends_of_epochs, shrinks_of
from app.incident.opening import assumptions, profile_for, scenario_data
from app.incident.render import JUST_BEFORE_MS
from app.incident.render import record as shown
from app.incident.timeline import Timeline, TimelineState
from app.kafka.metadata import PartitionMetadata
from app.reading.events import Event
from engine.model.errors import InputError
from engine.model.phrases import enumerated, phrase
from engine.model.profiles import get_profile
from engine.model.records import PartitionRecord
from engine.model.state import DOWN
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, try_move
from engine.sim.simulation import Simulation
from engine.view.view import view

GOES: Final = ("fenced", "failed", "leaving", "stops", "ends", "dies")
ROUNDS: Final = 6
MOST_RECORDS: Final = 100
TOGETHER_MS: Final = 1.0


@dataclass(slots=True)
class Rebuilt:
    """Rebuilt run: `followed` of `states` states of the record are the model's, too.

    `finding` names the difference, "" where the model can follow to the end.
    """

    run: Run
    followed: int
    states: int
    finding: str = ""
    notes: list[str] = field(default_factory=list)


def rebuild(timeline: Timeline, profile: str = "") -> Rebuilt:
    """Return the run, as far as the model can follow.

    Raises InputError for a profile that there is none of.
    """
    name = get_profile(profile).name if profile else profile_for(timeline)
    builder = _Builder(timeline, name)
    builder.notes += assumptions(timeline, get_profile(name).stands_for, bool(profile))
    return builder.build()


class _Builder:
    def __init__(self, timeline: Timeline, profile: str) -> None:
        self.told = timeline
        self.ends = ends_of_epochs(timeline)
        starts = [disk.start or 0 for disk in timeline.disks.values()]
        self.fresh = timeline.states[0].record.partition_epoch == 0
        first = timeline.states[0].record
        self.begin = None if self.fresh else beginning(timeline)
        self.scale = self._scaled(starts, first)
        self.replicas = (
            list(first.replicas) if timeline.kraft and first.replicas else timeline.replicas
        )
        if not timeline.kraft and set(first.replicas) > set(self.replicas):
            self.replicas = list(first.replicas)
        held = {broker for state in timeline.states for broker in state.record.replicas}
        led = {state.record.leader for state in timeline.states if state.record.leader >= 0}
        self.replicas += sorted(led - {*held, *self.replicas})
        self.brokers = {*timeline.replicas, *self.replicas, *held, *led}
        self.moves: list[str] = []
        self.notes: list[str] = []
        self.filled: set[int] = set()
        data = scenario_data(timeline, profile, self.replicas, self.brokers, self.begin, self.scale)
        self.run = Run(Scenario.from_dict(data), profile, 0, ())
        self.sim = self.run.simulation()
        self.sim.rush = True
        self.cut: set[int] = set()
        self.dead: set[int] = set()
        self.shrink = 0
        """Lines of shrinking ISRs that have been played."""

    def _scaled(self, starts: list[int], first: PartitionMetadata) -> Scale:
        shrinks = [event.data for _, event in shrinks_of(self.told)]
        more = {end for shrink in shrinks for end in (shrink["hw"], shrink["leo"])}
        more |= {end for shrink in shrinks for end in shrink.get("lagging", {}).values()}
        if self.begin is None:
            return Scale(self.ends, 0, more)
        low = self.ends[first.leader_epoch]
        ends = [low.committed, *low.leo.values(), *low.hw.values()]
        if self.begin.leo:
            ends = [self.begin.least]
            more |= {*self.begin.leo.values(), *self.begin.hw.values()}
        elif not any(ends) and more:
            ends = [max(0, min(more) - 1)]
        return Scale(self.ends, max(min(starts, default=0), min(ends)), more)

    # -- the whole ---------------------------------------------------------------------------------

    def build(self) -> Rebuilt:
        followed, finding = 0, ""
        before: TimelineState | None = None
        for what in self._in_order():
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
                "Offsets are those of the run, which leaves out long stretches of records."
            )
        run = self._whole_run()
        return Rebuilt(run, followed, len(self.told.states), finding, self.notes)

    def _whole_run(self) -> Run:
        """Return a scenario whose script is the run, or a run of moves if that is too long."""
        scenario, profile = self.run.scenario, self.run.profile
        data = {**scenario.to_dict(), "script": "\n".join(self.moves)}
        try:
            return Run(Scenario.from_dict(data), profile)
        except InputError:
            return Run(scenario, profile, 0, tuple(self.moves))

    def _in_order(self) -> list[TimelineState | Event]:
        """Return states and events of brokers: before a state comes what led to it."""
        rows: list[tuple[int, int, float, int, TimelineState | Event]] = []
        for number, state in enumerate(self.told.states):
            rows.append((number, 1, 0.0, 0, state))
        times = self._times()
        for number, (time_ms, event) in enumerate(self.told.events):
            if event.kind not in (*GOES, *COMES) or time_ms <= times[0]:
                continue
            of_controller = event.node == self.told.clocks.reference or "heard" in event.data
            if of_controller or event.kind in ("stops", "ends", "dies"):
                rows.append((self._leads_to(event, time_ms, times), 0, time_ms, number, event))
        rows.sort(key=lambda row: row[:4])
        return [row[4] for row in rows]

    def _times(self) -> list[float]:
        """Return the time of each state; one without a time gets that of the one before it."""
        times_known = [state.time_ms for state in self.told.states if state.time_ms is not None]
        times: list[float] = []
        for state in self.told.states:
            last = times[-1] if times else min(times_known, default=0.0) - JUST_BEFORE_MS
            times.append(last if state.time_ms is None else max(last, state.time_ms))
        return times

    def _leads_to(self, event: Event, time_ms: float, times: list[float]) -> int:
        """Return the number of the state that follows from an event.

        The controller writes the fencing of a broker behind the change that it causes, at one
        moment.
        """
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
        brokers = [str(member) for member in event.data.get("brokers", ())]
        listed = brokers or [str(event.data.get("broker", event.node))]
        for broker in (int(text) for text in listed if text.isdigit()):
            if broker not in self.brokers:
                continue
            if event.kind in ("leaving", "stops", "ends"):
                if self._is_up(broker) and broker not in self.cut:
                    self._fill_before_change()
                    self._play(f"shutdown {broker}")
            elif event.kind == "dies":
                if self._is_up(broker):
                    self._fill_before_change()
                    self._play(f"kill {broker}")
                    self.dead.add(broker)
            elif event.kind in GOES:
                if self._is_up(broker) and broker not in self.cut:
                    self._fill_before_change()
                    self._goes(broker, event)
                elif broker in self.dead:
                    self._play(f"detect {broker}")
                self.dead.discard(broker)
            elif broker in self.cut:
                self.cut.discard(broker)
                self._play(f"heal {broker} K")
            elif not self._is_up(broker):
                self._play(f"restart {broker}")

    def _is_up(self, broker: int) -> bool:
        return self.sim.brokers[broker].status != DOWN

    def _goes(self, broker: int, event: Event) -> None:
        """Stop a broker; one that never started again before it was back was only cut off."""
        back, loaded = comes_back(self.told, broker, event)
        if back and not starts_between(self.told, broker, event, back):
            self.cut.add(broker)
            self._play(f"cut {broker} K")
        elif loaded is not None and self.scale_of(loaded) < self._leo(broker):
            self._play(f"flush {broker} upto {self.scale_of(loaded)}")
            self._play(f"power {broker}")
        else:
            self._play(f"kill {broker}")
        self._play(f"detect {broker}")

    def scale_of(self, offset: int) -> int:
        try:
            return self.scale.of(offset)
        except KeyError:
            return offset

    # -- the record --------------------------------------------------------------------------------

    def _model(self) -> PartitionRecord:
        return self.sim.cluster.controller.records[0]

    def _same(self, state: PartitionMetadata) -> bool:
        model = self._model()
        same = (model.leader, model.leader_epoch, model.partition_epoch) == (
            state.leader, state.leader_epoch, state.partition_epoch,
        )  # fmt: skip
        return (
            same
            and set(model.isr) == set(state.isr)
            and set(model.elr) == set(state.elr)
            and model.recovering == state.recovering
        )

    def _reach(self, before: TimelineState | None, state: TimelineState) -> bool:
        """Play what leads to the next state of the record; return whether it is reached.

        Without a reason in the files, a broker that left or came back has crashed or started.
        """
        goal = state.record
        if self._same(goal):
            return True
        if before is None:
            return False
        sim, moves, filled = self.sim.copy(), list(self.moves), set(self.filled)
        shrink = self.shrink
        if self._changes(before.record, goal):
            return True
        after = self.sim, self.moves, self.filled
        self.sim, self.moves, self.filled, self.shrink = sim, moves, filled, shrink
        if self._crashes(before.record, goal):
            return True
        self.sim, self.moves, self.filled = after
        return False

    def _crashes(self, was: PartitionMetadata, goal: PartitionMetadata) -> bool:
        """Play that brokers that left have crashed, and joining ones started again."""
        dead = [
            replica for replica in {*was.isr, was.leader} - {*goal.isr, goal.leader} if replica >= 0
        ]
        if goal.leader < 0:
            dead = [replica for replica in was.isr if self._is_up(replica)]
        back = [replica for replica in goal.isr if not self._is_up(replica)]
        dead = [replica for replica in dead if replica in self.brokers and self._is_up(replica)]
        if not dead and not back:
            return False
        self._fill_before_change()
        for broker in dead:
            self._play(f"kill {broker}")
            self._play(f"detect {broker}")
        for broker in back:
            self._play(f"restart {broker}")
        if not self._same(goal):
            self._join(goal, list(goal.isr))
        if not self._same(goal):
            return False
        for of_one, of_several, brokers in (
            (
                "No log line says why broker {0} left: the run plays a crash.",
                "No log line says why brokers {0} left: the run plays their crash.",
                dead,
            ),
            (
                "No log line says why broker {0} came back: the run plays a start.",
                "No log line says why brokers {0} came back: the run plays their start.",
                back,
            ),
        ):
            if brokers:
                template = of_several if len(brokers) > 1 else of_one
                self.notes.append(phrase(template, enumerated(sorted(brokers))))
        return True

    def _changes(self, was: PartitionMetadata, goal: PartitionMetadata) -> bool:
        joined = [broker for broker in goal.isr if broker not in was.isr]
        left = [broker for broker in was.isr if broker not in goal.isr]
        if self._reassigns(was, goal):
            return self._same(goal)
        elected = goal.leader_epoch != was.leader_epoch and goal.leader >= 0
        if elected and (not left or goal.leader not in (*was.isr, *was.elr)):
            self._fill_before_change()
            self._elect(was, goal)
        elif left and goal.leader == was.leader:
            self._fill_before_shrink(goal)
            self._lag(goal, left)
        self._join(goal, joined or list(goal.isr))
        return self._same(goal)

    def _join(self, goal: PartitionMetadata, joining: list[int]) -> None:
        for _ in range(ROUNDS):
            if self._same(goal) or self._model().partition_epoch > goal.partition_epoch:
                break
            for broker in joining:
                if broker != self._model().leader and not self._same(goal):
                    self._play(f"fetch {broker}")

    def _reassigns(self, was: PartitionMetadata, goal: PartitionMetadata) -> bool:
        """Return whether an operator asked for other replicas, or took that back."""
        before, after = (was.adding, was.removing), (goal.adding, goal.removing)
        if any(after) and after != before:
            target = [broker for broker in goal.replicas if broker not in goal.removing]
            self._fill_before_change()
            return self._play(f"reassign {' '.join(map(str, target))}")
        if any(before) and not any(after) and set(was.adding).isdisjoint(goal.replicas):
            return bool(was.adding) and self._play("reassign cancel")
        return False

    def _elect(self, was: PartitionMetadata, goal: PartitionMetadata) -> None:
        if goal.leader not in (*was.isr, *was.elr):
            self._play("elect unclean")
        elif goal.leader == self._preferred(goal):
            self._play("elect preferred")
        else:
            self._play(f"elect {goal.leader}")

    def _preferred(self, record: PartitionMetadata) -> int:
        """Return the preferred replica; 0.10.2 requests have a set instead of an order."""
        ordered = record.replicas if self.told.kraft else ()
        return (ordered or self.replicas)[0]

    def _lag(self, goal: PartitionMetadata, left: list[int]) -> None:
        """Let followers that leave the ISR stop fetching; the others go on."""
        lag_ms = self.sim.configs.lag_time_max_ms
        for _ in range(ROUNDS):
            if self._same(goal):
                return
            self._play(f"advance {max(1, lag_ms // 2)}")
            for broker in goal.isr:
                if broker != goal.leader:
                    self._play(f"fetch {broker} x2")
            self._play(f"tick {goal.leader}")

    # -- records and marks -------------------------------------------------------------------------

    def _leo(self, broker: int) -> int:
        disk = self.sim.brokers[broker].machine.disks.get(0)
        return 0 if disk is None else disk.log.leo

    def _fill_before_change(self) -> None:
        self._fill(self._model().leader_epoch)

    def _fill_before_shrink(self, goal: PartitionMetadata) -> None:
        """Write what lay in the leader's log when followers fell behind, at least one record."""
        leader = self._model().leader
        shrinks = shrinks_of(self.told)
        at = next(
            (
                at
                for at, (_, event) in enumerate(shrinks)
                if at >= self.shrink
                and set(event.data["isr"]) == set(goal.isr)
                and event.node == str(leader)
                and self.scale.of(event.data["leo"]) >= self._leo(leader)
            ),
            None,
        )
        if at is None:
            self._fill_before_change()
            followers = [replica for replica in self._model().isr if replica != leader]
            self._fetch(followers * 2)
            self._write(leader, self._leo(leader) + 1)
            self.notes.append("The run adds one record, behind which the slow follower lags.")
            return
        data = shrinks[at][1].data
        self.shrink = at + 1
        lagging = data.get("lagging", {})
        ends = {replica: self.scale.of(end) for replica, end in lagging.items()}
        level = self.scale.of(data["hw"])
        others = [
            replica for replica in self._model().isr if replica != leader and replica not in ends
        ]
        for end in sorted({level, *ends.values()}):
            self._write(leader, end)
            followers = [*others, *(replica for replica in ends if ends[replica] >= end)]
            self._fetch(followers * 2)
        self._write(leader, max(self.scale.of(data["leo"]), self._leo(leader)))

    def _fill(self, epoch: int) -> None:
        """Write what the leader of an epoch wrote, once, while its followers can still fetch."""
        if epoch in self.filled or self._model().leader < 0:
            return
        self.filled.add(epoch)
        ends = self.ends.get(epoch, Ends())
        leader = self._model().leader
        followers = [broker for broker in self._model().isr if broker != leader]
        committed = self.scale.of(ends.committed)
        leo_of = {b: self.scale.of(leo) for b, leo in ends.leo.items()}
        marks = {b: self.scale.of(ends.hw[b]) if b in ends.hw else committed for b in followers}
        self._write(leader, min(marks.values(), default=committed))
        for _ in range(2):
            # A follower known to have ended before the leader has not fetched all of this.
            self._fetch([b for b in followers if leo_of.get(b, committed) >= self._leo(leader)])
        if self._leo(leader) < committed:
            self._write(leader, committed)
            followers = [b for b in followers if leo_of.get(b, committed) >= committed]
            self._fetch(followers)
            # A follower with a lower mark has sent a fetch without a response yet.
            self._fetch([b for b in followers if marks[b] < committed], "ask")
            for _ in range(2):
                self._fetch([b for b in followers if marks[b] >= committed])
        written = self.scale.of(ends.written)
        if self._leo(leader) < written:
            self._write(leader, written)
            self._fetch([b for b in followers if leo_of.get(b, 0) >= written])

    def _fetch(self, followers: list[int], verb: str = "fetch") -> None:
        for broker in followers:
            self._play(f"{verb} {broker}")

    def _write(self, leader: int, end: int) -> None:
        """Write records, named after their offset and leader epoch."""
        epoch = self._model().leader_epoch
        missing = [f"o{offset}e{epoch}" for offset in range(self._leo(leader), end)]
        for at in range(0, len(missing), MOST_RECORDS):
            names = " ".join(missing[at : at + MOST_RECORDS])
            self._play(f"produce {names} to {leader} acks=1")

    def _play(self, move: str) -> bool:
        """Play a move and keep it; one that is refused, or a fetch without effect, is left out."""
        before = self.sim.copy() if move.startswith("fetch ") else None
        if try_move(self.sim, move):
            return False
        if before is not None and _observed_partition(before) == _observed_partition(self.sim):
            self.sim = before
            return False
        self.moves.append(move)
        return True

    # -- what is found -----------------------------------------------------------------------------

    def _finding(self, state: TimelineState) -> str:
        model, release = self._model(), get_profile(self.run.profile).stands_for
        own = PartitionMetadata(
            model.leader, model.leader_epoch, model.partition_epoch, tuple(model.isr),
            elr=tuple(model.elr), last_known_elr=tuple(model.last_known_elr),
            recovering=model.recovering,
        )  # fmt: skip
        return phrase(
            "At {0} the partition's state becomes {1}; the model of {2} is at {3} then. "
            "Something happened here that the files do not show, or that this Kafka does not do "
            "by itself.",
            state.where,
            shown(state.record),
            release,
            shown(own),
        )

    def _differing_disks(self) -> str:
        for node, disk in self.told.disks.items():
            if not node.isdigit() or int(node) not in self.brokers:
                continue
            if not disk.runs or not self._is_up(int(node)):
                continue
            end, own = self.scale_of(disk.end), self._leo(int(node))
            if end != own:
                return phrase(
                    "On broker {0}'s disk the log ends at {1}; in the model it ends at {2} (in "
                    "the files' offsets it would be {3}).", node, disk.end, own, end
                )  # fmt: skip
        return ""


def _observed_partition(sim: Simulation) -> Any:
    """Return the partition as an observer of the run sees it."""
    return view(sim)["partitions"][0]


COMES: Final = ("unfenced", "came")


def comes_back(timeline: Timeline, broker: int, down: Event) -> tuple[Event | None, int | None]:
    """Return the event of its return, and the log end that it then found."""
    later = False
    loaded: int | None = None
    for _, event in timeline.events:
        later = later or event is down
        if not later:
            continue
        if event.kind == "loaded" and event.node == str(broker) and loaded is None:
            loaded = event.data["leo"]
        named = broker in event.data.get("brokers", ()) or broker == event.data.get("broker")
        if event.kind in COMES and named:
            return event, loaded
    return None, loaded


def starts_between(timeline: Timeline, broker: int, down: Event, back: Event) -> bool:
    """Return whether the broker's process started between two events."""
    between = False
    for _, event in timeline.events:
        if event is down:
            between = True
        if between and event.kind == "registered" and event.data["broker"] == broker:
            return True
        if between and event.kind == "starts" and event.node == str(broker):
            return True
        if event is back:
            return False
    return False
