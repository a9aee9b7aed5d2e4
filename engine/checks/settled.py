"""I13: once faults and traffic are over, every in-sync replica gets where its leader is."""

from __future__ import annotations

from collections.abc import Iterator

from engine.model.cluster import Cluster


def unsettled(cluster: Cluster) -> Iterator[str]:
    """Why these partitions have not come to rest, a sentence for each replica that is behind."""
    for tp, record in cluster.controller.records.items():
        leader = cluster.current_leader(tp)
        if leader is None:
            # Where every in-sync copy lies on a disk that has failed, nobody can lead.
            if any(tp not in cluster.brokers[member].offline for member in record.isr):
                yield f"nobody leads {cluster.names[tp]}: {record!r}"
            continue
        wanted = (leader.log.leo, leader.log.hw)
        for member in record.isr:
            replica = cluster.brokers[member].replicas.get(tp)
            found = None if replica is None else (replica.log.leo, replica.log.hw)
            if found != wanted:
                yield (
                    f"broker {cluster.brokers[member].name} stays at (LEO, HW) {found}, "
                    f"its leader broker {cluster.brokers[leader.broker].name} at {wanted}"
                )
