"""Producers, and what they share with consumers: the world that keeps a run busy (P-6)."""

from __future__ import annotations

from typing import Final, Self

from engine.clients.producer_schedule import Pace
from engine.model.client_messages import ClientMetadata, ClientMetadataResponse
from engine.model.compiling import mypyc_attr
from engine.model.copying import Twins, shallow
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


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class SentRecord:
    """One batch a producer is trying to get acknowledged."""

    __slots__ = (
        "acks",
        "attempts",
        "created",
        "epoch",
        "error",
        "producer",
        "retries",
        "sequence",
        "timeout",
        "to",
        "tp",
        "values",
    )

    def __init__(
        self,
        values: tuple[str, ...],
        tp: int,
        acks: int,
        timeout: int,
        created: int,
        retries: bool,
    ) -> None:
        self.values = values
        self.tp = tp
        self.acks = acks
        self.timeout = timeout
        self.created = created
        self.retries = retries
        self.to = -1
        self.attempts = 0
        self.error = NONE
        # Of an idempotent producer (P-7): its id, its epoch and the number of this batch.
        self.producer = -1
        self.epoch = -1
        self.sequence = -1

    def twin(self, twins: Twins) -> SentRecord:
        return shallow(self)


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class BaseClient:
    """Base of producers and consumers: a number space, and their view of the leaders."""

    __slots__ = ("brokers", "corr", "id", "leaders", "next_broker")

    def __init__(self, id: int, brokers: tuple[int, ...], leaders: dict[int, int]) -> None:
        self.id = id
        self.brokers = brokers
        self.leaders = leaders
        self.corr = 0
        self.next_broker = 0

    def next_corr(self) -> int:
        self.corr += 1
        return self.corr

    def ask_metadata(self, tp: int, out: Effects) -> None:
        """P-6.  Fetch metadata from the next broker in turn."""
        broker = self.brokers[self.next_broker % len(self.brokers)]
        self.next_broker += 1
        out.send(ClientMetadata(self.id, broker, self.next_corr(), tp))


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Producer(BaseClient):
    """Producer of batches; with retries it gives up only after delivery.timeout.ms.

    With a rate it makes one record at a time at random intervals; without one, a script or a hand
    decides what it sends.
    """

    __slots__ = (
        "acked",
        "acks",
        "backoff_ms",
        "chance",
        "delivery_ms",
        "interval",
        "made",
        "outstanding",
        "pace",
        "partition",
        "partitions",
        "queue",
        "retries",
        "sent",
        "stop_at",
        "ticking",
        "timeout",
        "unsent",
    )

    def __init__(
        self,
        id: int,
        brokers: tuple[int, ...],
        leaders: dict[int, int],
        chance: Chance,
        partitions: int,
    ) -> None:
        BaseClient.__init__(self, id, brokers, leaders)
        self.chance = chance
        self.partitions = partitions
        self.interval = 0  # mean ms between records, 0 = only when told
        self.acks = -1
        self.timeout = 30_000
        self.retries = True
        self.partition = -1
        self.backoff_ms = 100
        self.delivery_ms = 120_000
        self.stop_at = 0
        self.pace: Pace | None = None  # None: one record at a time, at random
        self.ticking = False  # is its next tick in the queue?
        self.made = 0
        self.sent = 0  # requests, retries among them
        self.acked = 0  # records
        # Copies of the producer share these: a batch that is decided is copied before it changes.
        self.outstanding: dict[int, SentRecord] = {}
        self.queue: list[SentRecord] = []  # waits for a leader or for its back-off
        self.unsent: SentRecord | None = None  # had no leader to go to and is not tried again

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
