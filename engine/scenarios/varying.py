"""Changing one thing of a scenario: the axes of a batch, and what-ifs in the animator.

min.insync.replicas, configs.<name>       a configuration
network.delay_ms | loss | control_delay_ms, network.delay_ms.median | p99
workload.rate_per_s, workload.producers.acks, ...   of every producer
workload.producers.<n>.<field>, workload.consumers
faults.<n>.<field>, faults.<kind>.<field>           one line, or every line of that kind
brokers, replication.factor, racks (how many), fetching, duration_ms
"""

from __future__ import annotations

import re
from typing import Any, Final

from engine.model.configs import CATALOGUE
from engine.model.errors import InputError
from engine.model.profiles import nearest
from engine.scenarios.fault_lines import FAULT_FIELDS
from engine.scenarios.parts import MOST_BROKERS, PRODUCER_FIELDS

_FAULT: Final = frozenset(FAULT_FIELDS).difference(("kind", "brokers", "racks", "moves"))
_NETWORK: Final = ("delay_ms", "loss", "control_delay_ms")
_DELAYS: Final = ("delay_ms", "control_delay_ms")
_TAIL: Final = re.compile(r"median ([0-9]{1,9}) p99 ([0-9]{1,9})")


def plain(value: object) -> object:
    """Return a value typed into a form as the value that is meant.

    "2" is 2, "true" is true, "1-5" is [1, 5], "median 2 p99 40" a distribution; anything that is no
    text stays what it is.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if abs(number) < 2**53 else text
    if text.count("-") == 1 and all(part.strip().isdecimal() for part in text.split("-")):
        return [int(part) for part in text.split("-")]
    tail = _TAIL.fullmatch(" ".join(text.split()))
    if tail is not None:
        return {"median": int(tail[1]), "p99": int(tail[2])}
    return text


def varied(data: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    """Return the plain form of a scenario with `key` set.

    The caller checks the result by reading it. Raises InputError "unknown" when there is nothing of
    that name.
    """
    data["expect"] = {}
    value = plain(value)
    head, _, rest = key.partition(".")
    if key in CATALOGUE:
        data["configs"][key] = value
    elif head == "configs":
        if rest not in CATALOGUE:
            hint = nearest(rest, list(CATALOGUE))
            raise InputError("unknown", "There is no configuration {0}{1}", rest[:60], hint)
        data["configs"][rest] = value
    elif head == "network" and rest in _NETWORK:
        data["network"][rest] = value
    elif head == "network" and rest.partition(".")[0] in _DELAYS:
        _vary_delay(data["network"], rest, value)
    elif key == "workload.consumers":
        data["workload"]["consumers"] = value
    elif head == "workload":
        _vary_workload(data["workload"]["producers"], rest.removeprefix("producers."), value, key)
    elif head == "faults":
        _vary_faults(data["faults"], rest, value, key)
    elif key == "brokers":
        _vary_brokers(data, value)
    elif key == "replication.factor":
        _vary_factor(data, value)
    elif key == "racks":
        _vary_racks(data, value)
    elif key in ("fetching", "duration_ms"):
        data[key] = value
    else:
        raise _unknown(key)
    return data


def _unknown(key: str) -> InputError:
    return InputError(
        "unknown",
        "{0} cannot be varied; a configuration, network., workload., faults., brokers, "
        "replication.factor, racks, fetching or duration_ms can.",
        key[:80],
    )


def _vary_delay(network: dict[str, Any], rest: str, value: object) -> None:
    """Set the median or the p99 of a delay that has them."""
    which, _, field = rest.partition(".")
    if field not in ("median", "p99"):
        raise _unknown(f"network.{rest}")
    if isinstance(network[which], list):
        raise InputError(
            "impossible",
            "network.{0} is [least, most] here; only a distribution has a {1}.",
            which,
            field,
        )
    network[which][field] = value


def _vary_workload(producers: list[dict[str, Any]], rest: str, value: object, key: str) -> None:
    index, _, field = rest.rpartition(".")
    chosen = producers
    if index:
        if not index.isdecimal() or int(index) >= len(producers):
            raise InputError("unknown", "There is no producer {0} to vary.", index[:20])
        chosen = [producers[int(index)]]
    if field not in PRODUCER_FIELDS:
        raise _unknown(key)
    if not chosen:
        raise InputError("impossible", "This scenario has no producers to vary.")
    for producer in chosen:
        producer[field] = value


def _vary_faults(faults: list[dict[str, Any]], rest: str, value: object, key: str) -> None:
    which, _, field = rest.rpartition(".")
    if field not in _FAULT:
        raise _unknown(key)
    if which.isdecimal():
        chosen = faults[int(which) : int(which) + 1]
    else:
        chosen = [fault for fault in faults if which in ("", fault["kind"])]
    if not chosen:
        raise InputError("unknown", "There is no fault {0} to vary in this scenario.", which[:20])
    for fault in chosen:
        if field == "mtbf_ms":
            fault.pop("at_ms", None)
        elif field == "at_ms":
            fault.pop("mtbf_ms", None)
        fault[field] = value


def _vary_brokers(data: dict[str, Any], value: object) -> None:
    """Set another number of brokers.

    A partition that was on all brokers stays on all of them; faults that could strike all brokers
    still can; racks are dealt out in turn.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_BROKERS:
        raise InputError("invalid", "The number of brokers lies between 1 and {0}.", MOST_BROKERS)
    old: list[dict[str, Any]] = data["brokers"]
    before = [broker["id"] for broker in old]
    racks = list(dict.fromkeys(broker["rack"] for broker in old))
    brokers = old[:value]
    highest = max(before)
    for number in range(len(brokers), value):
        highest += 1
        rack = racks[number % len(racks)]
        brokers.append({"id": highest, "name": "", "rack": rack})
    after = [broker["id"] for broker in brokers]
    data["brokers"] = brokers
    for index, replicas in enumerate(data["partitions"]):
        data["partitions"][index] = _resized(replicas, before, after)
    for fault in data["faults"]:
        if "brokers" in fault:
            fault["brokers"] = _resized(fault["brokers"], before, after)
        elif "racks" in fault:
            left = {broker["rack"] for broker in brokers}
            fault["racks"] = [rack for rack in fault["racks"] if rack in left]


def _vary_factor(data: dict[str, Any], value: object) -> None:
    """Set the number of replicas of every partition: preferred leader and following ids."""
    ids = [broker["id"] for broker in data["brokers"]]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= len(ids):
        raise InputError(
            "invalid", "The replication factor lies between 1 and {0} brokers.", len(ids)
        )
    for index, replicas in enumerate(data["partitions"]):
        first = ids.index(replicas[0])
        data["partitions"][index] = [ids[(first + n) % len(ids)] for n in range(value)]


def _vary_racks(data: dict[str, Any], value: object) -> None:
    """Deal the brokers out to a number of racks in turn; faults of racks strike any of them."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 26:
        raise InputError("invalid", "The number of racks lies between 1 and 26.")
    for index, broker in enumerate(data["brokers"]):
        broker["rack"] = chr(ord("a") + index % value)
    used = list(dict.fromkeys(broker["rack"] for broker in data["brokers"]))
    for fault in data["faults"]:
        if "racks" in fault:
            fault["racks"] = used


def _resized(chosen: list[int], before: list[int], after: list[int]) -> list[int]:
    kept = [one for one in chosen if one in after]
    if set(chosen) == set(before):
        kept += [one for one in after if one not in kept]
    return kept
