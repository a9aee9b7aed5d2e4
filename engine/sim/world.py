"""A cluster and its world: plays one event, applies its effects, and lets the observer check it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop
from typing import Any, Final, Protocol, Self

from engine.checks.checker import Checker
from engine.checks.ledger import Acked, Ledger
from engine.clients.clients import Producer, SentRecord
from engine.clients.consumers import Client, Consumer
from engine.clients.group_member import GroupMember, states
from engine.controlplane import membership, sender
from engine.dataplane import retention, tiering
from engine.model import messages, timers
from engine.model.broker import Broker, Process
from engine.model.cluster import Cluster
from engine.model.compiling import mypyc_attr
from engine.model.configs import NEVER, build
from engine.model.copying import Twins, fields
from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.group_messages import GroupResponse
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import (
    CONTROLLER,
    FIRST_CONSUMER,
    FIRST_PRODUCER,
    REPLIES,
    Broken,
    Message,
)
from engine.model.profiles import get_profile
from engine.model.quotas import TOPIC
from engine.model.state import PAUSED
from engine.model.zk_messages import SessionClosed
from engine.scenarios.scenario import Scenario
from engine.sim import dispatch
from engine.sim.copy_on_write import Lent
from engine.sim.kernel import DELIVERY, FAILURE, Chance, Event, Kernel
from engine.sim.live_effects import Wires
from engine.sim.network import Network

Timer = tuple[int, Any, int]
"""(kind, data, incarnation): a timer of a former incarnation fires into nothing."""

AVAILABILITY_KINDS: Final = frozenset(
    (
        messages.ALTER_PARTITION,
        messages.ALTER_PARTITION_R,
        messages.HEARTBEAT_R,
        messages.LEADER_AND_ISR,
        messages.LEADER_AND_ISR_R,
        messages.METADATA_FETCH_R,
        messages.REGISTER,
        messages.REGISTER_R,
        messages.SESSION_CLOSED,
        messages.SHUTDOWN,
        messages.STOP_REPLICA,
        messages.QUORUM_FETCH,
    )
)
"""Deliveries that may change whether a partition can be written to."""

TOUCHING: Final = frozenset(
    (
        timers.FETCHER_WORK,
        timers.DISK_WRITE,
        timers.RETENTION,
        timers.GROUP_CHECK,
        timers.REMOTE_LOG,
        timers.REMOTE_COPY,
        timers.REMOTE_INDEX,
    )
)
"""Timers of a broker that may touch a log or a role."""

RUN_AWAY: Final = 2_000_000
"""Events after which a run without another bound has run away."""


class ControllerSide(Protocol):
    """Handler of the events of a quorum's voters (`engine.sim.active_controller`)."""

    def adopt(self, twin: World) -> None: ...
    def is_paused(self, sim: World, node: int) -> bool: ...
    def deliver(self, sim: World, node: int, m: Any) -> bool: ...
    def fire(self, sim: World, node: int, kind: int, data: Any) -> bool: ...
    def settle(self, sim: World) -> None: ...
    def forget_broker(self, sim: World, broker: int) -> None: ...


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class World:
    """One cluster and its world, under one scenario, profile and seed.

    `cues`: whether they are collected.  `listener`, if set, is called with (kind, node, what) after
    every event that had an effect; each call becomes a step of the animator.
    """

    def __init__(self, scenario: Scenario, profile: str, seed: int = 0, cues: bool = False) -> None:
        self.scenario = scenario
        self.profile = get_profile(profile)
        self.configs = build(self.profile, dict(scenario.configs))
        self.seed = seed
        self.kernel = Kernel()
        self.auto = scenario.fetching == "auto"
        self.network = Network(
            self.kernel, scenario.network, Chance(seed, "network"), not self.auto
        )
        self.network.md_delay = self.configs.md_delay
        names = tuple(f"{TOPIC}-{number}" for number in range(len(scenario.partitions)))
        names += tuple(f"{OFFSETS_TOPIC}-{number}" for number in range(len(scenario.groups)))
        self.cluster = Cluster(self.profile, self.configs, names)
        self.brokers: Mapping[int, Broker] = self.cluster.brokers
        self.clients: dict[int, Client] = {}
        self.racks = {spec.id: spec.rack for spec in scenario.brokers}
        self.topics: dict[int, tuple[str, int]] = {}
        self.ledger = Ledger()
        self.checker = Checker(self.cluster, self.ledger)
        self.checker.grow(len(names))
        self.out = Wires(cues, self.kernel, self.network, self.ledger)
        self.out.watch(self.cluster.brokers)
        self.events = 0
        self.budget = RUN_AWAY
        self.rush = False  # no listener between the events of a move: it may play without a pause
        self.clock_until = -1  # while a move lets the clock run: until when
        self.settle_round = -1  # while a move that settles stands between two rounds: the next
        self.deferred: dict[int, list[Event]] = {}
        self.voters: ControllerSide | None = None  # where a quorum is played as its voters
        self.placing: Chance | None = None  # made when the first replicas are placed
        self.listener: Callable[[int, int, Any], None] | None = None
        self.plans: list[Any] = []  # of a fault plan: `Strikes`, as far as is known here
        self.drawn_anew = False  # whether this is a future of some present
        kraft_mode = self.profile.mode == "kraft"
        self.on_broker = dispatch.ON_BROKER
        self.on_controller = dispatch.ON_KRAFT if kraft_mode else dispatch.ON_ZOOKEEPER

    # -- what others ask -------------------------------------------------------------------------

    @property
    def controller_timers(self) -> dict[int, dispatch.ControllerTimer]:
        kraft_mode = self.profile.mode == "kraft"
        return dispatch.KRAFT_TIMERS if kraft_mode else dispatch.ZOOKEEPER_TIMERS

    @property
    def now(self) -> int:
        return self.kernel.now

    @property
    def broken(self) -> list[tuple[str, int, str]]:
        """(invariant, step, why), in the order in which they broke."""
        return self.checker.broken

    def copy(self) -> Self:
        """Return a copy with the same future.  Immutable parts are shared."""
        twins = Twins()
        twin = self._copy_rest(twins, self.cluster.twin(twins))
        twin.checker = self.checker.twin(twins, twin.cluster, twin.out)
        twin.ledger = twin.out.ledger = twin.checker.ledger
        twin.brokers = twin.cluster.brokers
        for broker in twin.cluster.brokers.values():
            broker.machine.racks = twin.racks
            broker.machine.topics = twin.topics
        twin.tell_fetchers()
        return twin

    def branch(self) -> Self:
        """Return a copy that is cheap for playing one move.

        A broker is copied on its first write, in the copy and from now on also here.
        """
        if (
            self.checker.lags is not None
            or self.configs.values["fetch_sessions"]
            or self.cluster.store is not None
        ):
            return self.copy()  # parts of several brokers hold the same
        self.seal()
        twin = self._copy_rest(Twins(), self.cluster.branch())
        twin.checker = self.checker.branch(twin.cluster)
        twin.ledger = twin.out.ledger = twin.checker.ledger
        twin.brokers = Lent(twin.cluster, twin.checker, twin.racks, twin.topics)
        twin.tell_fetchers()
        return twin

    def seal(self) -> None:
        """Freeze the brokers in their current state: later events change copies of them."""
        self.cluster.forget_fetches()
        if isinstance(self.brokers, Lent):
            self.brokers.seal()
        else:
            self.brokers = Lent(self.cluster, self.checker, self.racks, self.topics)
            self.tell_fetchers()

    def _copy_rest(self, twins: Twins, cluster: Cluster) -> Self:
        """Return a copy of all but brokers and observer, for copies and branches."""
        twin = self.__class__.__new__(self.__class__)
        twin.scenario = self.scenario
        twin.profile = self.profile
        twin.configs = self.configs
        twin.seed = self.seed
        twin.auto = self.auto
        twin.events = self.events
        twin.budget = self.budget
        twin.rush = self.rush
        twin.clock_until, twin.settle_round = self.clock_until, -1
        twin.drawn_anew = self.drawn_anew
        twin.on_broker = self.on_broker
        twin.on_controller = self.on_controller
        twin.listener = None
        twin.kernel = kernel = Kernel()
        kernel.now, kernel.seq = self.kernel.now, self.kernel.seq
        twin.network = self.network.copy(kernel)
        twin.cluster = cluster
        twin.racks = self.racks.copy()
        twin.topics = self.topics.copy()
        twin.clients = {node: client.twin(twins) for node, client in self.clients.items()}
        twin.plans = [twins.of(plan) for plan in self.plans]
        kernel.pending = [
            (*event[:4], twins.of(event[4])) if event[1] == FAILURE else event
            for event in self.kernel.pending
        ]
        twin.deferred = {node: events.copy() for node, events in self.deferred.items()}
        twin.placing = self.placing and self.placing.copy()
        twin.out = self.out.twin(kernel, twin.network, cluster.brokers)
        twin.voters = self.voters
        if twin.voters is not None:
            twin.voters.adopt(twin)
        return twin

    def __getstate__(self) -> dict[str, object]:
        """Return the state without listeners: a stored or transferred world is a copy."""
        names = fields(self.__class__) or tuple(vars(self))  # the compiled one has no dictionary
        return {name: getattr(self, name) for name in names if name != "listener"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.listener = None
        for name, value in state.items():
            setattr(self, name, value)

    def tell_fetchers(self) -> None:
        """F-1.  Give the network the fetcher of each request, if a broker has several fetchers."""
        if self.configs.fetchers > 1 or self.network.fetchers is not None:
            self.network.fetchers = self.brokers

    def hush(self) -> None:
        self.listener = None
        self.out.cues = None
        self.out.sends.clear()
        self.clock_until = -1

    # -- one event -------------------------------------------------------------------------------

    def fire_next(self) -> bool:
        """Fire the next event by the clock; return True unless it had no effect (a stale timer)."""
        return self._handle(self.kernel.pop())

    def run_until(self, time: int) -> None:
        """Fire all events that are due up to `time`, as a batch does."""
        kernel = self.kernel
        pending, handle = kernel.pending, self._handle
        while pending and pending[0][0] <= time:
            event = heappop(pending)
            kernel.now = event[0]
            handle(event)
            if self.events > self.budget:
                return
        kernel.now = max(kernel.now, time)

    def take(self, m: Message) -> bool:
        """Deliver one message now, before or after its time, without advancing the clock."""
        self.network.remove(m)
        return self._handle((self.kernel.now, DELIVERY, m.dst, m.id, m))

    def act(self, kind: int, node: int, what: str, action: Callable[[Effects], object]) -> None:
        """Play an event that is no message or timer: a fault, or a move of a client or operator."""
        out = self.out
        out.now = self.kernel.now
        if out.cues:
            out.cues.clear()
        self.cluster.forget_fetches()
        action(out)
        self._finish(kind, node, what)

    def _handle(self, event: Event) -> bool:
        _, kind, node, _, payload = event
        out = self.out
        out.now = self.kernel.now
        if out.cues:
            out.cues.clear()
        if kind == FAILURE:
            return bool(payload(self))
        look = True
        if self.voters is not None and self.voters.is_paused(self, node):
            self.deferred.setdefault(node, []).append(event)
            return False
        if node >= 0:
            process = self.brokers[node].process
            if process is not None and process.status == PAUSED:
                self.deferred.setdefault(node, []).append(event)
                return False
            if kind == DELIVERY:
                code = payload.kind
                if code in REPLIES:
                    self.network.arrived(payload)
                if process is None:
                    return False
                if code not in dispatch.KEEPING_FETCHES:
                    process.forget_fetches()
                self.on_broker[code](process, payload, out)
            elif process is None or not self._fire_broker_timer(process, payload):
                return False
            else:
                look = payload[0] in TOUCHING
        elif kind == DELIVERY:
            if payload.kind in REPLIES:
                self.network.arrived(payload)
            if node == CONTROLLER:
                self.on_controller[payload.kind](self.cluster.controller, payload, out)
            elif node > FIRST_PRODUCER:
                if self.voters is None or not self.voters.deliver(self, node, payload):
                    return False
            else:
                self._deliver_to_client(node, payload)
                look = False
        elif not self._fire_timer(node, payload):
            return False
        elif node <= FIRST_PRODUCER:
            look = False
        self._finish(kind, node, payload, look)
        return True

    def _fire_broker_timer(self, process: Process, payload: Timer) -> bool:
        kind, data, incarnation = payload
        if process.incarnation != incarnation:
            return False
        if kind not in dispatch.TIMERS_KEEPING_FETCHES:
            process.forget_fetches()
        return dispatch.BROKER_TIMERS[kind](process, data, self.out)

    def _fire_timer(self, node: int, payload: Timer) -> bool:
        kind, data, _ = payload
        if node == CONTROLLER:
            return self.controller_timers[kind](self.cluster.controller, data, self.out)
        if node > FIRST_PRODUCER:
            return self.voters is not None and self.voters.fire(self, node, kind, data)
        client = self.clients[node]
        if not isinstance(client, Producer):
            return client.on_timer(kind, data, self.out)
        if kind == timers.CLIENT_RETRY:
            return client.on_retry(self.out)
        acted = client.on_tick(self.out)
        if client.unsent is not None:
            self._decided(client.unsent, -1)
            client.unsent = None
        return acted

    def _finish(self, kind: int, node: int, what: Any, look: bool = True) -> None:
        """Let the observer check the changed replicas, and notify the listener."""
        self.events += 1
        if self.network.unanswered:
            self._keep_unanswered()
        if self.voters is not None:
            self.voters.settle(self)
        if node <= FIRST_CONSUMER and self.scenario.groups:
            self._note_member(node)
        if look:
            self.ledger.uncontrolled.note(self.cluster.controller.alive, self.kernel.now)
            touched = self.out.take_touched(node)
            with_cues = self.out.cues is not None
            # With cues it looks also where handlers told it nothing of.
            self.checker.after(node, self.events, None if with_cues else touched)
            if self.cluster.store is not None:
                self.checker.look_at_remote(self.cluster.store)
            if node >= 0:
                process = self.brokers[node].process
                if process is not None and process.halted:
                    self._end_process(process)
            if kind == DELIVERY:
                if what.kind in AVAILABILITY_KINDS:
                    self._note_availability()
            elif kind == FAILURE or FIRST_PRODUCER < node < 0:
                self._note_availability()
        if self.listener is not None:
            self.listener(kind, node, what)
            self.out.sends.clear()

    def _keep_unanswered(self) -> None:
        """5.1.  Queue lost control requests; a broker that the controller reaches has them soon."""
        k, network = self.cluster.controller, self.network
        lost, network.unanswered = network.unanswered, []
        for request, was_sent in lost:
            first = request.dst in k.brokers and not k.brokers[request.dst].unsent
            if sender.keep(k, request, was_sent):
                k.brokers[request.dst].unsent += network.take_behind(request)
                if first and network.reaches(request.dst):
                    sender.retry_later(k, request.dst, self.out)

    def _note_availability(self) -> None:
        for tp in self.cluster.controller.records:
            led, writable = self.cluster.availability(tp)
            self.ledger.availability(tp, led, writable, self.kernel.now)

    # -- clients ---------------------------------------------------------------------------------

    def _deliver_to_client(self, node: int, m: Any) -> None:
        client = self.clients[node]
        out = self.out
        if isinstance(client, Producer):
            if m.kind == messages.PRODUCE_R:
                self._decided(client.on_response(m, out), m.base)
            elif m.kind == messages.CLIENT_METADATA_R:
                client.on_metadata(m, out)
            else:
                assert isinstance(m, Broken)
                self._decided(client.on_broken(m, out), -1)
        else:
            self._deliver_to_consumer(client, m)

    def _deliver_to_consumer(self, client: Consumer, m: Any) -> None:
        """Deliver a message; report to the observer the records that the application gets."""
        out, checker = self.out, self.checker
        checker.step = self.events + 1
        if m.kind == messages.FETCH_R:
            batches = client.on_fetch(m, out)
            if batches:
                checker.on_read(client.id, m.src, m.partitions[0], batches)
            out.cue("C-2", client.id, "read", client.tp, tuple(batches), tp=client.tp)
        elif m.kind == messages.CLIENT_METADATA_R:
            client.on_metadata(m, out)
        elif m.kind == messages.EPOCH_END_R:
            client.on_epoch_end(m, out)
        elif m.kind == messages.LIST_OFFSETS_R:
            latest = client.on_list_offsets(m, out)
            if latest is not None:
                checker.on_latest(m.tp, latest)
        elif isinstance(m, GroupResponse):
            assert isinstance(client, GroupMember)
            client.on_group(m, out)
        else:
            client.on_broken(m, out)
        if client.moved:
            checker.on_moved(client.id)
            client.moved = False

    def _note_member(self, node: int) -> None:
        """G-6.  Report to the observer what a member of a group did in this event."""
        member = self.clients[node]
        if isinstance(member, GroupMember) and member.facts:
            self.checker.step = self.events
            facts, member.facts = member.facts, []
            members = states(self.clients.values(), member.group)
            self.checker.on_member(member.group, facts, members, self.kernel.now)

    def _decided(self, sent: SentRecord | None, base: int) -> None:
        if sent is None:
            return
        if sent.error == NONE:
            latency = self.kernel.now - sent.created
            self.checker.step = self.events + 1
            acked = Acked(sent.tp, base, sent.values, sent.acks, latency)
            self.checker.on_acked(acked)
            if sent.attempts > 1 and sent.producer < 0:
                self.checker.on_retried(acked, sent.created)
        else:
            for value in sent.values:
                self.ledger.failed[value] = sent.error

    # -- processes -------------------------------------------------------------------------------

    def stop_process(self, node: int) -> None:
        """Stop a process: its connections break, its memory is lost, its disks stay."""
        self.brokers[node].process = None
        self.network.running.discard(node)
        self.network.break_connections(node)
        for event in self.deferred.pop(node, ()):
            if event[1] == DELIVERY:
                self.network.note_lost(event[4])
        if self.voters is None:
            self.cluster.controller.readers.pop(node, None)
        else:
            self.voters.forget_broker(self, node)

    def _end_process(self, process: Process) -> None:
        """End a process that stopped by itself.

        After a clean shutdown it also closes its ZooKeeper session (CP-ZK-SHUTDOWN 8); a KRaft
        controller has fenced it before.
        """
        epoch, was_clean = process.broker_epoch, process.machine.clean_epoch >= 0
        self.stop_process(process.id)
        if was_clean and not self.profile.kraft:
            self.out.send(SessionClosed(process.id, CONTROLLER, 0, epoch))

    def start_process(self, node: int, out: Effects, bounced: bool = False) -> None:
        """CP 8.2.  Load, register, and start the periodic tasks of control-plane 9."""
        self.network.running.add(node)
        broker = self.brokers[node]
        broker.process = membership.start(broker.machine, out, bounced)
        self.set_periodic_tasks(broker.process, out)

    def set_periodic_tasks(self, broker: Process, out: Effects) -> None:
        """Set tasks at multiples of their period, as if all clocks had started together."""
        configs = broker.configs
        for kind, period in (
            (timers.ISR_EXPIRATION, configs.isr_check_ms),
            (timers.HW_CHECKPOINT, configs.hw_checkpoint_ms),
            (timers.LOG_FLUSHER, configs.flush_ms),
        ):
            if period < NEVER:
                out.timer(broker.id, period - self.kernel.now % period, kind)
        retention.arm(broker, out)
        tiering.arm(broker, out)
