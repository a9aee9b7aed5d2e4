"""Subjects `partition_change`, `zk_election` and `reassignment_plan`."""

from __future__ import annotations

from typing import Final

from engine.controlplane import election, elr, reassignment
from engine.model.profiles import get_profile
from engine.model.records import NO_LEADER, PartitionRecord
from tests.conformance.adapter import Adapter, Fields, ids

_ELECTIONS: Final = {
    "online": election.ONLINE,
    "preferred": election.PREFERRED,
    "unclean": election.UNCLEAN,
}
_STRATEGIES: Final = {
    "offline": election.OFFLINE,
    "reassign": election.REASSIGN,
    "preferred": election.PREFERRED_REPLICA,
    "controlled_shutdown": election.CONTROLLED_SHUTDOWN,
}


def version_of(version: str) -> tuple[int, ...]:
    """Convert "3.5" to (3, 5)."""
    return tuple(int(part) for part in version.split("."))


def record_of(given: Fields) -> PartitionRecord:
    """Return a partition as a case writes it."""
    return PartitionRecord(
        ids(given["replicas"]),
        ids(given["isr"]),
        given.get("leader", NO_LEADER),
        given.get("leader_epoch", 0),
        given.get("partition_epoch", 0),
        ids(given.get("adding")),
        ids(given.get("removing")),
        ids(given.get("elr")),
        ids(given.get("last_known_elr")),
        given.get("recovery") == "recovering",
    )


def record_fields(record: PartitionRecord) -> Fields:
    """Return a partition as a case expects it."""
    return {
        "replicas": list(record.replicas),
        "isr": list(record.isr),
        "leader": record.leader,
        "leader_epoch": record.leader_epoch,
        "partition_epoch": record.partition_epoch,
        "adding": list(record.adding),
        "removing": list(record.removing),
        "elr": list(record.elr),
        "last_known_elr": list(record.last_known_elr),
        "recovery": "recovering" if record.recovering else "recovered",
    }


class PartitionChangeCase(Adapter):
    """`partition_change`: CP-ELECT-KR."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.record = record_of(given["partition"])
        self.alive = set(given.get("alive", ()))
        self.elr = given.get("elr", False)
        version = version_of(
            given.get("metadata_version", release or ("4.0" if self.elr else "3.7"))
        )
        self.profile = get_profile("K39").with_flags(
            {
                "shrink_bumps_leader_epoch": version < (3, 6),
                "reassign_needs_all_targets": version >= (3, 8),
                "reassign_spares_out_of_sync": version >= (4, 3),
                "leader_recovery_state": version >= (3, 2),
            }
        )

    def op_build(self, a: Fields) -> Fields:
        if "alive" in a:
            self.alive = set(a["alive"])
        recovery = a.get("recovery")
        change = election.change_partition(
            self.record,
            self.profile,
            election.Target(
                _requested(a, "isr"),
                _requested(a, "replicas"),
                _requested(a, "adding"),
                _requested(a, "removing"),
                None if recovery is None else recovery == "recovering",
                ids(a.get("unclean_shutdown")),
            ),
            acceptable=self.alive.__contains__,
            min_isr=self.given.get("min_insync_replicas", 2),
            elr=self.elr,
            last_known_leader=self.given.get("last_known_leader", True),
            election=_ELECTIONS[a.get("election", "online")],
        )
        self.record = change.record
        return {**record_fields(change.record), "changed": change.changed}

    def op_elect(self, a: Fields) -> Fields:
        record = self.record
        isr = _requested(a, "isr")
        replicas = _requested(a, "replicas")
        target_isr = record.isr if isr is None else isr
        target_replicas = record.replicas if replicas is None else replicas
        eligible = record.elr if self.elr else ()
        last_known = NO_LEADER
        if self.elr and self.given.get("last_known_leader", True):
            last_known = elr.last_known_leader(record, target_isr, eligible, target_replicas)
        leader, unclean = election.choose_kr(
            _ELECTIONS[a.get("election", "online")],
            record.leader,
            target_replicas,
            target_isr,
            eligible,
            self.alive.__contains__,
            last_known,
        )
        return {"leader": leader, "unclean": unclean}


def _requested(a: Fields, name: str) -> tuple[int, ...] | None:
    return None if a.get(name) is None else ids(a[name])


class ZkElectionCase(Adapter):
    """`zk_election`: CP-ELECT-ZK."""

    def op_elect(self, a: Fields) -> Fields:
        live = set(self.given.get("live", ()))
        leader, unclean = election.choose_zk(
            _STRATEGIES[a["strategy"]],
            ids(self.given["assignment"]),
            ids(self.given["isr"]),
            live.__contains__,
            shutting_down=ids(self.given.get("shutting_down")),
            unclean=self.given.get("unclean", False),
        )
        return {"leader": None if leader == NO_LEADER else leader, "unclean": unclean}


class ReassignmentCase(Adapter):
    """`reassignment_plan`: the pure part of CP-REASSIGN-KR."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        current = ids(given["current"])
        if given.get("target") is not None:
            self.plan = reassignment.plan(current, ids(given["target"]))
        else:
            adding, removing = ids(given.get("adding")), ids(given.get("removing"))
            self.plan = reassignment.Plan(current, adding, removing)

    def op_plan(self, a: Fields) -> Fields:
        return {
            "adding": sorted(self.plan.adding),
            "removing": sorted(self.plan.removing),
            "replicas": list(self.plan.replicas),
            "in_progress": bool(self.plan.adding or self.plan.removing),
        }

    def op_complete(self, a: Fields) -> Fields:
        plan = self.plan
        final = reassignment.complete(
            plan.replicas, plan.adding, plan.removing, ids(a["isr"]), needs_all_targets=True
        )
        if final is None:
            return {"complete": False, "replicas": None, "isr": None}
        return {"complete": True, "replicas": list(final[0]), "isr": list(final[1])}

    def op_original(self, a: Fields) -> Fields:
        return {"replicas": list(reassignment.original(self.plan.replicas, self.plan.adding))}

    def op_revert(self, a: Fields) -> Fields:
        plan = self.plan
        left = reassignment.revert(plan.replicas, ids(self.given.get("isr")), plan.adding)
        return {"replicas": list(left.replicas), "isr": list(left.isr), "unclean": left.unclean}
