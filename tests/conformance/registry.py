"""Registry of the adapters, by the subject of a case."""

from __future__ import annotations

from typing import Final

from tests.conformance.adapter import Adapter
from tests.conformance.clusters import ClusterCase
from tests.conformance.controllers import ControllerCase, LivenessCase
from tests.conformance.elections import PartitionChangeCase, ReassignmentCase, ZkElectionCase
from tests.conformance.fetchers import FetcherCase
from tests.conformance.logs import EpochCacheCase, LogCase
from tests.conformance.managers import FetcherManagerCase
from tests.conformance.partitions import PartitionCase
from tests.conformance.placements import PlacementCase
from tests.conformance.progress import ReplicaProgressCase
from tests.conformance.quotas import QuotaCase, ThrottledReadCase, ThrottleListCase
from tests.conformance.requests import BrokerCase
from tests.conformance.sessions import SessionCacheCase, SessionClientCase, SessionServerCase
from tests.conformance.voters import VoterCase

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
