"""Consumers: they follow one partition and remember where, and in which epoch, they stand (C-)."""

from __future__ import annotations

from typing import Final

from engine.clients.clients import BaseClient, Producer
from engine.dataplane.fetch_request import accepts, in_session
from engine.model.client_messages import ClientMetadataResponse
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh
from engine.model.effects import Effects
from engine.model.errors import (
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.log import Batch
from engine.model.messages import (
    CLIENT_METADATA,
    EARLIEST,
    FETCH,
    LATEST,
    NO_BROKER,
    NO_EPOCH,
    Broken,
    EpochEndRequest,
    EpochEndResponse,
    FetchData,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    Redirection,
)
from engine.model.session_client import SessionClient
from engine.model.timers import CLIENT_TICK

MAX_POLL_RECORDS: Final = 500  # max.poll.records
NO_RESET: Final = 0
RESETS: Final = {"earliest": EARLIEST, "latest": LATEST, "none": NO_RESET}
"""auto.offset.reset -> what ListOffsets is asked for."""


@declared
class Consumer(BaseClient):
    """C-1.  Reads one partition up to the high watermark of the replica that serves it.

    `validates`: it keeps the epoch of its position and compares it after a change of leaders
    (C-7, 2.3).  `rack`: where it stands, "" for nowhere; None: it knows nothing of KIP-392 (C-8).
    """

    leader_epochs: dict[int, int] = fresh(dict)
    sessions: dict[int, SessionClient] | None = begins(None)  # by broker; None: it keeps none
    tp: int = begins(0)
    position: int = begins(0)
    position_epoch: int = begins(NO_EPOCH)  # of the last record consumed
    validates: bool = begins(False)
    validated: int = begins(NO_EPOCH)  # the leader epoch in which the position is known to hold
    reset: int = begins(EARLIEST)
    lookup: int | None = begins(None)  # what ListOffsets must return before the next fetch
    refused: int = begins(-1)  # the last position that was out of range
    rack: str | None = begins(None)
    preferred: int = begins(NO_BROKER)
    preferred_until: int = begins(0)
    max_age_ms: int = begins(300000)
    read: int = begins(0)
    outstanding: int = begins(0)
    running: bool = begins(False)  # by the clock; else a hand says when to read
    wanted: bool = begins(False)  # a hand has said so, and no fetch was answered yet
    failed: str = begins("")  # the exception its application got
    moved: bool = begins(False)  # a mark for the observer: the application knows of a new position
    wait_ms: int = begins(500)
    backoff_ms: int = begins(100)

    def twin(self, twins: Twins) -> Consumer:
        twin = shallow(self)
        twin.leaders = self.leaders.copy()
        twin.leader_epochs = self.leader_epochs.copy()
        if self.sessions is not None:
            twin.sessions = {broker: session.copy() for broker, session in self.sessions.items()}
        return twin

    def partitions(self) -> tuple[int, ...]:
        """Return what it reads: one partition, or all that it owns in its group."""
        return (self.tp,)

    def is_busy(self, now: int) -> bool:
        """Return False: reading changes nothing that others could wait for."""
        return False

    # -- asking ----------------------------------------------------------------------------------

    def update_leader(self, leader: int, epoch: int) -> None:
        """C-7, C-8.  Note the leader and its epoch; with another leader the preference is over."""
        if leader != self.leaders.get(self.tp) or epoch != self.leader_epochs.get(self.tp):
            self.preferred = NO_BROKER
        self.leaders[self.tp] = leader
        self.leader_epochs[self.tp] = epoch

    def read_now(self, out: Effects) -> None:
        """Read what lies past the position, as a hand-made move asks."""
        self.wanted = True
        self.failed = ""
        self.poll(out)

    def seek(self, timestamp: int, out: Effects) -> None:
        """C-5.  Go to the latest or the earliest offset, as a hand-made move asks."""
        self.lookup = timestamp
        self.failed = ""
        self.poll(out)

    def poll(self, out: Effects) -> None:
        """C-1.  Send the next request: metadata, where to begin, validation, or a fetch."""
        tp = self.tp
        leader = self.leaders.get(tp, NO_BROKER)
        if leader < 0:
            self.ask_metadata(tp, out)
            return
        self.outstanding = corr = self.next_corr()
        epoch = self.leader_epochs.get(tp, NO_EPOCH) if self.validates else NO_EPOCH
        if self.lookup is not None:
            out.send(ListOffsetsRequest(self.id, leader, corr, tp, self.lookup, epoch))
        elif self._must_validate(epoch):
            out.send(EpochEndRequest(self.id, leader, corr, ((tp, self.position_epoch, epoch),)))
        else:
            self.validated = epoch
            self._fetch(corr, leader, epoch, out)

    def _must_validate(self, epoch: int) -> bool:
        """C-7.  Check whether the leader epoch has changed, and both epochs are known."""
        return epoch not in (NO_EPOCH, self.validated) and self.position_epoch >= 0

    def _fetch(self, corr: int, leader: int, epoch: int, out: Effects) -> None:
        """C-1, C-8.  Fetch from the replica the leader named, as long as that is recent."""
        if self.preferred >= 0 and out.now >= self.preferred_until:
            self.preferred = NO_BROKER
        to = self.preferred if self.preferred >= 0 else leader
        parts = (FetchPartition(self.tp, self.position, NO_EPOCH, epoch, 0),)
        wait = self.wait_ms if self.running else 0
        m = FetchRequest(
            self.id, to, corr, parts, -1, NO_EPOCH, wait, 1, MAX_POLL_RECORDS, self.rack
        )
        if self.sessions is not None:
            m = in_session(self.sessions.setdefault(to, SessionClient()), m)
        out.send(m)

    def on_timer(self, kind: int, data: object, out: Effects) -> bool:
        """Handle a timer of its own; it has one kind, a member of a group has more."""
        return self.on_tick(out)

    def on_tick(self, out: Effects) -> bool:
        """Go on after a back-off, or begin to read."""
        if self.outstanding or not self.running:
            return False
        self.poll(out)
        return True

    # -- answers ---------------------------------------------------------------------------------

    def _take_response(self, corr: int) -> bool:
        """Check whether this answers the outstanding request, which then is none any more."""
        if corr != self.outstanding:
            return False
        self.outstanding = 0
        return True

    def _go_on(self, out: Effects) -> None:
        """Send the next request at once, by the clock or as long as a hand waits for records."""
        if self.running or self.wanted:
            self.poll(out)

    def _try_later(self, out: Effects) -> None:
        """Retry after retry.backoff.ms; a hand retries by itself."""
        self.wanted = False
        if self.running:
            out.timer(self.id, self.backoff_ms, CLIENT_TICK)

    def _on_error(self, error: int, out: Effects) -> None:
        """C-6.  Fetch metadata and retry; retry only, if just the leader is behind."""
        if error != UNKNOWN_LEADER_EPOCH:
            self.leaders.pop(self.tp, None)
        self.preferred = NO_BROKER
        self._try_later(out)

    def _fail(self, rule: str, exception: str, at: int, out: Effects) -> None:
        """C-4, C-7.  Raise an exception in the application, without a reset policy."""
        out.cue(rule, self.id, exception, self.position, at, tp=self.tp)
        self.failed = exception
        self.moved = True
        self.running = self.wanted = False

    def on_fetch(self, m: FetchResponse, out: Effects) -> list[Batch]:
        """C-2, C-3, C-4, C-8.  Return the batches that are delivered to the application."""
        if not self._take_response(m.corr):
            return []
        if self.sessions is not None and not accepts(self.id, self.sessions[m.src], m, out):
            self._go_on(out)
            return []
        if not m.partitions:  # nothing has changed, says the session
            self.wanted = False
            self._go_on(out)
            return []
        data = m.partitions[0]
        if data.error:
            self._on_fetch_error(m.src, data, out)
            return []
        if isinstance(data, Redirection):
            out.cue("C-8", self.id, "read from", m.src, data.preferred, tp=self.tp)
            self.preferred = data.preferred
            self.preferred_until = out.now + self.max_age_ms
            self._go_on(out)
            return []
        batches = [batch for batch in data.batches if batch.end > self.position]
        if batches:
            self.position = batches[-1].end
            self.position_epoch = batches[-1].epoch
            self.read += sum(len(batch.values) for batch in batches)
        self.wanted = False
        self._go_on(out)
        return batches

    def _on_fetch_error(self, src: int, data: FetchData, out: Effects) -> None:
        if data.error != OFFSET_OUT_OF_RANGE:
            self._on_error(data.error, out)
        elif src == self.preferred:
            # C-4: a follower may lack what the leader has; the position is kept
            out.cue("C-8.left", self.id, "read from", src, self.leaders.get(self.tp), tp=self.tp)
            self.preferred = NO_BROKER
            self._try_later(out)
        elif self.reset == NO_RESET:
            self._fail("C-4.exception", "OffsetOutOfRangeException", self.position, out)
        else:
            self.lookup, self.refused = self.reset, self.position
            self._go_on(out)

    def on_list_offsets(self, m: ListOffsetsResponse, out: Effects) -> int | None:
        """C-4, C-5.  Set the position to the answer; return it if it is the latest offset."""
        if not self._take_response(m.corr):
            return None
        if m.error:
            self._on_error(m.error, out)
            return None
        out.cue("C-5", self.id, "position", self.position, m.offset, tp=self.tp)
        self.position, self.position_epoch = m.offset, m.leader_epoch
        self.validated = self.leader_epochs.get(self.tp, NO_EPOCH)
        self.lookup = None
        self.moved = True
        if m.offset == self.refused:  # Kafka's asks at once again, and no time would pass here
            self._try_later(out)
        else:
            self._go_on(out)
        return m.offset if m.timestamp == LATEST else None

    def on_epoch_end(self, m: EpochEndResponse, out: Effects) -> None:
        """C-7.  Check whether the position's epoch reaches that far at the new leader.

        Where it ended earlier, what was read there is gone.  With a reset policy the consumer goes
        back to that end, whatever the policy says; without one its application gets an error.
        """
        if not self._take_response(m.corr):
            return
        _, error, epoch, end = m.partitions[0]
        if error:
            self._on_error(error, out)
            return
        if epoch >= 0 and end >= self.position:
            out.cue("C-7.valid", self.id, "position", self.position, self.position, tp=self.tp)
            self.validated = self.leader_epochs.get(self.tp, NO_EPOCH)
        elif self.reset == NO_RESET:
            at = end if end >= 0 else self.position
            self._fail("C-7.exception", "LogTruncationException", at, out)
            return
        elif epoch < 0 or end < 0:
            out.cue("C-7.unknown", self.id, "position", self.position, None, tp=self.tp)
            self.lookup = self.reset
        else:
            out.cue("C-7", self.id, "position", self.position, end, tp=self.tp)
            self.position, self.position_epoch = end, epoch
            self.validated = self.leader_epochs.get(self.tp, NO_EPOCH)
            self.moved = True
        self._go_on(out)

    def on_broken(self, m: Broken, out: Effects) -> None:
        """C-6.  Handle a network error: perhaps another broker leads."""
        if self.sessions is not None and m.src in self.sessions and m.request_kind == FETCH:
            self.sessions[m.src].fail()
        if m.request_kind != CLIENT_METADATA:
            if not self._take_response(m.corr):
                return
            self.leaders.pop(self.tp, None)
            self.preferred = NO_BROKER
        self._try_later(out)

    def on_metadata(self, m: ClientMetadataResponse, out: Effects) -> None:
        """C-6, C-7.  Handle metadata; a consumer with epochs takes none older than its own."""
        stale = self.validates and m.leader_epoch < self.leader_epochs.get(m.tp, NO_EPOCH)
        if m.leader < 0 or stale:
            self._try_later(out)
            return
        self.update_leader(m.leader, m.leader_epoch)
        if not self.outstanding:
            self.poll(out)


Client = Producer | Consumer
"""Both have a timer of their own (`on_tick`: does it act?) and hear of broken connections."""
