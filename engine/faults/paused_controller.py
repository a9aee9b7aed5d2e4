"""A controller that freezes: its successor, and what it does when it wakes (1.4, 8.3, 10)."""

from __future__ import annotations

from typing import Final

from engine.controlplane import kraft, znodes, zookeeper
from engine.faults import faults, voter_faults
from engine.model.controller import Controller
from engine.model.copying import Twins
from engine.model.declared import declared
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, NEVER, UP
from engine.model.timers import COMMIT
from engine.sim.kernel import FAILURE
from engine.sim.world import World

KRAFT_FAILOVER_MS: Final = 3_000
"""A voter's fetch timeout (2 s) and an election."""


@declared
class FailOver:
    """End of a term, should no other controller have begun one by then."""

    term: int

    def twin(self, twins: Twins) -> FailOver:
        return self  # it never changes

    def __call__(self, sim: World) -> bool:
        k = sim.cluster.controller
        if k.alive or k.epoch != self.term:
            return False
        faults.start_controller(sim)
        faults.finish_controller_start(sim)
        return True


def pause_controller(sim: World) -> None:
    """8.3.  Freeze the active controller's process.

    Once its session is over (ZooKeeper), or the voters have waited long enough (KRaft), another
    controller begins the next term.
    """
    k = sim.cluster.controller
    if sim.cluster.quorum is not None:
        voter_faults.pause(sim, k.voter)
        return

    def action(out: Effects) -> None:
        out.cue("CP-8.3.pause", CONTROLLER, "controller", "up", "paused")
        sim.cluster.zombie = zombie = k.copy()
        zombie.queued = tuple(b for b in k.brokers if sim.brokers[b].status == DOWN)
        k.alive = False
        sim.network.controller_up = False
        sim.network.break_connections(CONTROLLER)

    sim.act(FAILURE, CONTROLLER, "pause K", action)
    wait = KRAFT_FAILOVER_MS if sim.profile.kraft else sim.configs.session_timeout_ms
    sim.kernel.schedule(wait, FAILURE, CONTROLLER, FailOver(k.epoch))


def resume_controller(sim: World) -> None:
    """Resume a controller.  Without a successor it goes on; else it is a zombie for now."""
    if sim.cluster.quorum is not None:
        voter_faults.resume_all(sim)
        return
    k, zombie = sim.cluster.controller, sim.cluster.zombie
    assert zombie is not None
    took_over = k.epoch > zombie.epoch
    if not took_over:
        sim.cluster.zombie = None

    def action(out: Effects) -> None:
        out.cue("CP-8.3.resume", CONTROLLER, "controller", "paused", "up")
        if took_over:
            if not sim.profile.kraft:
                send_queued_requests(zombie, out)
            return
        sim.network.controller_up = True
        running = {b for b, broker in sim.brokers.items() if broker.status == UP}
        resume_without_successor(k, running, out)
        for broker in sorted(running):
            faults.hear_again(sim, broker, out)

    sim.act(FAILURE, CONTROLLER, "resume K", action)


def finish_resume(sim: World) -> None:
    """Play the zombie's last step.

    What it writes or appends does not count (but for ZooKeeper before 2.1).
    """
    k, zombie = sim.cluster.controller, sim.cluster.zombie
    if zombie is not None:
        sim.cluster.zombie = None
        action = "controller resigns"
        sim.act(FAILURE, CONTROLLER, action, lambda out: resign(zombie, k, out))


def send_queued_requests(zombie: Controller, out: Effects) -> None:
    """CP-LISR.  Send the requests that waited in its queues, with the epoch of its term."""
    states = [(tp, record, False) for tp, record in zombie.records.items()]
    for broker in zombie.brokers:
        assigned = [state for state in states if broker in state[1].replicas]
        if assigned:
            znodes.send_leader_and_isr(zombie, broker, assigned, out)


def resign(zombie: Controller, k: Controller, out: Effects) -> None:
    """CP-ZK-CTRL.  Resign when the first write of a deposed controller fails.

    From 2.1 on every write of a controller is conditional on the version of /controller_epoch.  A
    KRaft leader's appends reach no majority: none counts.

    Before 2.1 (`KafkaZkClient.expectedControllerEpochZkVersion`, KAFKA-6082) it handles first what
    waited in its queue, and resigns when it hears that its session is over.  Before 0.8.2 it hears
    first of the new epoch, and takes it for its own (`ControllerEpochListener` at 0.8.1.1,
    KAFKA-1096): brokers obey it.
    """
    before = zombie.epoch
    if before < k.epoch:
        rule = "CP-10.deposed" if k.profile.kraft else "CP-ZK-CTRL"
        if not k.profile.kraft and not k.profile.controller_writes_fenced:
            rule = "CP-ZK-CTRL.expired"
            if k.profile.deposed_takes_epoch:
                zombie.epoch = k.epoch
            write_unfenced(zombie, k, out)
        out.cue(rule, CONTROLLER, "controller epoch", before, k.epoch)


def write_unfenced(zombie: Controller, k: Controller, out: Effects) -> None:
    """CP-ZK-CTRL, before 2.1.  Write leader and ISR after the deaths that waited for it.

    It writes those partitions whose znode no newer controller has written
    (`ReplicaStateMachine.getTopicPartitionStatesFromZk` at 2.0.1); no broker accepts what it then
    sends.
    """
    for dead in zombie.queued:
        zombie.brokers.pop(dead, None)
        tps = [
            tp
            for tp, record in zombie.records.items()
            if dead in record.replicas
            and tp in k.records
            and k.records[tp].leader_epoch == record.leader_epoch
        ]
        for tp in tps:
            zombie.records[tp] = k.records[tp]
        znodes.replicas_died(zombie, dead, tps, out)
        for tp in tps:
            k.records[tp] = zombie.records[tp]


def resume_without_successor(k: Controller, running: set[int], out: Effects) -> None:
    """8.3.  Go on after waking without a successor: held requests leave, sessions are renewed."""
    k.alive = True
    k.check_at = NEVER
    for broker, registration in k.brokers.items():
        if broker in running:
            registration.last_contact = out.now
    if not k.profile.kraft:
        zookeeper.arm_session_check(k, out)
        return
    kraft.arm_fence_check(k, out)
    if k.committed < len(k.log):
        out.timer(CONTROLLER, k.configs.commit_ms, COMMIT, (k.epoch, len(k.log)))
