"""The kinds of questions: when one can be asked, and what playing on answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from engine.learn import counterfactuals as played
from engine.learn import sequences
from engine.learn.question_context import Answer, Kind, QuestionContext, in_order
from engine.model.effects import Cue
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import FETCH, FETCH_R, PRODUCE, Message
from engine.model.profiles import HW
from engine.properties.moment import Moment, PartitionMoment, ReplicaMoment
from engine.properties.recording import Event, MomentRecording, Turn
from engine.sim.kernel import DELIVERY, FAILURE

CUTTING: Final = ("T-0", "T-1", "T-2", "T-4", "F-9")
STRIKING: Final = ("CP-8.1.kill", "CP-8.1.power", "CP-8.1.disk")
MOST_RECORDS: Final = 8
"""A question about single records is asked while there are at most this many."""
MOST_COMING: Final = 12
"""Moves that the question about what survives can tell."""
QUIET: Final = frozenset(
    {"settle", "fetch", "ask", "deliver", "advance", "run", "flush", "tick", "read", "seek"}
)
"""Moves by which records and time merely move."""

LONG_WAIT: Final = 0.5
"""Share of request.timeout.ms after which a reader would expect a time-out."""

Found = Iterator[tuple[int, int]]
"""(partition, broker) of whom is asked."""


def arrived(event: Event, kind: int) -> Any:
    """Return the message of this kind that the event delivered, or None."""
    what = event[2]
    if event[0] == DELIVERY and isinstance(what, Message) and what.kind == kind:
        return what
    return None


def _cues(turn: Turn) -> Iterator[Cue]:
    return (cue for event in turn.events for cue in event[3])


def _mine(context: QuestionContext, moment: Moment) -> ReplicaMoment | None:
    part = moment.parts.get(context.tp)
    return None if part is None else part.replicas.get(context.who)


# -- high watermark and end -----------------------------------------------------------------------


def _hw_asked(before: Moment, event: Event, turn: Turn) -> Found:
    fetch, answer = arrived(event, FETCH), arrived(event, FETCH_R)
    if fetch is not None and fetch.src >= 0:
        for partition in fetch.partitions:
            mine = _replica(before, partition.tp, fetch.dst)
            if mine is not None and mine.leads and mine.hw < mine.leo and partition.offset > 0:
                yield partition.tp, fetch.dst
    if answer is not None and answer.dst >= 0:
        for partition in answer.partitions:
            mine = _replica(before, partition.tp, answer.dst)
            if (
                mine is not None
                and not mine.leads
                and not partition.error
                and partition.diverging is None
            ):
                yield partition.tp, answer.dst


def _leo_asked(before: Moment, event: Event, turn: Turn) -> Found:
    answer = arrived(event, FETCH_R)
    if answer is None or answer.dst < 0:
        return
    for partition in answer.partitions:
        mine = _replica(before, partition.tp, answer.dst)
        if mine is not None and partition.batches and not partition.error:
            yield partition.tp, answer.dst


def _replica(moment: Moment, tp: int, broker: int) -> ReplicaMoment | None:
    part = moment.parts.get(tp)
    if part is None or broker not in moment.alive:
        return None
    return part.replicas.get(broker)


def _truth_after_turn(
    what: Callable[[ReplicaMoment], Answer],
) -> Callable[..., tuple[Answer, int] | None]:
    """Return a function that reads the truth about one replica right after the turn."""

    def truth(
        context: QuestionContext, recording: MomentRecording, index: int
    ) -> tuple[Answer, int] | None:
        turn = recording.turns[index]
        mine = _mine(context, turn.now)
        return None if mine is None else (what(mine), turn.last)

    return truth


# -- truncation and epochs ------------------------------------------------------------------------


def _truncate_asked(before: Moment, event: Event, turn: Turn) -> Found:
    nodes = {
        c.node for c in _cues(turn) if c.rule.removesuffix(".kept") in CUTTING and c.field == "leo"
    }
    for tp, part in before.parts.items():
        for broker, mine in part.replicas.items():
            if broker in nodes and mine.leo > mine.start and broker in turn.now.alive:
                after = turn.now.parts[tp].replicas.get(broker) if tp in turn.now.parts else None
                if after is not None and (len(before.parts) == 1 or after.leo != mine.leo):
                    yield tp, broker


def _epochs_asked(recording: MomentRecording, index: int) -> Found:
    """Yield each partition and replica whose epochs change in the turn.

    Before KIP-101 no broker remembered an epoch, so there is nothing to ask.
    """
    before, turn = recording.turns[index - 1].now, recording.turns[index]
    if recording.profile.truncation == HW:
        return
    for tp, part in before.parts.items():
        for broker, mine in part.replicas.items():
            after = turn.now.parts[tp].replicas.get(broker) if tp in turn.now.parts else None
            if after is not None and after.epochs != mine.epochs and mine.epochs:
                yield tp, broker


# -- the controller's record ----------------------------------------------------------------------


def _leader_asked(before: Moment, event: Event, turn: Turn) -> Found:
    for tp, part in before.parts.items():
        after = turn.now.parts.get(tp)
        led = part.record.leader
        if after is not None and 0 <= led != after.record.leader and len(part.replicas) > 1:
            yield tp, led


def _isr_asked(before: Moment, event: Event, turn: Turn) -> Found:
    struck = {cue.node for cue in event[3] if cue.rule in STRIKING}
    for tp, part in before.parts.items():
        after = turn.now.parts.get(tp)
        if after is None or part.record.leader < 0:
            continue
        changed = in_order(after.record.isr) != in_order(part.record.isr)
        if changed or (event[0] == FAILURE and struck.intersection(part.record.isr)):
            yield tp, part.record.leader


def _of_record(
    what: Callable[[PartitionMoment], Answer],
) -> Callable[[QuestionContext, MomentRecording, int], tuple[Answer, int] | None]:
    def truth(
        context: QuestionContext, recording: MomentRecording, index: int
    ) -> tuple[Answer, int] | None:
        turn = recording.turns[index]
        part = turn.now.parts.get(context.tp)
        return None if part is None else (what(part), turn.last)

    return truth


# -- responses to a producer ----------------------------------------------------------------------


def _ack_asked(before: Moment, event: Event, turn: Turn) -> Found:
    produce = arrived(event, PRODUCE)
    if produce is None or produce.acks == 0:
        return
    tp: int = produce.tp
    mine = _replica(before, tp, produce.dst)
    if mine is not None and mine.leads and before.parts[tp].record.leader == produce.dst:
        yield tp, produce.dst


def _ack_truth(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    """Return the response; None where a later fault, another ISR or the clock decides.

    Those cannot be foreseen.
    """
    outcome = _ack(context, recording, index)
    if outcome is None:
        return None
    answer = outcome[0]
    isr = context.part.record.isr
    if isinstance(answer, tuple):
        produce: Any = context.what
        if produce.acks != 1 and answer[1:] != in_order(isr):
            return None  # the ISR that decides is not the one that is shown
        waits = recording.turns[recording.at(outcome[1])].now.now - context.before.now
        return outcome if waits < LONG_WAIT * produce.timeout else None
    if answer == "silence" and recording.run.scenario.faults:
        return None  # a session from before a restart may end: that is not to be seen either
    later = recording.turns[index + 1 : recording.at(outcome[1]) + 1]
    strikes = any(event[0] == FAILURE for turn in later for event in turn.events)
    return None if strikes else outcome


def _ack(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    """Ask if a produce is written, if it waits, for whom, and how it is answered."""
    produce: Any = context.what
    values: tuple[str, ...] = produce.values
    turn, notes = recording.turns[index], recording.known
    mine = _mine(context, turn.now)
    if mine is None:
        return None
    failed = notes.failed.get(values[0])
    if values[0] not in mine.values():
        refused = failed is not None and failed[1] == "NOT_ENOUGH_REPLICAS"
        return ("refused", failed[0]) if refused and failed is not None else None
    if values[0] not in mine.waiting:
        acked = notes.acked.get(values[0])
        alone = (context.who,) if produce.acks == 1 else mine.maximal
        return None if acked is None else (("ack", *in_order(alone)), acked)
    for later in recording.turns[index + 1 :]:
        leader = _mine(context, later.now)
        if leader is None or not leader.leads or context.who not in later.now.alive:
            return "silence", later.last  # the broker that would have answered leads no more
        if values[0] not in leader.waiting:
            return _reported_offset(values[0], leader, recording)
    return ("silence", recording.end.step) if recording.whole else None


def _reported_offset(
    value: str, leader: ReplicaMoment, recording: MomentRecording
) -> tuple[Answer, int] | None:
    notes = recording.known
    if value in notes.acked:
        return ("ack", *in_order(leader.maximal)), notes.acked[value]
    error = notes.failed.get(value)
    if error is None:
        return None
    if error[1] == "NOT_ENOUGH_REPLICAS_AFTER_APPEND":
        return "after_append", error[0]
    return ("timeout", error[0]) if error[1] == "REQUEST_TIMED_OUT" else None


# -- what is left at the end ----------------------------------------------------------------------


def _survive_asked(recording: MomentRecording, index: int) -> Found:
    """Yield each partition and its leader where a fault puts records at risk.

    The answer depends on what else is going to happen, so the question lists the moves to come.
    """
    before, turn = recording.turns[index - 1].now, recording.turns[index]
    event = turn.events[0]
    if event[0] != FAILURE or not any(cue.rule in STRIKING for cue in event[3]):
        return
    if recording.run.scenario.faults or len(coming(recording, index)) > MOST_COMING:
        return
    for tp, part in before.parts.items():
        if part.name.startswith(OFFSETS_TOPIC):
            continue  # records of groups have no names that a reader knows
        values = {value for replica in part.replicas.values() for value in replica.values()}
        if 1 < len(values) <= MOST_RECORDS and part.record.leader >= 0:
            yield tp, part.record.leader


def coming(recording: MomentRecording, index: int) -> tuple[str, ...]:
    """Return the moves after that of this turn that strike, mend, write or elect."""
    lines = recording.run.lines()[recording.turns[index].move + 1 :]
    return tuple(one.split(" !")[0] for one in lines if one.split()[0] not in QUIET)


def _survive_truth(
    context: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    """Return which of the records there are now the last leader of the run holds."""
    part = recording.end.parts.get(context.tp)
    leader = None if part is None else part.leader()
    if leader is None or not recording.whole:
        return None
    now = dict.fromkeys(v for replica in context.part.replicas.values() for v in replica.values())
    left = set(leader.values())
    return tuple(value for value in now if value in left), recording.end.step


def _by_event(
    select: Callable[[Moment, Event, Turn], Found],
) -> Callable[[MomentRecording, int], Found]:
    """Find the brokers to ask about, in the first event of the turn."""

    def found(recording: MomentRecording, index: int) -> Found:
        turn = recording.turns[index]
        return select(recording.turns[index - 1].now, turn.events[0], turn)

    return found


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("hw", "offset", 2, _by_event(_hw_asked), _truth_after_turn(lambda one: one.hw)),
        Kind("leo", "offset", 1, _by_event(_leo_asked), _truth_after_turn(lambda one: one.leo)),
        Kind(
            "truncate",
            "offset",
            3,
            _by_event(_truncate_asked),
            _truth_after_turn(lambda one: one.leo),
        ),
        Kind(
            "leader",
            "broker",
            3,
            _by_event(_leader_asked),
            _of_record(lambda one: one.record.leader),
        ),
        Kind(
            "isr",
            "brokers",
            2,
            _by_event(_isr_asked),
            _of_record(lambda one: in_order(one.record.isr)),
        ),
        Kind("ack", "reply", 2, _by_event(_ack_asked), _ack_truth),
        Kind("epochs", "epochs", 2, _epochs_asked, _truth_after_turn(lambda one: one.epochs)),
        Kind("survive", "records", 3, _survive_asked, _survive_truth),
        *sequences.KINDS,
        *played.KINDS,
    )
}
