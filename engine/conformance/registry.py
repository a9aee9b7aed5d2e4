"""Which adapter speaks for which subject of the cases."""

from __future__ import annotations

from typing import Final

from engine.conformance.adapter import Adapter
from engine.conformance.elections import PartitionChangeCase, ReassignmentCase, ZkElectionCase
from engine.conformance.fetchers import FetcherCase
from engine.conformance.logs import EpochCacheCase, LogCase
from engine.conformance.partitions import PartitionCase
from engine.conformance.placements import PlacementCase
from engine.conformance.progress import ReplicaProgressCase
from engine.conformance.requests import BrokerCase

ADAPTERS: Final[dict[str, type[Adapter]]] = {
    "broker": BrokerCase,
    "epoch_cache": EpochCacheCase,
    "fetcher": FetcherCase,
    "log": LogCase,
    "partition": PartitionCase,
    "partition_change": PartitionChangeCase,
    "placement": PlacementCase,
    "reassignment_plan": ReassignmentCase,
    "replica_progress": ReplicaProgressCase,
    "zk_election": ZkElectionCase,
}
