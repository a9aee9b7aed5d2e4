"""Events of the voters of a quorum, and the active controller among them.

The rules of the controller write to CONTROLLER and read `cluster.controller`.  Here CONTROLLER is
the voter that acts, and `cluster.controller` the active controller, or the last one there was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.controlplane import kraft, membership
from engine.model import messages, timers
from engine.model.broker import Broker, Process
from engine.model.configs import Configs
from engine.model.controller import Controller
from engine.model.copying import set_state, state_of
from engine.model.effects import Effects
from engine.model.errors import NOT_CONTROLLER, NOT_LEADER_OR_FOLLOWER, InputError
from engine.model.messages import CONTROLLER, Broken, Message
from engine.model.profiles import quorum_refusal
from engine.model.quorum import (
    FOLLOWER,
    LEADER,
    NO_METADATA,
    NO_VOTER,
    UNATTACHED,
    ControllerImage,
    MetadataLog,
    Observer,
    Quorum,
    Voter,
    VoterProgress,
)
from engine.model.quorum_messages import NotController
from engine.model.state import NEVER
from engine.quorum import observer, raft, replication, states, voters
from engine.quorum.states import Rules
from engine.sim import dispatch
from engine.sim.kernel import TIMER, Chance, Kernel
from engine.sim.live_effects import Wires
from engine.sim.network import UNANSWERED, Network
from engine.sim.world import World

VoterHandler = Callable[[Rules, Voter, Any, Effects], None]

ON_VOTER: Final[dict[int, VoterHandler]] = {
    messages.VOTE: raft.on_vote,
    messages.VOTE_R: raft.on_vote_response,
    messages.BEGIN_EPOCH: raft.on_begin_epoch,
    messages.BEGIN_EPOCH_R: raft.on_begin_epoch_response,
    messages.END_EPOCH: raft.on_end_epoch,
    messages.END_EPOCH_R: raft.on_end_epoch_response,
    messages.QUORUM_FETCH: raft.on_fetch,
    messages.METADATA_FETCH: raft.on_fetch,
    messages.QUORUM_FETCH_R: raft.on_fetch_response,
    messages.BROKEN: raft.on_broken,
}

VOTER_TIMERS: Final[dict[int, Callable[[Rules, Voter, Any, Effects], bool]]] = {
    timers.QUORUM_TIMEOUT: raft.on_timeout,
    timers.VOTER_FETCH: raft.on_fetch_timer,
    timers.BEGIN_EPOCH_TICK: raft.on_begin_epoch_tick,
    timers.PARKED_FETCH: lambda rules, v, waits, out: replication.on_parked_timer(v, waits, out),
    timers.VOTER_RESEND: raft.on_resend,
    timers.VOTER_STOP: lambda rules, v, stop_at, out: raft.on_stop_timer(v, stop_at, out),
}
"""Timers of voters; all others are of the controller that a voter is."""

SOCKET_TIMEOUT_MS: Final = 30_000
"""`controller.socket.timeout.ms`: of a broker's requests to the active controller."""


class VoterWires(Wires):
    """Effects of a cluster with voters: CONTROLLER is the voter that acts, or the leader known.

    A message for a leader that the broker does not know stays addressed to CONTROLLER, which takes
    none: the network returns it as undeliverable.
    """

    __slots__ = ("acting", "configs", "quorum")

    def __init__(self, wires: Wires, quorum: Quorum, configs: Configs) -> None:
        Wires.__init__(self, wires.cues is not None, wires._kernel, wires._network, wires.ledger)
        self.watch(wires._incarnations)
        self.quorum = quorum
        self.configs = configs
        self.acting = NO_VOTER

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_state(self, state)

    def twin(self, kernel: Kernel, network: Network, brokers: dict[int, Broker]) -> VoterWires:
        twin = VoterWires(Wires.twin(self, kernel, network, brokers), self.quorum, self.configs)
        twin.now, twin.acting = self.now, self.acting
        twin.sends, twin.touched = self.sends.copy(), self.touched.copy()
        twin.cues = None if self.cues is None else self.cues.copy()
        return twin

    def send(self, message: Message) -> None:
        if message.src == CONTROLLER:
            message.src = self.acting
        elif message.dst == CONTROLLER:
            voter = observer.target(self.quorum, message.src, message.kind)
            message.dst = voter if voter != NO_VOTER else CONTROLLER
            if message.kind == messages.METADATA_FETCH:
                message = observer.fetch_from(self.quorum, message)
        Wires.send(self, message)
        receiver = self.quorum.voters.get(message.dst)
        if receiver is not None and receiver.paused and message.kind not in UNANSWERED:
            self.limit(message)

    def limit(self, request: Message) -> None:
        """CP-RAFT-TIMEOUT.  Give a request to a paused voter up when its timeout is over.

        `BrokerServer` halves the session for registrations (KAFKA-14392).
        """
        wait = int(self.configs.values["controller.quorum.request.timeout.ms"])
        if request.src >= 0 and request.kind != messages.METADATA_FETCH:
            wait = SOCKET_TIMEOUT_MS
            if request.kind == messages.REGISTER:
                wait = min(wait, self.configs.session_timeout_ms // 2)
        due = max(self.now, request.sent + wait)
        self.timer(request.src, due - self.now, timers.REQUEST_TIMEOUT, request.corr)

    def timer(self, node: int, delay: int, kind: int, data: Any = None) -> None:
        if node != CONTROLLER:
            Wires.timer(self, node, delay, kind, data)
            return
        # A timer of the controller ends with the epoch of the leader that set it.
        epoch = self.quorum.voters[self.acting].epoch
        Wires.timer(self, self.acting, delay, kind, (epoch, data))


def wires_of(sim: World) -> VoterWires:
    assert isinstance(sim.out, VoterWires)
    return sim.out


def quorum_of(sim: World) -> Quorum:
    quorum = sim.cluster.quorum
    assert quorum is not None
    return quorum


def rules_of(sim: World) -> Rules:
    return Rules(quorum_of(sim), sim.profile, sim.cluster.controller.configs)


def build(sim: World, names: tuple[str, ...]) -> None:
    """Replace the controller node by voters, before the brokers start.

    The first voter leads epoch 1; all have its log, and every broker knows it.
    """
    if why := quorum_refusal(sim.profile):
        raise InputError("invalid", why)
    k = sim.cluster.controller
    quorum = Quorum(names, Chance(sim.seed, "quorum"), sim.configs.dynamic_voters)
    sim.cluster.quorum = quorum
    if quorum.dynamic:
        k.log.append(voters.record(quorum.static))
        k.committed = len(k.log)
    sim.out = VoterWires(sim.out, quorum, sim.configs)
    sim.voters = VoterEvents()
    sim.network.controller_up = False
    first = next(iter(quorum.voters.values()))
    for v in quorum.voters.values():
        v.epoch, v.leader = 1, first.id
        v.log.append(1, k.log)
        v.hw = v.log.end
        v.state = LEADER if v is first else FOLLOWER
        sim.network.running.add(v.id)
    k.voter, k.epoch = first.id, 1
    first.controller = k
    first.progress = {other: VoterProgress() for other in quorum.others(first)}
    quorum.images[first.log.end, 1] = ControllerImage(k)
    quorum.images[NO_METADATA] = ControllerImage(Controller(k.profile, k.configs))
    for broker in sim.brokers:
        state = quorum.observers[broker] = Observer()
        state.leader = state.asked = first.id
        state.epoch, state.log, state.hw = 1, first.log.copy(), first.hw
    wires_of(sim).acting = first.id
    sim.on_broker = {
        **sim.on_broker,
        messages.BROKEN: _on_broken,
        messages.NOT_CONTROLLER_R: _on_not_controller,
        messages.METADATA_FETCH_R: _on_metadata_records,
    }


def start_voters(sim: World) -> None:
    """Set the first timers and send the first fetches of the run, of the brokers, too."""
    quorum, rules, out = quorum_of(sim), rules_of(sim), wires_of(sim)
    leader = quorum.voters[out.acting]
    states.set_leader_timers(rules, leader, out)
    for v in quorum.voters.values():
        if v is not leader:
            states.become_follower(rules, v, 1, leader.id, out)
    for broker in sim.brokers.values():
        if broker.process is not None:
            membership.fetch_metadata(broker.process, out)


class VoterEvents:
    """The controller side of a world whose quorum is played; stateless."""

    def is_paused(self, sim: World, node: int) -> bool:
        found = quorum_of(sim).voters.get(node)
        return found is not None and found.paused

    def adopt(self, twin: World) -> None:
        """Point the effects of a copied world to its own quorum."""
        wires_of(twin).quorum = quorum_of(twin)

    def deliver(self, sim: World, node: int, m: Any) -> bool:
        return deliver(sim, node, m)

    def fire(self, sim: World, node: int, kind: int, data: Any) -> bool:
        return fire(sim, node, kind, data)

    def settle(self, sim: World) -> None:
        settle(sim)

    def forget_broker(self, sim: World, broker: int) -> None:
        forget_broker(sim, broker)


# -- events of voters -----------------------------------------------------------------------------


def deliver(sim: World, node: int, m: Any) -> bool:
    """Deliver a message to a voter; False if it is down."""
    quorum, out = quorum_of(sim), wires_of(sim)
    v = quorum.voters[node]
    if not v.alive:
        return False
    handler = ON_VOTER.get(m.kind)
    if handler is not None:
        handler(rules_of(sim), v, m, out)
        return True
    k = v.controller
    if k is None or not k.alive:
        if m.kind == messages.HEARTBEAT:  # it has no answer here
            return False
        out.send(NotController(v.id, m.src, m.corr, NOT_CONTROLLER, v.epoch, v.leader, m.kind))
        return True
    out.acting = node
    sim.on_controller[m.kind](k, m, out)
    return True


def fire(sim: World, node: int, kind: int, data: Any) -> bool:
    """Fire a timer of a voter, or of the controller that it is."""
    quorum, out = quorum_of(sim), wires_of(sim)
    v = quorum.voters[node]
    if kind == timers.REQUEST_TIMEOUT:
        if data <= v.since:  # of an earlier state: its sender waits no longer
            sim.network.open.pop((node, data), None)
            return False
        return out.give_up(node, data)
    if kind in VOTER_TIMERS:
        return VOTER_TIMERS[kind](rules_of(sim), v, data, out)
    epoch, payload = data
    if v.controller is None or not v.alive or v.epoch != epoch:
        return False
    out.acting = node
    return sim.controller_timers[kind](v.controller, payload, out)


def settle(sim: World) -> None:
    """Carry through what an event has left: appends, commits, a change of the active controller."""
    quorum, out = quorum_of(sim), wires_of(sim)
    for v in quorum.voters.values():
        if v.paused:
            continue
        if v.halted:
            kill_voter(sim, v.id)
        if voters.is_removed(quorum, v, out.now):
            states.resign(rules_of(sim), v, out)
        if v.stop_at != NEVER and v.alive and states.may_stop(quorum, v, out.now):
            out.cue("CP-10.stopped", v.id, "process", "shutting down", "down")
            kill_voter(sim, v.id)
        k = v.controller
        if k is None:
            continue
        if v.state != LEADER or not v.alive:
            _wind_up(sim, v, out)
            continue
        if len(k.log) > v.log.end:
            replication.append_new(quorum, v, out)
        out.acting = v.id
        if v.hw > k.committed:
            kraft.commit(k, v.hw, out)
        if not k.alive and v.hw > v.epoch_start:
            _activate(sim, v, out)
    if sim.cluster.controller.voter in quorum.voters:
        out.acting = sim.cluster.controller.voter


def _activate(sim: World, v: Voter, out: VoterWires) -> None:
    """10(f).  Make a leader the active controller: the record of its epoch is committed.

    `KafkaRaftClient.maybeFireLeaderChange`, `QuorumController.claim`.
    """
    k, before = v.controller, sim.cluster.controller
    assert k is not None
    out.cue("CP-10.up", CONTROLLER, "controller epoch", before.epoch, k.epoch)
    sim.cluster.controller = k
    for tp, record in k.records.items():
        if sim.checker.records.get(tp) is not record:
            sim.checker.goes_back(tp)
    k.alive = True
    kraft.resume(k, out)
    arm_periodic_checks(sim)


def arm_periodic_checks(sim: World) -> None:
    """Arm the checks that an active controller repeats."""
    if sim.profile.periodic_unclean:
        sim.out.timer(CONTROLLER, sim.configs.unclean_interval_ms, timers.UNCLEAN_CHECK)
    if sim.configs.auto_rebalance:
        sim.out.timer(CONTROLLER, sim.configs.imbalance_check_ms, timers.PREFERRED_CHECK)
    if sim.cluster.quorum is not None and sim.configs.max_idle_ms:
        sim.out.timer(CONTROLLER, sim.configs.max_idle_ms, timers.IDLE_RECORD)


def _wind_up(sim: World, v: Voter, out: VoterWires) -> None:
    """End the controller of a voter that leads no longer: what waited for it is refused."""
    k, v.controller = v.controller, None
    assert k is not None
    active = sim.cluster.controller
    if k is active and k.alive:
        out.cue("CP-10.down", CONTROLLER, "controller", "active", "none")
    elif k.alive:
        out.cue("CP-10.deposed", CONTROLLER, "controller epoch", k.epoch, active.epoch)
    k.alive = False
    if not v.alive:
        return
    for _, answer in k.answers:
        request_kind = answer.kind - 1  # the kind of a response follows that of its request
        out.send(
            NotController(
                v.id, answer.dst, answer.corr, NOT_CONTROLLER, v.epoch, v.leader, request_kind
            )
        )
    parked, v.parked = v.parked, {}
    for m in parked.values():
        replication.respond(v, m, NOT_LEADER_OR_FOLLOWER, -1, out)


def forget_broker(sim: World, broker: int) -> None:
    """Forget the waiting fetch and the knowledge of a broker's process that ended."""
    quorum = quorum_of(sim)
    quorum.observers[broker] = Observer()
    for v in quorum.voters.values():
        v.parked.pop(broker, None)


# -- brokers as observers ---------------------------------------------------------------------


def _observer(out: Effects, broker: Process) -> Observer:
    assert isinstance(out, VoterWires)
    return out.quorum.observers[broker.id]


def _on_metadata_records(broker: Process, m: Any, out: Effects) -> None:
    observer.on_fetch_response(broker, _observer(out, broker), m, out)


def _on_broken(broker: Process, m: Broken, out: Effects) -> None:
    if m.request_kind != messages.METADATA_FETCH:
        dispatch.on_broken(broker, m, out)
        if m.request_kind == messages.ALTER_PARTITION:
            _send_to_another(broker, m, out)
    elif m.corr == broker.metadata_corr:
        observer.fetch_again(broker, _observer(out, broker), out)


def _send_to_another(broker: Process, m: Broken, out: Effects) -> None:
    """Send AlterPartition to the leader at once, if it is another one by now.

    `NodeToControllerRequestThread.handleResponse` puts the request back at the front of its queue;
    it waits only while no controller is known.
    """
    if _observer(out, broker).leader not in (NO_VOTER, m.src):
        membership.on_alter_timer(broker, out)


def _on_not_controller(broker: Process, m: NotController, out: Effects) -> None:
    """Retry a request that no active controller has taken, and learn the leader from a fetch."""
    if m.request_kind != messages.METADATA_FETCH:
        dispatch.on_broken(broker, Broken(m.src, broker.id, m.corr, m.request_kind), out)
    observer.on_refusal(broker, _observer(out, broker), m, out)


# -- faults ---------------------------------------------------------------------------------------


def kill_voter(sim: World, node: int) -> None:
    """End a voter's process: its connections break; log and quorum-state file stay."""
    v = quorum_of(sim).voters[node]
    v.alive = v.paused = v.halted = False
    v.parked = {}
    sim.deferred.pop(node, None)
    v.check_at = NEVER
    sim.network.running.discard(node)
    sim.network.break_connections(node)


def pause_voter(sim: World, node: int, out: Effects) -> None:
    """8.3.  Freeze a voter: what waits for it is given up in time.

    An active controller counts as none until it goes on.
    """
    v = quorum_of(sim).voters[node]
    v.paused = True
    if v.controller is not None and v.controller.alive:
        v.controller.alive = False
        out.cue("CP-10.down", CONTROLLER, "controller", "active", "none")
    for request in sim.network.open.values():
        if request.dst == node:
            wires_of(sim).limit(request)


def resume_voter(sim: World, node: int, out: Effects) -> None:
    """8.3.  Let a voter go on: it looks at its clock, then at what came in meanwhile.

    `KafkaRaftClient.poll` calls `pollCurrentState` before it takes a message.  Requests that their
    senders have given up were on connections that are closed.
    """
    v, waiting = quorum_of(sim).voters[node], sim.deferred.pop(node, [])
    v.paused, k = False, v.controller
    if k is not None and k.epoch <= sim.cluster.controller.epoch:
        k.alive = v.hw > v.epoch_start  # one of a newer epoch is activated again
    if v.deadline <= out.now:
        raft.on_timeout(rules_of(sim), v, v.check_at, out)
    for _, kind, _, _, payload in sorted(waiting, key=lambda event: event[3]):
        if kind == TIMER or not sim.network.is_given_up(payload):
            sim.kernel.schedule(0, kind, node, payload)


def wipe_voter(sim: World, node: int) -> None:
    """Replace a voter's disk: metadata log and quorum-state file, with its vote, are gone."""
    v = quorum_of(sim).voters[node]
    if v.alive:
        kill_voter(sim, node)
    v.log, v.hw, v.state = MetadataLog(), -1, UNATTACHED
    states.enter_epoch(v, 0, NO_VOTER, NO_VOTER)
    v.directory += quorum_of(sim).dynamic


def stop_voter(sim: World, node: int, out: Effects) -> None:
    states.stop(rules_of(sim), quorum_of(sim).voters[node], out)


def start_voter(sim: World, node: int, out: Effects) -> None:
    sim.network.running.add(node)
    states.start(rules_of(sim), quorum_of(sim).voters[node], out)
