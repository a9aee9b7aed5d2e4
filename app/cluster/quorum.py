"""The quorum of controllers as text shows it: voters that can win, and why epochs climb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from app.cluster.quorum_scenario import PastedQuorum, quorum_in, scenario_of_quorum
from app.reading.facts import Facts
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

LEADS: Final = "raft_leader"
RAFT: Final = "raft_"


class QuorumSentence(TypedDict):
    """A sentence `quorum.<key>` of the catalogue, and its values."""

    key: str
    args: dict[str, str | int]


class QuorumJson(TypedDict):
    """Sentences on a quorum, and a run of its voters, None where the text names none."""

    sentences: list[QuorumSentence]
    run: str | None


def quorum_of(facts: Facts, title: str) -> QuorumJson:
    """Return what a description of the quorum, or its lines, come to."""
    found = quorum_in(facts)
    sentences = [*_described(facts), *_climbing(facts)]
    if found is None:
        return {"sentences": sentences, "run": None}
    scenario = Scenario.from_dict(scenario_of_quorum(found, title))
    return {
        "sentences": [*sentences, *_played(facts, found)],
        "run": Run(scenario, scenario.profiles[0]).text(),
    }


def _played(facts: Facts, found: PastedQuorum) -> Iterator[QuorumSentence]:
    """Yield what the run has otherwise than the text: names and the leader epoch."""
    names = ", ".join(f"{voter} = C{number}" for number, voter in enumerate(found.order, 1))
    yield {"key": "named", "args": {"names": names}}
    epoch = facts.quorum.get("LeaderEpoch", "") or str(max(_epochs(facts), default=""))
    yield {"key": "epoch" if epoch else "epoch_unknown", "args": {"epoch": epoch}}


def _described(facts: Facts) -> Iterator[QuorumSentence]:
    voters = facts.voters
    if not voters:
        return
    best, majority = max(voters.values()), len(voters) // 2 + 1
    able = sorted(one for one, end in voters.items() if end == best)
    leader = facts.quorum.get("LeaderId", "")
    if leader.isdigit():
        args: dict[str, str | int] = {"leader": int(leader)}
        yield {"key": "leads", "args": args}
    args = {"voters": ", ".join(map(str, able)), "n": len(voters), "majority": majority}
    yield {"key": "can_win", "args": args}
    for voter, end in sorted(voters.items()):
        if end < best:
            key = "behind" if end > 0 else "empty"
            yield {"key": key, "args": {"voter": voter, "lag": best - max(0, end)}}
    if len(able) <= majority:
        yield {"key": "fragile", "args": {"voters": ", ".join(map(str, able))}}


def _climbing(facts: Facts) -> Iterator[QuorumSentence]:
    epochs = _epochs(facts)
    leads = any(line.named is not None and line.named.kind.name == LEADS for line in facts.logged)
    if len(set(epochs)) > 1 and not leads:
        args: dict[str, str | int] = {"first": min(epochs), "last": max(epochs)}
        yield {"key": "climbs", "args": args}


def _epochs(facts: Facts) -> list[int]:
    named = [line.named for line in facts.logged if line.named is not None]
    raft = [one.values for one in named if one.kind.name.startswith(RAFT)]
    return [int(values["epoch"]) for values in raft if "epoch" in values]
