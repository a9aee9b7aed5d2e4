"""Which adapter speaks for which subject of the cases."""

from __future__ import annotations

from typing import Final

from engine.conformance.adapter import Adapter
from engine.conformance.elections import PartitionChangeCase, ReassignmentCase, ZkElectionCase
from engine.conformance.placements import PlacementCase

ADAPTERS: Final[dict[str, type[Adapter]]] = {
    "partition_change": PartitionChangeCase,
    "placement": PlacementCase,
    "reassignment_plan": ReassignmentCase,
    "zk_election": ZkElectionCase,
}
