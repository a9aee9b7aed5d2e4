"""The state in which a rebuilt run begins, and its assumptions."""

from __future__ import annotations

import itertools
from typing import NotRequired, TypedDict

from app.incident.facts import Beginning, Scale
from app.incident.timeline import Timeline
from app.kafka.metadata import PartitionMetadata
from app.kafka.versions import Numbers, numbers_of, profile_of
from engine.model.phrases import phrase
from engine.model.profiles import get_profile

MOST_KEPT = 400
"""Records in one log of the first state; further apart, all logs begin equal."""


class FirstLog(TypedDict):
    """Log of a replica at first; `epochs`: [epoch, first offset]."""

    broker: int
    epochs: list[list[int]]
    end: int
    hw: int


class FirstPartition(TypedDict):
    name: str
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: list[int]
    elr: list[int]
    last_known_elr: list[int]
    logs: list[FirstLog]


class FirstState(TypedDict):
    offline: list[int]
    partitions: list[FirstPartition]


class ScenarioData(TypedDict):
    """A scenario as plain data; without `initial`, the partition is new."""

    title: str
    profiles: list[str]
    brokers: list[dict[str, int]]
    partitions: list[list[int]]
    configs: dict[str, int]
    initial: NotRequired[FirstState]


def profile_for(timeline: Timeline) -> str:
    """Return the profile of the release that the files name, or else of their kind of lines."""
    numbers = numbers_of(timeline.version) or _release_by_evidence(timeline)
    name = profile_of(numbers, timeline.kraft)
    has_elr = any(state.record.elr or state.record.last_known_elr for state in timeline.states)
    row = get_profile(name)
    return f"{name}+elr" if has_elr and row.elr_available and not row.elr else name


def _release_by_evidence(timeline: Timeline) -> Numbers:
    """Return a release whose brokers write such lines, where none names it."""
    since = [event.data["since"] for _, event in timeline.events if "since" in event.data]
    if timeline.kraft or max(since, default=(0, 0, 0)) >= (3, 2, 0):
        return (3, 9, 1)
    return (1, 1, 1) if since else (2, 8, 2)


def scenario_data(
    timeline: Timeline,
    profile: str,
    replicas: list[int],
    brokers: set[int],
    begin: Beginning | None,
    scale: Scale,
) -> ScenarioData:
    """Return the scenario as plain data.

    `begin` None: the partition is new, and its logs are empty.
    """
    data: ScenarioData = {
        "title": f"What happened to {timeline.partition}",
        "profiles": [profile],
        "brokers": [{"id": broker} for broker in sorted(brokers)],
        "partitions": [replicas],
        "configs": _configs(timeline),
    }
    if begin is not None:
        data["initial"] = _initial(timeline, replicas, brokers, begin, scale)
    return data


def _configs(timeline: Timeline) -> dict[str, int]:
    configs: dict[str, int] = {"auto.leader.rebalance.enable": False}
    if elects_uncleanly(timeline):
        configs["unclean.leader.election.enable"] = True
    for name, value in timeline.configs.items():
        if name == "min.insync.replicas":
            configs[name] = int(value)
        elif name == "unclean.leader.election.enable":
            configs[name] = value == "true"
    return configs


def elects_uncleanly(timeline: Timeline) -> bool:
    """Return whether a leader that was not in sync followed another at once."""
    return any(
        before.leader >= 0
        and after.leader >= 0
        and after.leader_epoch == before.leader_epoch + 1
        and after.leader not in (*before.isr, *before.elr)
        for before, after in itertools.pairwise(state.record for state in timeline.states)
    )


def leaderless(timeline: Timeline) -> set[int]:
    """Return the members of the ISR and ELR of a partition that has no leader at first.

    Were one alive, it would lead.
    """
    first = timeline.states[0].record
    return {*first.isr, *first.elr} if first.leader < 0 else set()


def assumptions(timeline: Timeline, stands_for: str, chosen: bool) -> list[str]:
    """Return a sentence for each setting that no line names.

    `chosen`: the release was asked for.
    """
    notes: list[str] = []
    if not timeline.version and not chosen:
        notes.append(phrase("No log line names the release: the run uses {0}.", stands_for))
    if "min.insync.replicas" not in timeline.configs:
        notes.append("No log line has min.insync.replicas: the run uses 1.")
    if leaderless(timeline) - set(timeline.offline):
        notes.append(
            "The partition has no leader at first: the run starts the members of its ISR and "
            "ELR as down."
        )
    if "unclean.leader.election.enable" not in timeline.configs and elects_uncleanly(timeline):
        notes.append(
            "No log line has unclean.leader.election.enable: the run uses true, as an unclean "
            "election happened."
        )
    return notes


def _initial(
    timeline: Timeline, replicas: list[int], brokers: set[int], begin: Beginning, scale: Scale
) -> FirstState:
    first = timeline.states[0].record
    down = {*timeline.offline, *leaderless(timeline)}
    offline = sorted(broker for broker in down if broker in brokers and broker != first.leader)
    return {
        "offline": offline,
        "partitions": [
            {
                "name": "t-0",
                "leader": first.leader,
                "leader_epoch": first.leader_epoch,
                "partition_epoch": first.partition_epoch,
                "isr": [replica for replica in first.isr if replica in replicas],
                "elr": list(first.elr),
                "last_known_elr": list(first.last_known_elr),
                "logs": [_log(broker, first, begin, scale) for broker in replicas],
            }
        ],
    }


def _log(broker: int, first: PartitionMetadata, begin: Beginning, scale: Scale) -> FirstLog:
    """Return one replica: it ends where it said, or with the leader if it was in sync."""
    start, epoch = scale.start, first.leader_epoch
    spread = scale.of(max(begin.leo.values(), default=start)) - start
    if not begin.leo or spread > MOST_KEPT:
        return {"broker": broker, "epochs": [[epoch, start]], "end": start, "hw": start}
    least = min(begin.leo.values())
    leader_end = begin.leo.get(first.leader, least)
    usual = leader_end if broker in first.isr else least
    end = scale.of(begin.leo.get(broker, usual))
    mark = min(end, scale.of(begin.hw.get(broker, begin.hw.get(first.leader, start))))
    began = scale.of(leader_end)
    epochs = [[epoch, start]]
    if epoch and began > start:
        epochs = [[epoch - 1, start]]
        if end >= began and broker == first.leader:
            epochs.append([epoch, began])
    return {"broker": broker, "epochs": epochs, "end": end, "hw": mark}
