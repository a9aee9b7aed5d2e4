"""The quorum of controllers as text shows it: voters that can win, and why epochs climb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from app.reading.facts import Facts
from engine.model.messages import MOST_VOTERS
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

_VOTERS: Final = re.compile(r"\bvoters=\[([\d, ]{1,80})\]")
_LOCAL: Final = re.compile(r"\[RaftManager id=(\d{1,6})\]|\blocalId=(\d{1,6})")
_GRANTED: Final = re.compile(r"\b(\d{1,6})=GRANTED")
_LEADER: Final = re.compile(r"\bleaderId=(\d{1,6})|\bleader is (\d{1,6})")
_REJECTED: Final = "raft_vote_rejected"


@dataclass
class PastedQuorum:
    """Voters as a text shows them; `leader` -1: none.  `behind` and `gone` are disjoint."""

    voters: list[int] = field(default_factory=list)
    leader: int = -1
    behind: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    has_prevote: bool = False

    @property
    def order(self) -> list[int]:
        """Return the voters, the one that leads first at the head of the run first."""
        well = [one for one in self.voters if one not in self.behind | self.gone]
        first = self.leader if self.leader in self.voters else min(self.gone, default=well[0])
        return [first, *(one for one in self.voters if one != first)]


def quorum_in(facts: Facts) -> PastedQuorum | None:
    """Return the quorum of a description or of lines of a log; None without its voters."""
    quorum = _quorum_described(facts) or _quorum_logged(facts)
    if quorum is None or not 1 < len(quorum.voters) <= MOST_VOTERS:
        return None
    well = set(quorum.voters) - quorum.behind - quorum.gone
    return quorum if well else None


def _quorum_described(facts: Facts) -> PastedQuorum | None:
    if not facts.voters:
        return None
    best = max(facts.voters.values())
    leader = facts.quorum.get("LeaderId", "")
    return PastedQuorum(
        sorted(facts.voters),
        int(leader) if leader.isdigit() else -1,
        {voter for voter, end in facts.voters.items() if end < best},
    )


def _quorum_logged(facts: Facts) -> PastedQuorum | None:
    text = "\n".join(line.text for line in facts.logged)
    listed = _VOTERS.findall(text)
    if not listed:
        return None
    quorum = PastedQuorum(sorted(int(voter) for voter in listed[-1].split(",") if voter.strip()))
    leaders = [int(named or other) for named, other in _LEADER.findall(text)]
    quorum.leader = leaders[-1] if leaders else -1
    quorum.has_prevote = "Prospective" in text
    heard = {int(named or other) for named, other in _LOCAL.findall(text)}
    heard |= {int(voter) for voter in _GRANTED.findall(text)} | set(leaders)
    for line in facts.logged:
        if line.named is not None and line.named.kind.name == _REJECTED:
            candidate = line.named.values.get("candidate", "")
            quorum.behind |= {int(candidate)} if candidate else set()
    quorum.behind &= set(quorum.voters) - heard
    if quorum.leader < 0:
        quorum.gone = set(quorum.voters) - heard - quorum.behind
    return quorum


def scenario_of_quorum(quorum: PastedQuorum, title: str) -> dict[str, Any]:
    """Return the scenario: the state of the voters, then the leader's death if there is one."""
    name = {voter: f"C{number}" for number, voter in enumerate(quorum.order, 1)}
    first = quorum.order[0]
    late = [name[voter] for voter in quorum.order if voter in quorum.behind]
    lost = [name[voter] for voter in quorum.order if voter in quorum.gone and voter != first]
    script = ["advance 1s", *(f"kill {voter}" for voter in late)]
    script += ["elect 2", "elect 1", "advance 1s"] if late else []
    if first in quorum.gone or quorum.leader >= 0:
        script.append("kill C1")
    script += [f"kill {voter}" for voter in lost]
    script += [f"restart {voter}" for voter in late]
    script.append("advance 12s")
    return {
        "title": title,
        "profiles": ["K41" if quorum.has_prevote else "K39"],
        "brokers": 3,
        "quorum": list(name.values()),
        "fetching": "auto",
        "network": {"delay_ms": 1, "control_delay_ms": 1},
        "script": "\n".join(script),
    }


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
    quorum = quorum_in(facts)
    sentences = [*_described(facts), *_climbing(facts)]
    if quorum is None:
        return {"sentences": sentences, "run": None}
    scenario = Scenario.from_dict(scenario_of_quorum(quorum, title))
    return {
        "sentences": [*sentences, *_played(facts, quorum)],
        "run": Run(scenario, scenario.profiles[0]).text(),
    }


def _played(facts: Facts, quorum: PastedQuorum) -> Iterator[QuorumSentence]:
    """Yield what the run has otherwise than the text: names and the leader epoch."""
    names = ", ".join(f"{voter} = C{number}" for number, voter in enumerate(quorum.order, 1))
    yield {"key": "named", "args": {"names": names}}
    epoch = facts.quorum.get("LeaderEpoch", "") or str(max(_epochs(facts), default=""))
    yield {"key": "epoch" if epoch else "epoch_unknown", "args": {"epoch": epoch}}


def _described(facts: Facts) -> Iterator[QuorumSentence]:
    voters = facts.voters
    if not voters:
        return
    best, majority = max(voters.values()), len(voters) // 2 + 1
    able = sorted(member for member, end in voters.items() if end == best)
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
