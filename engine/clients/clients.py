"""Producers, and what they share with consumers: the world that keeps a run busy (P-6)."""

from __future__ import annotations

from typing import Final, Self

from engine.clients.producer_schedule import Pace
from engine.model.client_messages import ClientMetadata, ClientMetadataResponse
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh
from engine.model.effects import Effects
from engine.model.errors import (
    KAFKA_STORAGE_ERROR,
    LEADER_NOT_AVAILABLE,
    NETWORK_EXCEPTION,
    NONE,
    NOT_ENOUGH_REPLICAS,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    NOT_LEADER_OR_FOLLOWER,
    REQUEST_TIMED_OUT,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from engine.model.messages import (
    FIRST_PRODUCER,
    PRODUCE,
    Broken,
    ProduceRequest,
    ProduceResponse,
)
from engine.model.timers import CLIENT_RETRY, CLIENT_TICK
from engine.sim.kernel import Chance

RETRIABLE: Final = frozenset(
    (
        NOT_LEADER_OR_FOLLOWER,
        UNKNOWN_TOPIC_OR_PARTITION,
        LEADER_NOT_AVAILABLE,
        KAFKA_STORAGE_ERROR,
        NOT_ENOUGH_REPLICAS,
        NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        REQUEST_TIMED_OUT,
        NETWORK_EXCEPTION,
    )
)
REFRESHING: Final = frozenset(
    (
        NOT_LEADER_OR_FOLLOWER,
        UNKNOWN_TOPIC_OR_PARTITION,
        LEADER_NOT_AVAILABLE,
        KAFKA_STORAGE_ERROR,
        NETWORK_EXCEPTION,
    )
)
"""Errors after which a producer looks for another leader (P-6)."""


@declared
class SentRecord:
    """One batch a producer is trying to get acknowledged."""

    values: tuple[str, ...]
    tp: int
    acks: int
    timeout: int
    created: int
    retries: bool
    to: int = begins(-1)
    attempts: int = begins(0)
    error: int = begins(NONE)
    # Of an idempotent producer (P-7): its id, its epoch and the number of this batch.
    producer: int = begins(-1)
    epoch: int = begins(-1)
    sequence: int = begins(-1)

    def twin(self, twins: Twins) -> SentRecord:
        return shallow(self)


@declared
class BaseClient:
    """Base of producers and consumers: a number space, and their view of the leaders."""

    id: int
    brokers: tuple[int, ...]
    leaders: dict[int, int]
    corr: int = begins(0)
    next_broker: int = begins(0)

    def next_corr(self) -> int:
        self.corr += 1
        return self.corr

    def ask_metadata(self, tp: int, out: Effects) -> None:
        """P-6.  Fetch metadata from the next broker in turn."""
        broker = self.brokers[self.next_broker % len(self.brokers)]
        self.next_broker += 1
        out.send(ClientMetadata(self.id, broker, self.next_corr(), tp))


@declared
class Producer(BaseClient):
    """Producer of batches; with retries it gives up only after delivery.timeout.ms.

    With a rate it makes one record at a time at random intervals; without one, a script or a hand
    decides what it sends.
    """

    chance: Chance
    partitions: int
    interval: int = begins(0)  # mean ms between records, 0 = only when told
    acks: int = begins(-1)
    timeout: int = begins(30000)
    retries: bool = begins(True)
    partition: int = begins(-1)
    backoff_ms: int = begins(100)
    delivery_ms: int = begins(120000)
    stop_at: int = begins(0)
    pace: Pace | None = begins(None)  # None: one record at a time, at random
    ticking: bool = begins(False)  # is its next tick in the queue?
    made: int = begins(0)
    sent: int = begins(0)  # requests, retries among them
    acked: int = begins(0)  # records
    # Copies of the producer share these: a batch that is decided is copied before it changes.
    outstanding: dict[int, SentRecord] = fresh(dict)
    queue: list[SentRecord] = fresh(list)  # waits for a leader or for its back-off
    unsent: SentRecord | None = begins(None)  # had no leader to go to and is not tried again

    def twin(self, twins: Twins) -> Self:
        twin = shallow(self)
        twin.leaders = self.leaders.copy()
        twin.chance = self.chance.copy()
        twin.outstanding = self.outstanding.copy()
        twin.queue = [twins.of(sent) for sent in self.queue]
        twin.unsent = self.unsent and twins.of(self.unsent)
        return twin

    def on_tick(self, out: Effects) -> bool:
        """Make and send a record; then sleep for a random while of the configured mean."""
        if out.now >= self.stop_at:
            self.ticking = False
            return False
        pace = self.pace
        if pace is None:
            values = self._batch(1)
            turn = self.made
            wait = self.chance.between(1, 2 * self.interval - 1)
        else:
            values = self._batch(pace.batch)
            turn = self.made // pace.batch
            wait = pace.wait_ms(out.now, self.chance)
        tp = self.partition if self.partition >= 0 else turn % self.partitions
        sent = SentRecord(values, tp, self.acks, self.timeout, out.now, self.retries)
        self.send(sent, self.leaders.get(tp, -1), out)
        if self.unsent is not None:
            self.ask_metadata(tp, out)
        out.timer(self.id, wait, CLIENT_TICK)
        return True

    def _batch(self, count: int) -> tuple[str, ...]:
        """Return the next `count` records."""
        prefix = "m" if self.id == FIRST_PRODUCER else f"p{FIRST_PRODUCER - self.id + 1}."
        first = self.made + 1
        self.made += count
        return tuple(f"{prefix}{number}" for number in range(first, first + count))

    def is_busy(self, now: int) -> bool:
        """Check whether there is anything it still sends or waits for."""
        return bool(self.outstanding or self.queue or (self.interval and now < self.stop_at))

    def send(self, sent: SentRecord, to: int, out: Effects) -> None:
        """P-1, P-6.  Send a batch to the broker that it believes to lead.

        Without one the batch waits for metadata, or has failed if the producer does not retry.
        """
        sent.to = to
        if to < 0:
            if sent.retries:
                self.try_later(sent, out)
            else:
                sent.error = LEADER_NOT_AVAILABLE
                self.unsent = sent
            return
        sent.attempts += 1
        self.sent += 1
        corr = self.next_corr()
        if sent.acks != 0:
            self.outstanding[corr] = sent
        out.send(
            ProduceRequest(
                self.id,
                to,
                corr,
                sent.tp,
                sent.values,
                sent.acks,
                sent.timeout,
                sent.producer,
                sent.epoch,
                sent.sequence,
            )
        )

    def on_response(self, m: ProduceResponse, out: Effects) -> SentRecord | None:
        """P-6.  Return the batch this decides, or None: it is tried again."""
        sent = self._answered(m.corr)
        return None if sent is None else self.decide(sent, m.error, out)

    def on_broken(self, m: Broken, out: Effects) -> SentRecord | None:
        """P-6.  Handle a network error: the fate of the batch is unknown."""
        if m.request_kind != PRODUCE:
            if self.queue:
                self.wait(out)
            return None
        sent = self._answered(m.corr)
        return None if sent is None else self.decide(sent, NETWORK_EXCEPTION, out)

    def _answered(self, corr: int) -> SentRecord | None:
        """Take the batch of a request, as a copy that may change."""
        sent = self.outstanding.pop(corr, None)
        return None if sent is None else shallow(sent)

    def decide(self, sent: SentRecord, error: int, out: Effects) -> SentRecord | None:
        """P-6.  Decide a batch, or retry it (None) while delivery.timeout.ms lasts."""
        sent.error = error
        if error == NONE:
            self.acked += len(sent.values)
        expired = out.now - sent.created >= self.delivery_ms
        if error != NONE and sent.retries and error in RETRIABLE and not expired:
            self.try_later(sent, out)
            return None
        if error in REFRESHING and self.interval and not sent.retries:
            self.ask_metadata(sent.tp, out)
        return sent

    def try_later(self, sent: SentRecord, out: Effects) -> None:
        """Fetch metadata after retry.backoff.ms, then send the batch again."""
        self.queue.append(sent)
        if len(self.queue) == 1:
            self.wait(out)

    def wait(self, out: Effects) -> None:
        """Wait for retry.backoff.ms, then `on_retry`."""
        out.timer(self.id, self.backoff_ms, CLIENT_RETRY)

    def on_retry(self, out: Effects) -> bool:
        """Fetch metadata after a back-off."""
        if not self.queue:
            return False
        self.ask_metadata(self.queue[0].tp, out)
        return True

    def on_metadata(self, m: ClientMetadataResponse, out: Effects) -> None:
        """P-6.  Send again what waited for this partition."""
        self.leaders[m.tp] = m.leader
        if m.leader < 0:
            if self.queue:
                self.wait(out)
            return
        ready = [s for s in self.queue if s.tp == m.tp]
        self.queue = [s for s in self.queue if s.tp != m.tp]
        for sent in ready:
            self.send(sent, m.leader, out)
        if self.queue:
            self.wait(out)
