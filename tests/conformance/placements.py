"""Subject `placement`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.controlplane import placement
from engine.controlplane.placement import Candidate, StripedPlacer
from engine.model import errors
from engine.model.records import Ids
from tests.conformance.adapter import Adapter, CaseError, Fields
from tests.conformance.chance import JavaLcg17


class PlacementCase(Adapter):
    """`placement`: CP-PLACE-KR, CP-PLACE-ZK, CP-PLACE-ZK-RACK.

    A case that holds for every random choice is played with the same source as the exact ones.
    """

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        self.striped = given["algorithm"] == "striped"
        self.brokers = [
            Candidate(b["id"], b.get("rack"), b.get("fenced", False)) for b in given["brokers"]
        ]
        self.chance = JavaLcg17()
        self.placer: StripedPlacer | None = None

    def run(self, operations: Sequence[Fields]) -> dict[str, Fields]:
        """Run all `place_one` with one placer, set up at the start; `place` has its own."""
        if self.striped and any(operation["op"] == "place_one" for operation in operations):
            self.placer = StripedPlacer(self.brokers, self.chance)
        return super().run(operations)

    def op_place(self, a: Fields) -> Fields:
        partitions, factor = a["partitions"], a["replication_factor"]
        if self.striped:
            error, placed = StripedPlacer(self.brokers, self.chance).place(partitions, factor)
        else:
            error, placed = placement.place_zk(
                self.brokers,
                partitions,
                factor,
                self.chance,
                start=a.get("start_index", -1),
                first_partition=a.get("start_partition", 0),
            )
        return {"error": errors.name_of(error), **self._summary(placed)}

    def op_place_one(self, a: Fields) -> Fields:
        if self.placer is None:
            raise CaseError("place_one needs the striped placer")
        error, replicas = self.placer.place_one(a["replication_factor"])
        return {"error": errors.name_of(error), "replicas": list(replicas)}

    def op_rack_list(self, a: Fields) -> Fields:
        if not self.striped:
            return {"brokers": placement.rack_alternated(self.brokers)}
        # Facts that no draw can change: the case's own source is left alone.
        placer = self.placer or StripedPlacer(self.brokers, JavaLcg17())
        return {"total": placer.total, "unfenced": placer.unfenced, "racks": placer.rack_names()}

    def _summary(self, placed: list[Ids]) -> Fields:
        racks = {broker.id: broker.rack for broker in self.brokers}
        pairs = Counter(",".join(map(str, replicas)) for replicas in placed)
        leaders = Counter(replicas[0] for replicas in placed)
        anywhere = Counter(broker for replicas in placed for broker in replicas)
        return {
            "assignments": [list(replicas) for replicas in placed],
            "pair_counts": dict(pairs),
            "all_distinct": all(len(set(replicas)) == len(replicas) for replicas in placed),
            "racks_per_partition": sorted({len({racks[b] for b in r}) for r in placed}),
            "leaders_per_broker": sorted({leaders[broker] for broker in racks}),
            "replicas_per_broker": sorted({anywhere[broker] for broker in racks}),
            "sizes": sorted({len(replicas) for replicas in placed}),
        }
