"""A scenario as YAML text, the way a person would write it: what is as usual is left out.

Only text is made here; reading it is the business of `file`, the one door to YAML.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from engine.scenarios.fault_lines import FAULT_KINDS
from engine.scenarios.scenario import DEFAULT_PROFILE, KEYS, Scenario
from engine.scenarios.spans import span_text

WIDEST: Final = 96

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./+-]+)*")
_SPAN: Final = re.compile(r"[0-9]+[dhm]")
_NAMES: Final = frozenset(("true", "false", "null"))
_ODD: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_UNBLOCKED: Final = re.compile(f"[\x00-\x08\x0b-\x1f]|{_ODD.pattern}|^\\s*$")


def yaml_of(scenario: Scenario) -> str:
    """Return the text of a scenario; `file.load_text` reads an equal one from it."""
    return to_yaml(short(scenario))


def to_yaml(data: dict[str, Any]) -> str:
    """Return any plain data of a scenario as YAML, also what is not right yet, key by key."""
    known = [key for key in KEYS if key in data]
    others = [key for key in data if key not in KEYS]
    return "".join(_entry(key, data[key]) for key in [*known, *others])


def _entry(key: str, value: Any) -> str:
    name = _scalar(key)
    if key == "script" and isinstance(value, str) and not _UNBLOCKED.search(value):
        return f"{name}: |{_block(value)}"
    line = f"{name}: {_flow(value)}\n"
    if len(line) <= WIDEST or not isinstance(value, (dict, list)) or not value:
        return line
    if isinstance(value, dict):
        inner = "".join(f"  {_scalar(field)}: {_flow(of)}\n" for field, of in value.items())
    else:
        inner = "".join(f"  - {_flow(item)}\n" for item in value)
    return f"{name}:\n{inner}"


def _block(text: str) -> str:
    """Return a literal block; with an explicit indent if the first line begins with a blank."""
    indent = "2" if text[:1].isspace() else ""
    lines = "".join(f"  {line}".rstrip() + "\n" for line in text.split("\n"))
    return f"{indent}\n{lines}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Return a word plain where it means itself, quoted everywhere else."""
    plain = isinstance(value, str) and (_PLAIN.fullmatch(value) or _SPAN.fullmatch(value))
    if plain and value not in _NAMES:
        return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)


def short(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario as plain data without defaults."""
    full = scenario.to_dict()
    usual = Scenario.from_dict({"title": "?", "profiles": full["profiles"]}).to_dict()
    data = {key: full[key] for key in KEYS if key == "title" or full.get(key) != usual.get(key)}
    if scenario.expect or full["profiles"] != [DEFAULT_PROFILE]:
        data["profiles"] = full["profiles"]
    label = {broker.id: broker.name or broker.id for broker in scenario.brokers}
    if "brokers" in data:
        data["brokers"] = _brokers(full["brokers"])
    if full["partitions"] == [list(label)]:
        data.pop("partitions", None)
    else:
        data["partitions"] = [
            [label[replica] for replica in replicas] for replicas in full["partitions"]
        ]
    if "network" in data:
        data["network"] = _network(full["network"])
    if "duration_ms" in data:
        data["duration_ms"] = span_text(full["duration_ms"])
    if "workload" in data:
        producers = [_producer(producer) for producer in full["workload"]["producers"]]
        data["workload"] = {"producers": producers, "consumers": full["workload"]["consumers"]}
    if "faults" in data:
        every = [broker.id for broker in scenario.brokers]
        data["faults"] = [_fault(fault, every, label) for fault in full["faults"]]
    if "expect" in data:
        data["expect"] = {name: _expect(line) for name, line in full["expect"].items()}
    return data


def _brokers(full: list[dict[str, Any]]) -> Any:
    """Return 3 | [A, B] | [{id: 7, rack: a, dirs: 2}], the shortest that says it all."""
    names = [broker["name"] for broker in full]
    usual = [{"id": number, "name": name, "rack": ""} for number, name in enumerate(names, 1)]
    if full == usual and not any(names):
        return len(full)
    if full == usual and all(names):
        return names
    return [{key: value for key, value in broker.items() if value != ""} for broker in full]


def _network(full: dict[str, Any]) -> dict[str, Any]:
    network: dict[str, Any] = {}
    for key in ("delay_ms", "loss", "control_delay_ms"):
        value = full[key]
        if isinstance(value, list) and value[0] == value[1]:
            value = value[0]
        if value:
            network[key] = value
    return network


def _producer(full: dict[str, Any]) -> dict[str, Any]:
    usual = {"retries": True, "timeout_ms": 30_000, "idempotent": False, "partition": -1}
    kept = {key: value for key, value in full.items() if usual.get(key) != value}
    return {**kept, "acks": "all" if full["acks"] == -1 else full["acks"]}


def _fault(full: dict[str, Any], every: list[int], label: dict[int, Any]) -> dict[str, Any]:
    usual = {"together": FAULT_KINDS[full["kind"]].together, "mttr_ms": 0, "delay_ms": 0}
    data = {key: value for key, value in full.items() if key not in usual or usual[key] != value}
    for key in ("mtbf_ms", "at_ms", "mttr_ms"):
        if key in data:
            data[key] = span_text(data[key])
    if "brokers" in data:
        named = [label[broker] for broker in data["brokers"]]
        data["brokers"] = "all" if data["brokers"] == every else named
    return data


def _expect(full: dict[str, Any]) -> dict[str, Any]:
    verdict = full["verdict"]
    if isinstance(verdict, list):
        return {**full, "verdict": " ".join(["violates", *verdict])}
    return full
