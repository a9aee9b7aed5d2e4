"""Context of a question: the moment before, what happens next, and whom it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from engine.model.declared import declared
from engine.model.messages import Message
from engine.model.profiles import Profile
from engine.properties.moment import Moment, PartitionMoment, ReplicaMoment
from engine.properties.recording import MomentRecording

Answer = int | str | tuple[Any, ...]
"""An offset, a broker (-1: none), a tuple of brokers or of records, ((epoch, start), ...), or
what a producer gets: ("ack", broker, ...) with the brokers that need the record, or a word.
Others are a line of a card, an order of happenings, (since | until, profile), the number of a move,
and moves."""

NOBODY: Final = -1


def as_number(answer: Answer) -> int:
    """Return the answer to a question whose answers are numbers: a broker, an offset, a move."""
    assert isinstance(answer, int), answer
    return answer


def as_parts(answer: Answer) -> tuple[Any, ...]:
    """Return the answer to a question whose answers have parts: records, happenings, moves."""
    assert isinstance(answer, tuple), answer
    return answer


@declared
class QuestionContext:
    """One thing asked at one moment.

    A wrong rule may look at nothing else: it cannot see later events.

    `what` is the message that arrives, or None; `node` is the broker where it arrives, or the
    broker that a fault strikes. `told` is what the question itself gives away: lines, happenings,
    moves or a goal.
    """

    kind: str
    tp: int
    who: int
    before: Moment
    profile: Profile
    node: int
    what: Message | None
    told: Any = None

    @property
    def part(self) -> PartitionMoment:
        return self.before.parts[self.tp]

    @property
    def mine(self) -> ReplicaMoment:
        """The replica that is asked about."""
        return self.part.replicas[self.who]

    @property
    def leader(self) -> ReplicaMoment | None:
        """The leader in the controller's record."""
        return self.part.leader()

    @property
    def alive(self) -> list[ReplicaMoment]:
        """The replicas whose brokers run, in assignment order."""
        return [one for b, one in self.part.replicas.items() if b in self.before.alive]


def in_order(brokers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(brokers)))


Places = Iterator[tuple[int, int]]
"""(partition, broker) of the question; without a broker, a number that tells apart."""


@declared
class Kind:
    """`form` says what an answer is; `worth` how much knowing it is worth, 1 to 3.

    `asked(recording, index)` yields of whom it may be asked before that turn;
    `truth(asked, recording, index)` plays on: (answer, step by which it is decided), or None where
    the run ends too early or nothing is decided; `told` is what the question gives away.
    `holds` says whether an answer that is not the truth's own would be right as well, or cannot be
    given: such a one is never offered as wrong.
    """

    name: str
    form: str
    worth: int
    asked: Callable[[MomentRecording, int], Places]
    truth: Callable[[QuestionContext, MomentRecording, int], tuple[Answer, int] | None]
    told: Callable[[MomentRecording, int, int, int], Any] | None = None
    holds: Callable[[QuestionContext, MomentRecording, int, Answer], bool] | None = None
