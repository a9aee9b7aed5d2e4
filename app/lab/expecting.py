"""The `expect` lines of a script, compared with facts of a real cluster."""

from __future__ import annotations

from collections.abc import Mapping

from app.lab.facts import LabFacts, PartitionFact, ReplicaFact, format_record
from app.lab.moves import WAITING
from engine.scenarios.expectations import Expectation

Answers = Mapping[str, tuple[str, int]]
"""Record -> (error, offset) of the response to its producer."""

Seen = tuple[bool | None, str]
"""(is it so; None if the laboratory cannot know, what is really so)."""


def evaluate(expected: Expectation, facts: LabFacts, answers: Answers) -> Seen:
    """Return whether an expectation is met, and what is so instead."""
    if expected.kind == "record" and expected.partition == 0:
        return _record(expected, facts["P"])
    if expected.kind in ("ack", "waiting"):
        wanted = "NONE" if expected.kind == "ack" else WAITING
        told_to = {name: answers.get(name, ("never sent", -1))[0] for name in expected.names}
        real = ", ".join(f"{name}: {error}" for name, error in told_to.items())
        return all(error == wanted for error in told_to.values()), real
    if expected.kind == "refused":
        error = answers.get(expected.names[0], ("never sent", -1))[0]
        return error == expected.error, error
    if expected.kind == "consumer":
        return None, "the position of a consumer is not recorded"
    replica = facts["brokers"].get(str(expected.who))
    if replica is None or expected.kind not in ("replica", "log", "epochs"):
        return (None if replica else False), "there is no such replica"
    return _replica(expected, replica)


def _record(expected: Expectation, fact: PartitionFact | None) -> Seen:
    if fact is None:
        return False, "there is no record"
    same = (fact["leader"], fact["le"], fact["pe"]) == (expected.who, *expected.numbers)
    same = same and fact["isr"] == sorted(expected.isr)
    both = (expected.elr, fact.get("elr", ())), (expected.last, fact.get("lastKnown", ()))
    for wanted, real in both:
        same = same and (wanted is None or sorted(wanted) == sorted(real))
    return same, format_record(fact)


def _replica(expected: Expectation, replica: ReplicaFact) -> Seen:
    if expected.kind == "replica":
        start = replica.get("start", 0)
        marks = (replica["leo"], replica["hw"], start, start)  # the laboratory tiers nothing
        same = all(want in (-1, real) for want, real in zip(expected.numbers, marks, strict=True))
        return same, f"LEO {marks[0]} HW {marks[1]} START {marks[2]}"
    if expected.kind == "log":
        wanted = " ".join(
            f"{name}@{epoch}" for name, epoch in zip(expected.names, expected.numbers, strict=True)
        )
        return replica["log"] == wanted, replica["log"]
    flat = [number for entry in replica["epochs"] or () for number in entry]
    real = " ".join(f"{epoch}:{at}" for epoch, at in replica["epochs"] or ())
    return flat == list(expected.numbers), real
