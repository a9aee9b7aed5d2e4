"""The report on a pasted cluster: findings, the worst first, and which broker may restart next.

Pure: the scenario as plain data and the facts in, plain data out.  A finding is a key of the
catalogue with its values: what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from app.cluster.brokers import few, sorted_ids
from app.reading.facts import UNCLEAN, Facts
from app.reading.names import topic_of
from engine.model.json_types import Json
from engine.model.profiles import get_profile

SEVERITIES: Final = ("bad", "warn", "note")
LEADERLESS: Final = ("offline", "offline_only", "election_due")
"""Findings before others as bad: clients can neither write nor read."""
MOST_FINDINGS: Final = 60


class ClusterFinding(TypedDict):
    """A sentence `report.<key>`, how bad it is, and the partitions or topics that it is about."""

    severity: str
    key: str
    args: dict[str, str | int]


class RestartChoice(TypedDict):
    """A broker, and the partitions that its restart would stop; without any it may restart."""

    broker: int
    stops: list[str]
    leads: int


class ClusterReport(TypedDict):
    findings: list[ClusterFinding]
    restarts: list[RestartChoice]


def report_of(data: Json, facts: Facts) -> ClusterReport:
    """Return the findings, and the live brokers in the order in which they may restart."""
    states = list(zip(data["initial"]["partitions"], data["partitions"], strict=True))
    offline = set(data["initial"]["offline"])
    capped = bool(get_profile(data["profiles"][0]).flags()["cap_min_isr_to_rf"])
    findings = sorted(
        _findings(states, offline, facts, capped),
        key=lambda finding: (
            SEVERITIES.index(finding["severity"]),
            finding["key"] not in LEADERLESS,
        ),
    )
    brokers = [broker["id"] for broker in data["brokers"] if broker["id"] not in offline]
    restarts = [_restart(broker, states, facts, capped) for broker in brokers]
    restarts.sort(
        key=lambda restart: (len(restart["stops"]) > 0, len(restart["stops"]), restart["leads"])
    )
    return {"findings": findings[:MOST_FINDINGS], "restarts": restarts}


def _least(facts: Facts, name: str, replicas: list[int], capped: bool) -> int:
    least = facts.min_isr(topic_of(name))
    return min(least, len(replicas)) if capped else least


def _findings(
    states: list[tuple[Json, list[int]]], offline: set[int], facts: Facts, capped: bool
) -> Iterator[ClusterFinding]:
    for state, replicas in states:
        yield from _of_partition(state, replicas, offline, facts, capped)
    yield from _of_topics(states, facts)


def _of_partition(
    state: Json, replicas: list[int], offline: set[int], facts: Facts, capped: bool
) -> Iterator[ClusterFinding]:
    name, isr = state["name"], set(state["isr"])
    least = _least(facts, name, replicas, capped)
    missing = set(replicas) - isr
    if state["leader"] < 0:
        waits = isr | set(state["elr"]) or set(state["last_known_elr"]) or set(replicas)
        args: dict[str, str | int] = {"name": name, "brokers": sorted_ids(waits)}
        key = "offline_only" if len(replicas) == 1 else "offline"
        if waits - offline:
            key = "election_due"
        yield {"severity": "bad", "key": key, "args": args}
    elif len(isr) < least:
        yield {
            "severity": "bad",
            "key": "refuses" if missing else "refuses_always",
            "args": {
                "name": name,
                "leader": state["leader"],
                "n": len(isr),
                "least": least,
                "brokers": sorted_ids(missing),
            },
        }
    elif missing:
        key = "at_minimum" if len(isr) == least else "under_replicated"
        args = {"name": name, "brokers": sorted_ids(missing), "n": len(isr), "least": least}
        yield {"severity": "warn", "key": key, "args": args}


def _of_topics(states: list[tuple[Json, list[int]]], facts: Facts) -> Iterator[ClusterFinding]:
    """Yield what the settings of a topic bring about, once for all topics alike."""
    alike: dict[str, list[str]] = {}
    factors = {topic_of(state["name"]): len(replicas) for state, replicas in states}
    for topic, factor in factors.items():
        least = facts.min_isr(topic)
        if factor == 1:
            alike.setdefault("one_replica", []).append(topic)
        elif least > factor:
            alike.setdefault("minimum_above", []).append(topic)
        elif least == factor:
            alike.setdefault("minimum_is_all", []).append(topic)
        elif least == 1:
            alike.setdefault("minimum_is_one", []).append(topic)
        if facts.setting(topic, UNCLEAN) == "true":
            alike.setdefault("unclean", []).append(topic)
    for key, topics in alike.items():
        severity = "note" if key == "minimum_is_one" else "warn"
        yield {"severity": severity, "key": key, "args": {"topics": few(sorted(topics))}}


def _restart(
    broker: int, states: list[tuple[Json, list[int]]], facts: Facts, capped: bool
) -> RestartChoice:
    """Return which partitions would stop while a broker is away: no leader, or under min ISR."""
    stops = []
    for state, replicas in states:
        left = set(state["isr"]) - {broker}
        least = _least(facts, state["name"], replicas, capped)
        if broker in state["isr"] and state["leader"] >= 0 and len(left) < max(1, least):
            stops.append(state["name"])
    leads = sum(state["leader"] == broker for state, _ in states)
    return {"broker": broker, "stops": stops, "leads": leads}
