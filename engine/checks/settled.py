"""I13: once faults and traffic are over, every in-sync replica gets where its leader is."""

from __future__ import annotations

from engine.model.cluster import Cluster
from engine.model.phrases import phrase


def unsettled(cluster: Cluster) -> list[str]:
    """Return why partitions have not come to rest, a sentence for each replica that is behind."""
    why: list[str] = []
    names = {node: phrase("broker {0}", broker.name) for node, broker in cluster.brokers.items()}
    for tp, record in cluster.controller.records.items():
        leader = cluster.current_leader(tp)
        if leader is None:
            if _untold(cluster, record.leader, tp):
                continue
            # Where every in-sync copy lies on a disk that has failed, no replica can lead.
            if any(_can_serve(cluster, member, tp) for member in record.isr):
                why.append(phrase("nobody leads {0}: {1}", cluster.names[tp], repr(record)))
            continue
        wanted = (leader.log.leo, leader.log.hw)
        for member in record.isr:
            replica = cluster.brokers[member].replicas.get(tp)
            found = None if replica is None else (replica.log.leo, replica.log.hw)
            if found != wanted and not _untold(cluster, member, tp):
                why.append(
                    phrase(
                        "{0} stays at (LEO, HW) {1}, its leader {2} at {3}",
                        names[member],
                        found,
                        names[leader.broker],
                        wanted,
                    )
                )
    return why


def _can_serve(cluster: Cluster, node: int, tp: int) -> bool:
    process = cluster.brokers[node].process
    return process is None or tp not in process.offline


def _untold(cluster: Cluster, node: int, tp: int) -> bool:
    """CP-ZK-BROKERS.  Check whether the broker's bounce has gone unnoticed (before 2.2).

    The controller sends it no role, and it waits for the next decision.
    """
    if cluster.profile.broker_generation or node not in cluster.brokers:
        return False
    replica = cluster.brokers[node].replicas.get(tp)
    return replica is None or replica.leader_epoch < 0
