"""Keys of states: two states are the same when nothing that can still happen differs.

A key is made of everything but what `left_out` lists, each with its reason.  Numbers that only
have to match (of requests), or to be newer (of brokers' generations), count by their relation to
the others that are still known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter, itemgetter
from typing import Any

from engine.checks.checker import Checker
from engine.checks.ledger import Ledger
from engine.clients.clients import Producer, SentRecord
from engine.clients.consumers import Consumer
from engine.clients.group_member import GroupMember
from engine.explore.broker_key import Contents, Face, RelativeNumbers, digest
from engine.explore.key_exclusions import PLAIN, batch_key, frozen
from engine.model import timers
from engine.model.controller import Controller, Registration
from engine.model.log import Batch
from engine.model.messages import BROKEN, REPLIES, Message
from engine.model.quorum import Observer, Quorum, Voter, VoterProgress
from engine.model.remote_log import RemoteStore
from engine.model.state import NEVER
from engine.model.timers import METADATA_WAIT, PURGATORY
from engine.sim.copy_on_write import Lent
from engine.sim.kernel import DELIVERY, TIMER
from engine.sim.network import Link, Network
from engine.sim.simulation import Simulation
from engine.sim.voter_timers import repeating

Key = bytes
_first = itemgetter(0)
_place = itemgetter(0, 1, 2, 3)
_way = attrgetter("src", "dst")


class Keys:
    """Maker of keys of the states of one search.

    A broker's cached key is used as long as no event changes the broker.
    """

    def __init__(self) -> None:
        self._contents = Contents()

    def of(self, sim: Simulation, *more: object) -> Key:
        """Return the key of a state, and of what else distinguishes states."""
        return _Writer(sim, self._contents).key(more)


def _behind(end: int, offset: int) -> int:
    """Return how far a broker's metadata is behind the log; -1 before it has any."""
    return end - offset if offset > 0 else -1


class _Writer:
    """One key in the making."""

    def __init__(self, sim: Simulation, contents: Contents) -> None:
        self.sim = sim
        self.contents = contents
        self.said = RelativeNumbers(contents)
        tasks = sim.scenario.groups or sim.cluster.store is not None
        self.timed = bool(tasks) and sim.cluster.quorum is None
        """Members and remote log tasks act by the clock where time passes, so it is in the key."""

    def key(self, more: tuple[object, ...]) -> Key:
        sim, said, cluster = self.sim, self.said, self.sim.cluster
        faces = self._faces()
        for face in faces:
            said.requests += face.said.requests
            said.generations += face.said.generations
        zombie, quorum = cluster.zombie, cluster.quorum
        parts = (
            tuple([face.digest for face in faces]),
            self._controller(cluster.controller),
            zombie and self._controller(zombie),
            quorum and voters_key(sim, quorum, said, self._controller),
            self._network(sim.network),
            self._pending(),
            tuple([self._client(client) for client in sim.clients.values()]),
            _ledger(sim.ledger),
            _checker(sim.checker),
            cluster.store and _store(cluster.store),
            sim.now if self.timed else 0,
        )
        return digest((parts, self._ranks(), self._verdicts(faces), more))

    def _faces(self) -> list[Face]:
        """Return the brokers.

        In a branch the key of a broker is cached, so that the broker may not change any more: it is
        sealed.
        """
        sim = self.sim
        keep = isinstance(sim.brokers, Lent)
        if keep:
            sim.seal()
        faces = []
        for broker in sim.cluster.brokers.values():
            face = broker.face if keep else None
            if not isinstance(face, Face):
                face = Face(broker, self.contents)
                if keep:
                    broker.face = face
            faces.append(face)
        return faces

    def _ranks(self) -> list[int]:
        """Return the gathered numbers as ranks.

        Requests are ranked by first appearance, as they only have to match; generations by age.
        """
        matched: dict[tuple[int, int], int] = {}
        ranks = [matched.setdefault(request, len(matched)) for request in self.said.requests]
        newer: dict[int, list[int]] = {}
        for broker, epoch in sorted(set(self.said.generations)):
            newer.setdefault(broker, []).append(epoch)
        return ranks + [newer[broker].index(epoch) for broker, epoch in self.said.generations]

    def _verdicts(self, faces: list[Face]) -> list[int]:
        """Return how far metadata is behind, and which brokers are in time.

        The log and the clock go on while a broker stays as it is.
        """
        end, now = len(self.sim.cluster.controller.log), self.sim.now
        verdicts = []
        for face in faces:
            verdicts += [_behind(end, offset) for offset in face.said.offsets]
            for caught_up, fetched, lag_ms in face.said.clocks:
                verdicts.append(int(now - caught_up <= lag_ms))
                verdicts.append(int(fetched != NEVER and now - fetched <= lag_ms))
        return verdicts

    # -- the controller ---------------------------------------------------------------------------

    def _controller(self, k: Controller) -> Any:
        said, now, end = self.said, len(self.sim.cluster.controller.log), len(k.log)
        least = end
        for broker in self.sim.cluster.brokers.values():
            process = broker.process
            if process is not None and 0 < process.metadata_offset < least:
                least = process.metadata_offset
        return (
            PLAIN[Controller](k),
            tuple(
                [
                    (broker, self._registration(broker, registration))
                    for broker, registration in k.brokers.items()
                ]
            ),
            tuple([(tp, record.key()) for tp, record in sorted(k.records.items())]),
            end - k.committed,
            frozen(k.log[least:]),
            tuple(
                [
                    (broker, _behind(now, offset), said.number(broker, corr))
                    for broker, (offset, corr) in sorted(k.readers.items())
                ]
            ),
            tuple([(end - offset, said.message(answer)) for offset, answer in k.answers]),
            frozen(k.deletions),
        )

    def _registration(self, broker: int, registration: Registration) -> Any:
        return (
            PLAIN[Registration](registration),
            self.said.generation(broker, registration.epoch),
            registration.metadata_offset >= registration.registered_at,
            registration.shutdown_at >= 0,
            registration.metadata_offset >= registration.shutdown_at,
            tuple([self.said.message(m) for m in registration.unsent]),
        )

    # -- the wire ---------------------------------------------------------------------------------

    def _network(self, network: Network) -> Any:
        said = self.said
        return (
            PLAIN[Network](network),
            tuple([said.message(m) for m in network.hands]),
            tuple([said.message(m) for m in network.held]),
            tuple([(way, PLAIN[Link](link)) for way, link in sorted(network.links.items())]),
            tuple(
                [
                    (node, said.number(node, corr), m.dst, m.kind)
                    for (node, corr), m in sorted(network.open.items(), key=_first)
                    if not self._is_stale(m)
                ]
            ),
        )

    def _pending(self) -> Any:
        """Return the contents of the queue: messages in order, and which timers are set."""
        sim, said, brokers = self.sim, self.said, self.sim.cluster.brokers
        sent: list[Message] = []
        timers = set()
        for due, kind, node, _, payload in sorted(sim.kernel.pending, key=_place):
            if kind == DELIVERY:
                sent.append(payload)
            elif kind == TIMER and (self._is_voter(node) or payload[0] == METADATA_WAIT):
                continue  # what it waits for is said of the voter, or of the broker's fetch
            elif kind == TIMER:
                broker = brokers.get(node)
                alive = broker is None or broker.machine.incarnation == payload[2]
                if alive and payload[0] != PURGATORY:  # what waits there is said of the leader
                    timers.add((node, payload[0], due if self.timed else 0))
            else:
                timers.add((node, -1, 0))
        deferred = tuple(
            [
                (
                    node,
                    tuple([said.message(event[4]) for event in events if event[1] == DELIVERY]),
                    self.timed and tuple([event[4][0] for event in events if event[1] == TIMER]),
                )
                for node, events in sorted(sim.deferred.items())
            ]
        )
        if sim.cluster.quorum is not None:
            sent.sort(key=_way)  # no voter can tell which of two connections was used first
        messages = tuple([(said.message(m), self._is_stale(m)) for m in sent])
        return messages, tuple(sorted(timers)), deferred

    def _is_voter(self, node: int) -> bool:
        quorum = self.sim.cluster.quorum
        return quorum is not None and node in quorum.voters

    def _is_stale(self, m: Message) -> bool:
        quorum = self.sim.cluster.quorum
        return quorum is not None and is_stale(quorum, m)

    # -- clients, and observers -------------------------------------------------------------------

    def _client(self, client: Producer | Consumer) -> Any:
        said, brokers = self.said, client.brokers
        turn = client.next_broker % len(brokers) if brokers else 0
        if isinstance(client, GroupMember):
            numbers = client.outstanding, client.group_corr, client.beat_corr
            sequences = [said.number(client.id, number) for number in numbers]
            return PLAIN[type(client)](client), turn, tuple(sequences)
        if isinstance(client, Consumer):
            return PLAIN[Consumer](client), turn, said.number(client.id, client.outstanding)
        outstanding = sorted(client.outstanding.items(), key=_first)
        return (
            PLAIN[type(client)](client),
            turn,
            tuple(
                [
                    (said.number(client.id, corr), PLAIN[SentRecord](sent))
                    for corr, sent in outstanding
                ]
            ),
            tuple([PLAIN[SentRecord](sent) for sent in client.queue]),
            client.unsent and PLAIN[SentRecord](client.unsent),
        )


def _store(store: RemoteStore) -> Any:
    """Return remote storage; of the numbers of segments only their order matters."""
    logs = []
    for tp, log in sorted(store.logs.items()):
        numbers = sorted(segment.number for segment in log.all_segments())
        epochs = []
        for epoch, state in sorted(log.epochs.items()):
            listed = [
                numbers.index(segment.number) for segment in (*state.segments, *state.unreferenced)
            ]
            epochs.append((epoch, tuple(state.starts), tuple(listed), state.highest))
        segments = [
            (numbers.index(segment.number), frozen(segment)) for segment in log.all_segments()
        ]
        logs.append((tp, tuple(epochs), tuple(segments)))
    return store.up, tuple(logs)


def _ledger(ledger: Ledger) -> Any:
    return (
        PLAIN[Ledger](ledger),
        tuple(
            [
                tuple(sorted([(ack.base, ack.values, ack.acks) for ack in acked]))
                for acked in ledger.acked
            ]
        ),
        tuple([_by_base(batches) for batches in ledger.committed]),
        tuple([_by_base(seen) for seen in ledger.seen]),
    )


def _by_base(known: dict[int, Batch]) -> Any:
    return tuple([(base, batch_key(batch)) for base, batch in sorted(known.items())])


def _checker(checker: Checker) -> Any:
    return (
        PLAIN[Checker](checker),
        tuple(
            [
                (node, tp, seen.leo, seen.hw, seen.role, seen.epoch, seen.agreed)
                for node, here in sorted(checker.seen.items())
                for tp, seen in sorted(here.items())
            ]
        ),
    )


def voters_key(
    sim: Simulation, quorum: Quorum, said: RelativeNumbers, controller: Callable[[Controller], Any]
) -> Any:
    """Return voters, their pending timers and messages, and what the brokers know of them.

    `next_draw`: a back-off of 0 ms ends at once, so the stream of chance is part of a state.
    """
    next_draw = quorum.chance.copy().below(1 << 53)
    return (
        next_draw,
        tuple([_voter(sim, v, said, controller) for v in quorum.voters.values()]),
        tuple(
            [(broker, PLAIN[Observer](observer)) for broker, observer in quorum.observers.items()]
        ),
    )


def _voter(
    sim: Simulation, v: Voter, said: RelativeNumbers, controller: Callable[[Controller], Any]
) -> Any:
    """Return a voter; of one that is down its log, its file, and the mark that was seen."""
    log = tuple(v.log.epochs), frozen(v.log.records)
    if not v.alive:
        return v.epoch, v.voted_for, v.leader, v.hw, log
    return (
        PLAIN[Voter](v),
        log,
        said.number(v.id, v.fetching),
        tuple([(voter, PLAIN[VoterProgress](progress)) for voter, progress in v.progress.items()]),
        tuple([(voter, said.message(m)) for voter, m in sorted(v.parked.items())]),
        v.controller and (v.controller is sim.cluster.controller, controller(v.controller)),
        tuple(sorted(_waiting(sim, v))),
    )


def _waiting(sim: Simulation, v: Voter) -> Iterator[tuple[int, ...]]:
    for event in repeating(sim, v):
        kind, data, _ = event[4]
        yield (kind, *data[:2]) if kind == timers.VOTER_RESEND else (kind,)


def is_stale(quorum: Quorum, m: Message) -> bool:
    """Check whether the voter that waits for a response has closed that connection since."""
    asker = m.dst if m.kind in REPLIES or m.kind == BROKEN else m.src
    v = quorum.voters.get(asker)
    return v is not None and m.corr <= v.since
