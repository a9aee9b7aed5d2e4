"""P-7, client's side: a producer whose retries are recognised by their numbers."""

from __future__ import annotations

from typing import Final, Self

from engine.clients.clients import Producer, SentRecord
from engine.model.client_messages import ClientMetadataResponse
from engine.model.copying import Twins
from engine.model.declared import begins, declared, fresh
from engine.model.effects import Effects
from engine.model.errors import NONE, OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID

BATCH_MOST: Final = 20


@declared
class IdempotentProducer(Producer):
    """P-7.  Numbers its batches per partition; needs acks=all and retries.

    One batch of a partition is under way at a time: retries then keep the order without the
    broker's refusals.  What a broker makes of the numbers is its flag `idempotent_producer`.
    """

    epochs: dict[int, int] = fresh(dict)  # per partition, where missing 0
    numbers: dict[int, int] = fresh(dict)  # of the next batch, per partition
    waiting: bool = begins(False)  # for the end of a back-off

    def twin(self, twins: Twins) -> Self:
        twin = Producer.twin(self, twins)
        twin.epochs = self.epochs.copy()
        twin.numbers = self.numbers.copy()
        return twin

    def send(self, sent: SentRecord, to: int, out: Effects) -> None:
        """Give a new batch its number and send it unless one is under way or waits."""
        behind = self._is_under_way(sent.tp)
        if sent.sequence < 0:
            self._number(sent)
            behind = behind or any(other.tp == sent.tp for other in self.queue)
        if behind:
            self._enqueue(sent)
        else:
            Producer.send(self, sent, to, out)

    def _number(self, sent: SentRecord) -> None:
        sent.producer = -self.id
        sent.epoch = self.epochs.setdefault(sent.tp, 0)
        sent.sequence = self.numbers.get(sent.tp, 0)
        self.numbers[sent.tp] = sent.sequence + len(sent.values)

    def _enqueue(self, sent: SentRecord) -> None:
        self.queue.append(sent)
        self.queue.sort(key=lambda one: (one.epoch, one.sequence))

    def _is_under_way(self, tp: int) -> bool:
        return any(sent.tp == tp for sent in self.outstanding.values())

    def _ready(self) -> SentRecord | None:
        """Return the next batch whose partition has none under way."""
        return next((sent for sent in self.queue if not self._is_under_way(sent.tp)), None)

    def try_later(self, sent: SentRecord, out: Effects) -> None:
        self._enqueue(sent)
        self.wait(out)

    def wait(self, out: Effects) -> None:
        """Start one back-off at a time: what fails meanwhile waits with it."""
        if not self.waiting:
            self.waiting = True
            Producer.wait(self, out)

    def on_retry(self, out: Effects) -> bool:
        """Fetch metadata after a back-off."""
        self.waiting = False
        ready = self._ready()
        if ready is not None:
            self.ask_metadata(ready.tp, out)
        return ready is not None

    def on_metadata(self, m: ClientMetadataResponse, out: Effects) -> None:
        """P-6.  Send the next batch that waited for this partition."""
        self.leaders[m.tp] = m.leader
        if m.leader >= 0 and not self._is_under_way(m.tp):
            self._send_next(m.tp, out)
        if self._ready() is not None:
            self.wait(out)

    def _send_next(self, tp: int, out: Effects) -> None:
        """Send what waits and was never sent in one batch: its numbers are unused."""
        waits = [sent for sent in self.queue if sent.tp == tp]
        if not waits:
            return
        batch = waits[0]
        self.queue.remove(batch)
        for sent in waits[1:BATCH_MOST]:
            if batch.to >= 0 or sent.to >= 0:
                break
            self.queue.remove(sent)
            batch.values += sent.values
        self.send(batch, self.leaders.get(tp, -1), out)

    def decide(self, sent: SentRecord, error: int, out: Effects) -> SentRecord | None:
        """P-7.  Begin a new epoch when something is lost, as after a batch that was given up.

        It shows by a number out of order, or a log that does not know the producer any more.
        """
        expired = out.now - sent.created >= self.delivery_ms
        if error in (OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID) and not expired:
            self._begin_epoch(sent.tp, [sent])
            self.try_later(sent, out)
            return None
        decided = Producer.decide(self, sent, error, out)
        if decided is None:
            return None
        if error != NONE:
            self._begin_epoch(sent.tp, [])
        self._send_next(sent.tp, out)
        return decided

    def _begin_epoch(self, tp: int, first: list[SentRecord]) -> None:
        """Begin the next epoch of the partition, for `first` and all that waits, at 0."""
        self.epochs[tp] = self.epochs.get(tp, 0) + 1
        self.numbers[tp] = 0
        for sent in first + [request for request in self.queue if request.tp == tp]:
            self._number(sent)
