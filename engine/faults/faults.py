"""Faults and their ends: each one function on the simulation (control-plane 8).

Every function is one event; `fault_plan` strikes with them by a rate or a schedule.
"""

from __future__ import annotations

from typing import Any

from engine.controlplane import failover, kraft, membership, sender, storage, zookeeper
from engine.dataplane import directories
from engine.dataplane.recovery import lose_unflushed
from engine.faults import voter_faults
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER, PRODUCE, Message
from engine.model.state import DOWN, NEVER, PAUSED, UP
from engine.sim import dispatch
from engine.sim.kernel import FAILURE, TIMER, Chance
from engine.sim.world import World

# -- processes and machines -----------------------------------------------------------------------


def kill(sim: World, broker: int) -> None:
    """Kill a process (kill -9).  The log survives in the OS's page cache; memory does not."""

    def action(out: Effects) -> None:
        out.cue("CP-8.1.kill", broker, "process", "up", "down")
        sim.stop_process(broker)

    sim.act(FAILURE, broker, f"kill {broker}", action)


def power(sim: World, broker: int, chance: Chance | None = None) -> None:
    """L-11, power loss.  Lose what was not flushed: all of it, or with `chance` a part."""

    def action(out: Effects) -> None:
        out.cue("CP-8.1.power", broker, "machine", "up", "down")
        sim.stop_process(broker)
        for move in sim.brokers[broker].machine.futures.values():
            lose_unflushed(move.disk)
        for tp, disk in sim.brokers[broker].machine.disks.items():
            before = disk.log.leo
            spared = 0
            if chance is not None:
                spared = chance.below(max(0, before - disk.log.flushed) + 1)
            lost = lose_unflushed(disk, spared)
            out.cue("L-11", broker, "leo", before, disk.log.leo, tp=tp)
            out.cue("L-11.lost", broker, "cut", tp, tuple(lost), tp=tp)

    sim.act(FAILURE, broker, f"power {broker}", action)


def wipe(sim: World, broker: int, directory: int = 0) -> None:
    """Replace the disks, or the one of a log directory, by empty ones.

    Stops the process first if it still runs.
    """

    def action(out: Effects) -> None:
        out.cue("CP-8.1.wipe", broker, "disk", directory or "full", "empty")
        if sim.brokers[broker].status != DOWN:
            sim.stop_process(broker)
        machine = sim.brokers[broker].machine
        machine.disks = {
            tp: disk for tp, disk in machine.disks.items() if directory not in (0, disk.dir)
        }
        machine.futures = {
            tp: move
            for tp, move in machine.futures.items()
            if tp in machine.disks and move.disk.dir != directory
        }
        machine.broken = machine.broken - {directory} if directory else set()
        machine.clean_epoch = -1

    sim.act(FAILURE, broker, f"wipe {broker}", action)


def fail_disk(sim: World, broker: int, directory: int) -> None:
    """8.4.  Fail a log directory, now or when the process starts."""

    def action(out: Effects) -> None:
        node = sim.brokers[broker]
        out.cue("CP-8.1.disk", broker, "directory", None, directory)
        node.machine.broken.add(directory)
        if node.process is not None:
            storage.fail_directory(node.process, directory, out)

    sim.act(FAILURE, broker, f"disk_fail {broker} {directories.name(directory)}", action)


def cannot_start(sim: World, broker: int) -> bool:
    """8.4.  Check for a broker without a working directory, or that needs them all."""
    machine = sim.brokers[broker].machine
    if not machine.broken:
        return False
    return not directories.working(machine) or not directories.survives_a_failed_directory(machine)


def start(sim: World, broker: int, bounced: bool = False) -> None:
    """Start the process, which asks to be registered."""

    def action(out: Effects) -> None:
        out.cue("CP-8.2.start", broker, "process", "down", "starting")
        sim.start_process(broker, out, bounced)

    sim.act(FAILURE, broker, f"restart {broker}", action)


def bounce(sim: World, broker: int) -> None:
    """Crash and restart so quickly that the ZooKeeper session's znode is replaced at once.

    KRaft knows no such thing: the new process is refused until the old session is over.
    """
    kill(sim, broker)
    start(sim, broker, bounced=sim.profile.mode == "zk")


def shut_down(sim: World, broker: int) -> None:
    def action(out: Effects) -> None:
        out.cue("CP-SHUTDOWN", broker, "process", "up", "shutting down")
        membership.begin_shutdown(sim.brokers[broker].running, out)

    sim.act(FAILURE, broker, f"shutdown {broker}", action)


def pause(sim: World, broker: int) -> None:
    """8.3.  Pause a process (GC, SIGSTOP, a frozen VM): nothing is handled, nothing is lost."""

    def action(out: Effects) -> None:
        out.cue("CP-8.3.pause", broker, "process", "up", "paused")
        sim.brokers[broker].running.status = PAUSED
        kraft.expire_fetch(sim.cluster.controller, broker, out)

    sim.act(FAILURE, broker, f"pause {broker}", action)


def resume(sim: World, broker: int) -> None:
    """8.3.  Handle what has queued up, client requests before new metadata."""

    def action(out: Effects) -> None:
        out.cue("CP-8.3.resume", broker, "process", "paused", "up")
        sim.brokers[broker].running.status = UP
        waiting = sim.deferred.pop(broker, [])
        waiting.sort(key=lambda event: (_waits_behind(event[4]), event[3]))
        for _, kind, node, _, payload in waiting:
            sim.kernel.schedule(0, kind, node, payload)

    sim.act(FAILURE, broker, f"resume {broker}", action)


def _waits_behind(payload: Any) -> int:
    if isinstance(payload, Message):
        return 0 if payload.kind == PRODUCE else 1
    return 2


def jump(sim: World, broker: int, ms: int) -> None:
    """8.7.  Move the wall clock ahead, or back (`ms` below 0).

    Only the follower clocks of a leader read it, as differences: what it remembers of its followers
    is now `ms` longer ago, or lies ahead, so that no follower is found out of sync for that much
    longer.
    """

    def action(out: Effects) -> None:
        out.cue("CP-8.7.jump", broker, "clock", None, ms)
        for replica in sim.brokers[broker].replicas.values():
            for remote in replica.remote.values():
                if remote.last_caught_up_ms != NEVER:
                    remote.last_caught_up_ms -= ms
                if remote.last_fetch_ms != NEVER:
                    remote.last_fetch_ms -= ms

    sim.act(FAILURE, broker, f"jump {broker}", action)


def kill_controller(sim: World) -> None:
    """10.  Kill the active controller: leaders go on, nothing is elected, fenced or confirmed."""
    if sim.cluster.quorum is not None:
        voter_faults.kill(sim, sim.cluster.controller.voter)
        return

    def action(out: Effects) -> None:
        out.cue("CP-10.down", CONTROLLER, "controller", "active", "none")
        _without_controller(sim, out)

    sim.act(FAILURE, CONTROLLER, "kill K", action)


def _without_controller(sim: World, out: Effects) -> None:
    """End the term of the active controller; what was not committed by then is lost."""
    k = sim.cluster.controller
    k.alive = False
    sim.network.controller_up = False
    sim.network.break_connections(CONTROLLER)
    for tp in failover.lose_uncommitted(k, out):
        sim.checker.goes_back(tp)


def start_controller(sim: World) -> None:
    """10, CP-ZK-CTRL.  Begin a new controller term, with new soft state, above all sessions.

    10.1: where the voters are played, those that are down start, and an election decides.
    """
    if sim.cluster.quorum is not None:
        voter_faults.start_all(sim, sim.cluster.quorum)
        return

    def action(out: Effects) -> None:
        k = sim.cluster.controller
        out.cue("CP-10.up", CONTROLLER, "controller epoch", k.epoch, k.epoch + 1)
        for tp in failover.lose_uncommitted(k, out) if sim.profile.kraft else ():
            sim.checker.goes_back(tp)
        k.alive = True
        k.epoch += 1
        k.check_at = NEVER
        sim.network.controller_up = True
        if sim.profile.mode == "kraft":
            failover.take_over(k, out)
        else:
            running = {b for b, broker in sim.brokers.items() if broker.status == UP}
            zookeeper.resume(k, running, out)
        for broker in sim.brokers.values():
            if broker.status == UP:
                hear_again(sim, broker.id, out)

    sim.act(FAILURE, CONTROLLER, "restart K", action)


def finish_controller_start(sim: World) -> None:
    """CP-ZK-CTRL 8, 9.  Take out dead replicas and elect, all live brokers known."""
    if sim.profile.mode == "zk":
        k = sim.cluster.controller
        sim.act(TIMER, CONTROLLER, "controller start-up", lambda out: zookeeper.start_up(k, out))


# -- links ----------------------------------------------------------------------------------------


def cut(sim: World, a: int, b: int, both: bool = True) -> None:
    """8.5.  Cut the link from a to b (and back); connections between them break."""

    def action(out: Effects) -> None:
        out.cue("CP-8.5.cut", a, "link", None, (a, b, both))
        sim.network.cut(a, b, both)

    sim.act(FAILURE, a, f"cut {a} {b}", action)


def cut_zookeeper(sim: World, broker: int, back: bool = False) -> None:
    """8.5.  Cut a broker off ZooKeeper but not the controller; `back` ends that."""

    def action(out: Effects) -> None:
        out.cue("CP-8.5.zookeeper", broker, "zookeeper", not back, back)
        if not back:
            sim.network.cut_zookeeper(broker)
            return
        sim.network.heal_zookeeper(broker)
        if sim.brokers[broker].status == UP:
            hear_again(sim, broker, out)

    sim.act(FAILURE, broker, f"{'heal' if back else 'cut'} {broker} zk", action)


def heal(sim: World, a: int, b: int) -> None:
    """Mend the link; a broker fetches news from the controller at once."""

    def action(out: Effects) -> None:
        out.cue("CP-8.5.heal", a, "link", None, (a, b))
        sim.network.heal(a, b)
        for broker_id in (a, b):
            broker = sim.brokers.get(broker_id)
            if broker is not None and CONTROLLER in (a, b) and broker.status == UP:
                hear_again(sim, broker_id, out)

    sim.act(FAILURE, a, f"heal {a} {b}", action)


def hear_again(sim: World, broker_id: int, out: Effects) -> None:
    """Send what a broker sends once it reaches its controller again.

    It fetches metadata, and sends a heartbeat and its pending AlterPartition.
    """
    broker = sim.brokers[broker_id].running
    if sim.profile.mode == "kraft" and not broker.metadata_corr:
        membership.fetch_metadata(broker, out)
    membership.send_heartbeat(broker, out)
    membership.on_alter_timer(broker, out)
    if sim.profile.mode == "zk":
        sender.repeat(sim.cluster.controller, broker_id, out)
        if broker.machine.broken:
            storage.tell_controller(broker, out)


def slow(sim: World, a: int, b: int, delay_ms: int) -> None:
    """Make the link slower by `delay_ms` in both directions; 0 makes it as all others."""

    def action(out: Effects) -> None:
        out.cue("CP-8.6.slow", a, "link", None, (a, b, delay_ms))
        sim.network.link(a, b).delay = sim.network.link(b, a).delay = delay_ms
        sim.network.tidy()

    sim.act(FAILURE, a, f"slow {a} {b}", action)


def lose(sim: World, a: int, b: int, share: float) -> None:
    """Make the link lose this share of its messages, in both directions."""
    percent = round(share * 100, 1)

    def action(out: Effects) -> None:
        out.cue("CP-8.6.lose", a, "link", None, (a, b, percent))
        sim.network.link(a, b).loss = sim.network.link(b, a).loss = share
        sim.network.tidy()

    sim.act(FAILURE, a, f"lose {a} {b}", action)


# -- disks ----------------------------------------------------------------------------------------


def slow_disk(sim: World, broker: int, rate: float, reads: bool = False) -> None:
    """8.6.  Limit a disk's writes, or its `reads` for followers, to `rate` records a second.

    0 makes it as all others.
    """

    def action(out: Effects) -> None:
        out.cue("CP-8.6.slow_disk", broker, "reads" if reads else "disk", None, rate)
        machine = sim.brokers[broker].machine
        if reads:
            machine.read_rate = rate
        else:
            machine.disk_rate = rate
        sim.on_broker = {**sim.on_broker, **dispatch.ON_SLOW_DISKS}

    sim.act(FAILURE, broker, f"slow_disk {broker}", action)
