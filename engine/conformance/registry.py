"""Registry of the adapters, by the subject of a case."""

from __future__ import annotations

from typing import Final

from engine.conformance.adapter import Adapter
from engine.conformance.clusters import ClusterCase
from engine.conformance.controllers import ControllerCase, LivenessCase
from engine.conformance.elections import PartitionChangeCase, ReassignmentCase, ZkElectionCase
from engine.conformance.fetchers import FetcherCase
from engine.conformance.logs import EpochCacheCase, LogCase
from engine.conformance.managers import FetcherManagerCase
from engine.conformance.partitions import PartitionCase
from engine.conformance.placements import PlacementCase
from engine.conformance.progress import ReplicaProgressCase
from engine.conformance.quotas import QuotaCase, ThrottledReadCase, ThrottleListCase
from engine.conformance.requests import BrokerCase
from engine.conformance.sessions import SessionCacheCase, SessionClientCase, SessionServerCase
from engine.conformance.voters import VoterCase

ADAPTERS: Final[dict[str, type[Adapter]]] = {
    "broker": BrokerCase,
    "cluster": ClusterCase,
    "controller": ControllerCase,
    "epoch_cache": EpochCacheCase,
    "fetch_session_cache": SessionCacheCase,
    "fetch_session_client": SessionClientCase,
    "fetch_session_server": SessionServerCase,
    "fetcher": FetcherCase,
    "fetcher_manager": FetcherManagerCase,
    "liveness": LivenessCase,
    "log": LogCase,
    "partition": PartitionCase,
    "partition_change": PartitionChangeCase,
    "placement": PlacementCase,
    "quota": QuotaCase,
    "reassignment_plan": ReassignmentCase,
    "replica_progress": ReplicaProgressCase,
    "throttle_list": ThrottleListCase,
    "throttled_read": ThrottledReadCase,
    "voter": VoterCase,
    "zk_election": ZkElectionCase,
}
