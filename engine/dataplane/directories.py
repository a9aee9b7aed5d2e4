"""The log directories of one broker: where a log goes, and how the controller hears of it."""

from __future__ import annotations

from engine.model.broker import Machine, Process
from engine.model.control_messages import AssignReplicasToDirs, AssignReplicasToDirsResponse
from engine.model.effects import Effects
from engine.model.errors import NONE
from engine.model.messages import CONTROLLER
from engine.model.timers import ASSIGN_RETRY

RETRY_MS = 1_000


def name(directory: int) -> str:
    """Return the name in texts and moves: d1."""
    return f"d{directory}"


def working(machine: Machine) -> list[int]:
    """Return the directories that can be read and written."""
    return [one for one in range(1, machine.dirs + 1) if one not in machine.broken]


def least_used(machine: Machine) -> int:
    """L-2, LogManager.nextLogDirs.  Return the directory with the fewest logs for a new one."""
    choice = working(machine)
    if len(choice) == 1:
        return choice[0]
    taken = [disk.dir for disk in machine.disks.values()]
    taken += [move.disk.dir for move in machine.futures.values()]
    return min(choice, key=taken.count)


def survives_a_failed_directory(machine: Machine) -> bool:
    """L-16.  Check for KIP-112 (ZooKeeper, 1.0) or KIP-858 (KRaft, 3.7)."""
    return machine.profile.dir_failure_zk or machine.profile.dir_failure_kraft


# -- reports to the controller, KRaft --------------------------------------------------------------


def assign(broker: Process, tp: int, directory: int, out: Effects) -> None:
    """KIP-858.  Report to the controller the directory of a log, unless there is only one.

    Pending assignments travel together, one request at a time.
    """
    if broker.machine.dirs > 1 and broker.profile.dir_failure_kraft:
        broker.assignments[tp] = directory
        send_assignments(broker, out)


def send_assignments(broker: Process, out: Effects) -> bool:
    """AssignmentsManager.  Send; False if there is nothing to send, or a request is out."""
    if broker.assign_corr or not broker.assignments:
        return False
    broker.assign_corr = broker.next_corr()
    items = tuple(broker.assignments.items())
    out.send(
        AssignReplicasToDirs(broker.id, CONTROLLER, broker.assign_corr, broker.broker_epoch, items)
    )
    return True


def on_assignment_answer(
    broker: Process, m: AssignReplicasToDirsResponse, out: Effects
) -> list[tuple[int, int]]:
    """Note what the controller has accepted: (partition, directory)."""
    if m.corr != broker.assign_corr:
        return []
    broker.assign_corr = 0
    if m.error != NONE:
        out.timer(broker.id, RETRY_MS, ASSIGN_RETRY)
        return []
    accepted = [item for item in m.items if broker.assignments.get(item[0]) == item[1]]
    for tp, _ in accepted:
        del broker.assignments[tp]
    send_assignments(broker, out)
    return accepted


def on_assignment_broken(broker: Process, corr: int, out: Effects) -> None:
    """Send the request again until a controller answers."""
    if corr == broker.assign_corr:
        broker.assign_corr = 0
        out.timer(broker.id, RETRY_MS, ASSIGN_RETRY)
