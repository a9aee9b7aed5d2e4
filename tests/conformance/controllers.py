"""Subjects `controller` and `liveness`: the KRaft controller's brokers and partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.controlplane import (
    admin,
    election,
    kraft,
    liveness,
    placement,
    zk_reassign,
    zk_topics,
    zookeeper,
)
from engine.model import configs, errors, profiles
from engine.model.control_messages import (
    AlterItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from engine.model.controller import Controller, Registration
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import NO_LEADER, PartitionRecord
from tests.conformance import admin_requests
from tests.conformance.adapter import Adapter, Fields, ids, or_null
from tests.conformance.brokers import profile_for
from tests.conformance.chance import JavaLcg17
from tests.conformance.elections import record_fields, version_of
from tests.conformance.sessions import topic_of

EPOCH_OFFSET: Final = 100
"""The broker epoch of broker n is n + 100 unless set."""

STATES: Final = {
    liveness.FENCED: "fenced",
    liveness.UNFENCED: "unfenced",
    liveness.CONTROLLED_SHUTDOWN: "controlled_shutdown",
    liveness.SHUTDOWN_NOW: "shutdown_now",
}


class ControllerCase(Adapter):
    """`controller`: CP-KR-, CP-ELECT-KR, CP-ALTER, CP-ELR, CP-PREFERRED, CP-REASSIGN-KR."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        elr = given.get("elr", False)
        self.zk = generation == "zk"
        newest = "K41" if elr or generation == "kraft_elr" else "K39"
        if release:
            profile = profile_for(profiles.ZK if self.zk else profiles.KRAFT, generation, release)
        else:
            profile = profiles.get_profile("Z33" if self.zk else newest)
        if "metadata_version" in given or not release:
            version = version_of(given.get("metadata_version", "4.0"))
            profile = profile.with_flags(
                {
                    "shrink_bumps_leader_epoch": not self.zk and version < (3, 6),
                    "leader_recovery_state": version >= (3, 2),
                }
            )
        settings = configs.build(
            profile,
            {
                "min.insync.replicas": given.get("min_insync_replicas", 1),
                "unclean.leader.election.enable": int(given.get("unclean", False)),
                "eligible.leader.replicas.version": int(elr),
            },
        )
        self.k = Controller(profile, settings)
        self.out = Effects()
        self.chance = JavaLcg17()
        racks = given.get("racks", {})
        # To ZooKeeper's controller a broker is there or not: none is registered and fenced.
        for broker in given.get("unfenced" if self.zk else "brokers", ()):
            self._register(broker, broker + EPOCH_OFFSET, racks.get(str(broker)))
        for broker in given.get("unfenced", ()):
            self.k.brokers[broker].fenced = False
        for broker in given.get("controlled_shutdown", ()):
            self.k.brokers[broker].shutting_down = True
        for name, topic in given.get("topics", {}).items():
            self.op_create_topic({"topic": name, "assignments": topic["assignments"]})
            self.op_set_config({"topic": name, **topic.get("config", {})})

    def _register(self, broker: int, epoch: int, rack: str | None) -> None:
        self.k.brokers[broker] = Registration(epoch, 0, rack or "", self.out.now)

    def _tp(self, name: str, index: int) -> int:
        return admin_requests.number(self.k, name, index)

    def _where(self, tps: Iterable[int]) -> list[list[Any]]:
        """Return partitions as [topic, index], sorted."""
        of = {tp: [n, i] for n, t in self.k.topics.items() for i, tp in enumerate(t.tps)}
        return sorted(of[tp] for tp in tps)

    def _text(self, tp: int) -> str:
        ((name, index),) = self._where([tp])
        return f"{name}-{index}"

    def _moved(self, before: dict[int, PartitionRecord]) -> list[list[Any]]:
        """Return the partitions whose leader is another one now."""
        return self._where(
            tp for tp, r in self.k.records.items() if tp in before and r.leader != before[tp].leader
        )

    # -- brokers -----------------------------------------------------------------------------------

    def op_register(self, a: Fields) -> Fields:
        broker = a["broker"]
        known = self.k.brokers.get(broker)
        self._register(
            broker, a.get("epoch", broker + EPOCH_OFFSET), None if known is None else known.rack
        )
        return {}

    def op_unfence(self, a: Fields) -> Fields:
        for broker in a["brokers"]:
            if self.zk:
                self._register(broker, broker + EPOCH_OFFSET, None)
                zookeeper.on_broker_startup(self.k, broker, self.out)
            else:
                kraft.unfence(self.k, broker, self.out)
        return {}

    def op_fence(self, a: Fields) -> Fields:
        for broker in a["brokers"]:
            if self.zk:
                zookeeper.on_broker_failure(self.k, broker, self.out)
            else:
                kraft.append(self.k, kraft.fence(self.k, broker, self.out), self.out)
        return {}

    def op_begin_controlled_shutdown(self, a: Fields) -> Fields:
        before = dict(self.k.records)
        kraft.begin_controlled_shutdown(self.k, a["broker"], self.out)
        changed = [tp for tp, record in self.k.records.items() if record is not before[tp]]
        return {"affected": self._where(changed)}

    def op_mark_controlled_shutdown(self, a: Fields) -> Fields:
        self.k.brokers[a["broker"]].shutting_down = True
        return {}

    def op_unclean_shutdown(self, a: Fields) -> Fields:
        kraft.append(self.k, kraft.lose_uncleanly(self.k, a["broker"], self.out), self.out)
        return {}

    # -- topics ------------------------------------------------------------------------------------

    def op_create_topic(self, a: Fields) -> Fields:
        lists = _lists(a.get("assignments"))
        if lists is not None:
            create = zk_topics.create_topic if self.zk else admin.create_manually
            return _error(create(self.k, a["topic"], lists, self.out))
        error = admin_requests.create(
            self.k,
            a["topic"],
            a.get("partitions", admin_requests.DEFAULT),
            a.get("replication_factor", admin_requests.DEFAULT),
            self.chance,
            self.out,
            self.given.get("default_replication_factor", admin_requests.DEFAULT_FACTOR),
        )
        return _error(error)

    def op_create_partitions(self, a: Fields) -> Fields:
        name, count, lists = a["topic"], a["count"], _lists(a.get("assignments"))
        if lists is not None:
            return _error(admin.create_partitions(self.k, name, count, lists, self.out))
        return _error(admin_requests.grow(self.k, name, count, self.chance, self.out))

    def op_delete_topic(self, a: Fields) -> Fields:
        return _error(admin.delete_topic(self.k, a["topic"], self.out))

    def op_set_config(self, a: Fields) -> Fields:
        min_isr, unclean = a.get("min_insync_replicas"), a.get("unclean")
        if a.get("topic") is not None:
            admin_requests.configure(self.k, a["topic"], self.out, min_isr=min_isr, unclean=unclean)
            return {}
        settings = self.k.configs
        if min_isr is not None:
            settings = settings.changed(self.k.profile, "min.insync.replicas", min_isr)
        if unclean is not None:
            name = "unclean.leader.election.enable"
            settings = settings.changed(self.k.profile, name, int(unclean))
        kraft.set_configs(self.k, settings, min_isr is not None, self.out)
        return {}

    def op_effective_min_isr(self, a: Fields) -> Fields:
        return {"value": admin.effective_min_isr(self.k, a["topic"])}

    def op_validate_assignment(self, a: Fields) -> Fields:
        factor = a.get("replication_factor")
        return _error(placement.check_manual([ids(a["replicas"])], self.k.brokers, factor))

    # -- partitions --------------------------------------------------------------------------------

    def op_alter_partition(self, a: Fields) -> Fields:
        tp = self._tp(a["topic"], a["partition"])
        record = self.k.records.get(tp)
        anybody = min(self.k.brokers, default=NO_LEADER)
        sender = a.get("broker", anybody if record is None else record.leader)
        version = a.get("version", 3)
        claimed = a.get("isr_epochs", {})
        isr = tuple((b, self._claimed(b, claimed) if version >= 3 else -1) for b in a["isr"])
        item = AlterItem(
            tp,
            a.get("leader_epoch", -1 if record is None else record.leader_epoch),
            a.get("partition_epoch", -1 if record is None else record.partition_epoch),
            isr,
            a.get("recovery") == "recovering",
            a["topic"],
        )
        epoch = a.get("broker_epoch", self._epoch_of(sender))
        handle = zookeeper.on_alter_partition if self.zk else kraft.on_alter_partition
        handle(
            self.k,
            AlterPartitionRequest(sender, CONTROLLER, 0, epoch, (item,), False, version),
            self.out,
        )
        return self._alter_answer()

    def _epoch_of(self, broker: int) -> int:
        registration = self.k.brokers.get(broker)
        return -1 if registration is None else registration.epoch

    def _claimed(self, broker: int, claimed: Fields) -> int:
        return int(claimed.get(str(broker), self._epoch_of(broker)))

    def _alter_answer(self) -> Fields:
        sends, self.out.sends = self.out.sends, []
        answer = next(m for m in sends if isinstance(m, AlterPartitionResponse))
        if answer.error:
            return _error(answer.error)
        one = answer.items[0]
        return {
            **_error(one.error),
            "leader": one.leader,
            "leader_epoch": one.leader_epoch,
            "partition_epoch": one.partition_epoch,
            "isr": list(one.isr),
        }

    def op_elect_leaders(self, a: Fields) -> Fields:
        before = dict(self.k.records)
        unclean = a["type"] == "unclean"
        if a.get("partitions") is None:
            results = {
                self._text(tp): error
                for tp, error in admin_requests.elect_all(self.k, unclean, self.out).items()
            }
        else:
            results = {
                f"{name}-{index}": admin.elect_leader(
                    self.k, self._tp(name, index), unclean, self.out
                )
                for name, index in a["partitions"]
            }
        return {
            "errors": {tp: errors.name_of(error) for tp, error in results.items()},
            "changed": self._moved(before),
        }

    def op_balance(self, a: Fields) -> Fields:
        before = dict(self.k.records)
        kraft.on_preferred_check(self.k, self.out)
        imbalanced = any(election.imbalanced(record) for record in self.k.records.values())
        return {"changed": self._moved(before), "imbalanced_after": imbalanced}

    def op_elect_unclean_if_enabled(self, a: Fields) -> Fields:
        before = dict(self.k.records)
        kraft.on_unclean_check(self.k, self.out)
        return {"changed": self._moved(before)}

    def op_imbalanced(self, a: Fields) -> Fields:
        return {"imbalanced": any(map(election.imbalanced, self.k.records.values()))}

    def op_reassign(self, a: Fields) -> Fields:
        results = {}
        for text, target in a["targets"].items():
            wanted = None if target is None else ids(target)
            tp = self._tp(*topic_of(text))
            change = zk_reassign.reassign if self.zk else admin.reassign
            results[text] = errors.name_of(change(self.k, tp, wanted, self.out))
        return {"errors": results}

    def op_list_reassignments(self, a: Fields) -> Fields:
        asked = a.get("partitions")
        tps = None if asked is None else [self._tp(name, index) for name, index in asked]
        ongoing = {}
        for tp in admin_requests.reassigning(self.k, tps):
            fields = record_fields(self.k.records[tp])
            ongoing[self._text(tp)] = {f: fields[f] for f in ("replicas", "adding", "removing")}
        return {"ongoing": ongoing}

    # -- observing ---------------------------------------------------------------------------------

    def op_leaderships(self, a: Fields) -> Fields:
        led = [tp for tp, record in self.k.records.items() if record.leader == a["broker"]]
        return {"partitions": self._where(led)}

    def op_partition(self, a: Fields) -> Fields:
        record = self.k.records.get(self._tp(a["topic"], a["partition"]))
        if record is None:
            return {"exists": False}
        return {**record_fields(record), "exists": True}


class LivenessCase(Adapter):
    """`liveness`: CP-KR-HB, CP-KR-FENCE, CP-KR-SHUTDOWN on the table of brokers alone."""

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.now = given.get("now_ms", 0)
        self.timeout = given.get("session_timeout_ms", 10)
        self.brokers = {b: Registration(0, 0, "", self.now) for b in given.get("brokers", ())}

    def op_touch(self, a: Fields) -> Fields:
        registration = self.brokers.get(a["broker"])
        if registration is None:
            return {"error": "ILLEGAL_STATE"}
        liveness.touch(registration, a["fenced"], a.get("offset", 0), self.now)
        return {}

    def op_fence(self, a: Fields) -> Fields:
        liveness.fence(self.brokers[a["broker"]])
        return {}

    def op_remove(self, a: Fields) -> Fields:
        self.brokers.pop(a["broker"], None)
        return {}

    def op_controlled_shutdown_offset(self, a: Fields) -> Fields:
        registration = self.brokers.get(a["broker"])
        if registration is None or not liveness.enter_controlled_shutdown(registration):
            return {"error": "ILLEGAL_STATE"}
        liveness.note_shutdown(registration, a["offset"])
        return {}

    def op_advance_time(self, a: Fields) -> Fields:
        self.now += a["ms"]
        return {}

    def op_valid_session(self, a: Fields) -> Fields:
        registration = self.brokers.get(a["broker"])
        return {"valid": liveness.has_valid_session(registration, self.now, self.timeout)}

    def op_stale(self, a: Fields) -> Fields:
        return {"broker": or_null(liveness.stale(self.brokers, self.now, self.timeout))}

    def op_next_check_ms(self, a: Fields) -> Fields:
        return {"at_ms": or_null(liveness.next_check(self.brokers, self.timeout))}

    def op_unfenced(self, a: Fields) -> Fields:
        return {"brokers": liveness.by_silence(self.brokers)}

    def op_lowest_active_offset(self, a: Fields) -> Fields:
        return {"offset": liveness.lowest_active_offset(self.brokers)}

    def op_get_controlled_shutdown_offset(self, a: Fields) -> Fields:
        return {"offset": or_null(self.brokers[a["broker"]].shutdown_at)}

    def op_usable(self, a: Fields) -> Fields:
        return {"brokers": [list(one) for one in liveness.usable(self.brokers)]}

    def op_next_state(self, a: Fields) -> Fields:
        registration = self.brokers.get(a["broker"])
        if registration is None:
            return {"error": "ILLEGAL_STATE"}
        after = liveness.next_state(
            self.brokers,
            registration,
            want_fence=a.get("want_fence", False),
            want_shutdown=a.get("want_shutdown", False),
            caught_up=a.get("offset", 0) >= a["registered_offset"],
            leads=a.get("has_leaderships", False),
        )
        return {"current": STATES[liveness.state_of(registration)], "next": STATES[after]}


def _error(error: int) -> Fields:
    return {"error": errors.name_of(error)}


def _lists(assignments: list[list[int]] | None) -> list[tuple[int, ...]] | None:
    return None if assignments is None else [ids(replicas) for replicas in assignments]
