"""The voters of a KRaft quorum, and the brokers as its observers, as the stage draws them."""

from __future__ import annotations

from typing import Final

from engine.model.messages import FIRST_VOTER
from engine.model.quorum import NO_VOTER, STATE_NAMES, Quorum, Voter
from engine.sim.simulation import Simulation
from engine.view.wire import MetadataEntry, ObserverView, QuorumView, VoterView

ENTRIES_SHOWN: Final = 24
"""The last entries of a voter's log."""


def voter_name(node: int) -> str:
    """Return the name of a voter in a view: K1 is the first."""
    return f"K{FIRST_VOTER - node + 1}"


def _known(node: int) -> str | None:
    return None if node == NO_VOTER else voter_name(node)


def quorum_view(sim: Simulation, quorum: Quorum) -> QuorumView:
    """Return the voters in order, and what each broker knows and has applied."""
    return {
        "voters": [_voter(v) for v in quorum.voters.values()],
        "observers": [_observer(sim, quorum, broker) for broker in sim.brokers],
    }


def _voter(v: Voter) -> VoterView:
    first = max(0, v.log.end - ENTRIES_SHOWN)
    entries: list[MetadataEntry] = [
        {"o": offset, "e": v.log.epoch_at(offset), "kind": str(v.log.records[offset][0])}
        for offset in range(first, v.log.end)
    ]
    return {
        "id": voter_name(v.id),
        "name": v.name,
        "alive": v.alive,
        "state": STATE_NAMES[v.state],
        "active": v.controller is not None and v.controller.alive,
        "epoch": v.epoch,
        "votedFor": _known(v.voted_for),
        "leader": _known(v.leader),
        "end": v.log.end,
        "hw": v.hw,
        "entries": entries,
    }


def _observer(sim: Simulation, quorum: Quorum, broker: int) -> ObserverView:
    known, process = quorum.observers[broker], sim.brokers[broker].process
    return {
        "b": broker,
        "leader": None if process is None else _known(known.leader),
        "epoch": known.epoch,
        "offset": 0 if process is None else process.metadata_offset,
    }
