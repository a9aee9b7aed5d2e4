"""Committed and acknowledged batches that a new leader's log does not hold."""

from __future__ import annotations

import random

from engine.checks.ledger import Acked
from engine.checks.prefix import has_values, holds, missing_from, not_in_place
from engine.model.log import Batch, Log


def test_one_pass_finds_what_a_look_at_each_batch_finds() -> None:
    rng, counted = random.Random(7), [0, 0]
    for _ in range(300):
        log, batches = Log(), []
        for number in range(12):
            batch = Batch(log.leo, 0, (f"m{number}",) * rng.randrange(1, 4))
            batches.append(batch)
            if rng.random() < 0.9:
                log.append(batch)
        batches += [Batch(one.base, 1, one.values) for one in rng.sample(batches, 2)]
        log.raise_log_start(rng.randrange(0, 3))
        log.truncate_to(rng.randrange(log.leo // 2, log.leo + 1))
        for shown in (batches, rng.sample(batches, len(batches))):
            acks = [Acked(0, one.base, one.values, -1, 0) for one in shown]
            missing, moved = missing_from(log, shown), not_in_place(log, acks)
            assert missing == [one for one in shown if not holds(log, one)]
            assert moved == [one for one in acks if not has_values(log, one.base, one.values)]
            counted = [counted[0] + len(missing), counted[1] + len(moved)]
    assert min(counted) > 1_000
