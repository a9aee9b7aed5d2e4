"""Size limits of a fetch response (data-plane specification, F-5, S-2; KIP-74)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.broker import Process
from engine.model.configs import Limits
from engine.model.effects import Effects
from engine.model.log import Batch
from engine.model.messages import FetchRequest


class Budget:
    """Bytes left in one answer while its partitions are read in their order.

    Since KIP-74 the first batch of the answer is always sent, however large it is.
    """

    __slots__ = ("left", "min_one_message", "partition", "record_bytes", "strict")

    def __init__(self, limits: Limits, record_bytes: int, strict: bool) -> None:
        self.left = limits.response
        self.partition = limits.partition
        self.record_bytes = record_bytes
        self.strict = strict
        self.min_one_message = not strict  # may a batch still be sent that is larger than allowed?

    def take(self, batches: Sequence[Batch]) -> Sequence[Batch] | None:
        """Return the whole batches that are sent of what could be read of a partition.

        None if all that fits is a part of the first (before KIP-74).  A cut response is charged its
        whole limit: before KIP-74 a broker sends the partial last batch, too.
        """
        if not batches:
            return batches
        record_bytes = self.record_bytes
        limit = min(self.partition, self.left)
        base = batches[0].base
        if (batches[-1].end - base) * record_bytes <= limit:
            self.left -= (batches[-1].end - base) * record_bytes
            self.min_one_message = False
            return batches
        least = (batches[0].end - base) * record_bytes
        if least > limit:
            if self.strict:
                return None
            if not self.min_one_message:
                return ()
            if len(batches) == 1:
                self.min_one_message = False
                self.left = max(0, self.left - least)
                return batches
            limit = least
        self.min_one_message = False
        self.left = max(0, self.left - limit)
        return [batch for batch in batches if (batch.end - base) * record_bytes <= limit]


def budget_of(broker: Process, m: FetchRequest) -> Budget | None:
    """S-2.  Return the byte limits of the answer to a follower.

    None for a consumer, whose limits are not modelled.
    """
    if m.limits is None:
        return None
    return Budget(m.limits, broker.configs.record_bytes, not broker.profile.fair_order)


def limited(
    broker: Process, tp: int, budget: Budget, batches: Sequence[Batch], out: Effects
) -> Sequence[Batch] | None:
    """S-2.  Return the batches of a partition that fit, with a cue where not all do."""
    first = budget.min_one_message
    taken = budget.take(batches)
    if taken is not batches:
        size = sum(batch.end - batch.base for batch in taken or ())
        offered = batches[-1].end - batches[0].base
        if taken is None:
            out.cue("S-2.oversized", broker.id, f"partition {tp}", offered, 0, tp=tp)
        elif first and size * budget.record_bytes > budget.partition:
            out.cue("S-2.first", broker.id, f"partition {tp}", offered, size, tp=tp)
        else:
            out.cue("S-2.limit", broker.id, f"partition {tp}", offered, size, tp=tp)
    return taken
