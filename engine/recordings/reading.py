"""A recording as a value: JSON of any version becomes moves and facts.

Unknown fields are let through and missing ones have a meaning (no `elr` is an empty one); a field
that is there but cannot be what it should be is an error.  Facts are named alike on both sides:
`leader`, `leaderEpoch`, `partitionEpoch`, `isr`, `elr`, `lastKnownElr`, `recovering`, and for each
broker `b1 LEO`, `b1 HW`, `b1 start`, `b1 epochs`, `b1 log` (or `b1 exists`, without a replica); for
each voter of a quorum `C1 state`, `C1 epoch`, `C1 leader`, `C1 vote`, `C1 end`, `C1 epochs` and
`C1 HW`.  Of a group named orders: `orders state`, `orders coordinator`, `orders members` and
`orders offsets`; of a client in it `C1 alive`, `C1 failed`, `C1 member`, `C1 generation`,
`C1 owns`, `C1 at` and `C1 polled`; of its partition of __consumer_offsets, which is partition 1,
`p1 leader` and so on, and `b1:1 LEO` and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from engine.model.errors import InputError
from engine.model.languages import LANGUAGES, short

MOST_BYTES: Final = 4 * 1024 * 1024
MOST_STEPS: Final = 2_000
MOST_VOTERS: Final = 9
MOST_SEED: Final = 1_000_000
MOST_MS: Final = 24 * 3_600_000
INITIAL: Final = "initial"
NOT_PLAYED: Final = "NOT PLAYED"

Facts = dict[str, Any]
"""Fact -> value: a number, a text, a truth, or a list."""

Explained = dict[tuple[int, str], list[tuple[Any, Any, str]]]
"""(step, fact) -> (the real value, the engine's, why), as the recording has it."""

_OF_ENVIRONMENT: Final = re.compile(r"\b(order|timing|lab|environment)\b")
"""Words of a recorder beside differences that are no fault of the model."""

_OF_THE_MODEL: Final = "ENGINE"
"""... and what it begins with where the model was found to be wrong, "at step 10" say."""

_WEAK: Final = re.compile(r"\backs=[01]\b")
"""Records that only the leader acknowledged, or no replica."""

_AT_STEP: Final = re.compile(r"\bat steps? (\d+)\b")


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One move and the facts after it.

    `plays` is what the engine plays for it: the move, unless the recording says in which order
    things really happened.  `refused` is what the cluster answered instead, or "".  `wire` and
    `log` are what passed between the brokers and what they logged meanwhile, a line each.  `at` are
    the milliseconds since the beginning at which the move took effect, and from and until which the
    facts were read, where the clock counts.
    """

    move: str
    plays: tuple[str, ...]
    refused: str
    facts: Facts
    wire: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """One script on one cluster.  `brokers` are numbered from 1; `assignment` is partition 0's.

    `voters`: how many controllers its quorum has, 0 for a single one; `seed`: the seed under which
    the model is tried first, since one is hard to find.
    """

    name: str
    scenario: str
    kafka: str
    profile: str
    brokers: int
    assignment: tuple[int, ...]
    settings: dict[str, Any]
    configs: dict[str, Any]
    steps: tuple[RecordedStep, ...]
    explained: Explained = field(default_factory=dict)
    voters: int = 0
    seed: int = 0
    others: tuple[tuple[int, ...], ...] = ()
    """Replicas of the topic's partitions 1, 2, ..., where a group reads several."""
    names: tuple[str, ...] = ()
    """Names of the brokers, where they have others than their numbers."""
    produced: dict[str, str] = field(default_factory=dict)
    """Record -> the last answer to its producer: NONE where it was acknowledged."""
    told: dict[tuple[str, str], str] = field(default_factory=dict)
    """(language, explanation) -> the same in that language, where the recording has it (`zh`)."""

    @property
    def moves(self) -> tuple[str, ...]:
        """Return the moves that were played, without the moment before the first one."""
        return tuple(one.move for one in self.steps if one.move != INITIAL)

    @property
    def lost(self) -> list[str]:
        """Return the records that real brokers lost.

        They were acknowledged (not merely by the leader), and no log has them at the end.
        """
        facts = self.steps[-1].facts
        replicas = (fact.removesuffix(" log") for fact in facts if fact.endswith(" log"))
        logged = {name for replica in replicas for name, _ in records_of(facts, replica)}
        weak = {
            word for step in self.steps for word in step.move.split() if _WEAK.search(step.move)
        }
        return [
            name
            for name, answer in self.produced.items()
            if answer == "NONE" and name not in logged | weak
        ]


def records_of(facts: Facts, replica: str) -> list[tuple[str, int | None]]:
    """Return (name, leader epoch) of each record of a replica's log; no epoch before 0.11."""
    entries = (entry.partition("@") for entry in str(facts.get(f"{replica} log", "")).split())
    return [(name, int(epoch) if epoch else None) for name, _, epoch in entries]


def release_order(release: str) -> list[int]:
    """Return a key that sorts 0.10.2.2 before 4.1.1, and both before other texts."""
    parts = release.split(".")
    return [int(part) if part.isdecimal() else 1 << 30 for part in parts]


def load(paths: Iterable[str | Path]) -> Iterator[Recording]:
    """Yield the recordings in files and directories, by name.

    Raises InputError: file and reason.
    """
    for path in map(Path, paths):
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise InputError(
                "unknown", f"There is no recording (*.json) in {path}.", where=str(path)
            )
        for file in files:
            try:
                if file.stat().st_size > MOST_BYTES:
                    raise InputError(
                        "too_large", f"{file} is larger than any recording.", where=str(file)
                    )
                text = file.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(
                    "unknown", f"{file} cannot be read: {error}.", where=str(file)
                ) from None
            yield read(text, file.stem, str(file))


@cache
def own() -> tuple[Recording, ...]:
    """Return the recordings that come with the engine, by name."""
    folder = resources.files("engine.recordings") / "played"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    texts = [(file.name, file.read_text("utf-8")) for file in files if file.name.endswith(".json")]
    return tuple(read(text, name.removesuffix(".json"), name) for name, text in texts)


def read(text: str, name: str, where: str = "") -> Recording:
    """Read one recording.  Raises InputError with one sentence."""
    where = where or name
    try:
        return _recording(json.loads(text), name)
    except RecursionError:
        raise InputError("invalid", f"{where} is nested too deep.", where=where) from None
    except KeyError as error:
        raise InputError(
            "invalid", f"{where} is no recording: {error} is missing.", where=where
        ) from None
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise InputError("invalid", f"{where} is no recording: {error}.", where=where) from None


def _recording(data: Any, name: str) -> Recording:
    steps = tuple(_step(step) for step in data["steps"])
    if not 1 <= len(steps) <= MOST_STEPS:
        raise ValueError(f"it has {len(steps)} steps")
    named = data.get("brokers", 0)
    brokers = named if isinstance(named, int) else len(named)
    seen = [broker for row in data["steps"] for broker in row["facts"].get("brokers", {})]
    brokers = max([brokers, *map(int, seen)])
    assignment = tuple(int(b) for b in data.get("assignment") or range(1, brokers + 1))
    return Recording(
        name=name,
        scenario=str(data["scenario"]),
        kafka=str(data["kafka"]),
        profile=str(data["profile"]),
        brokers=brokers,
        assignment=assignment,
        settings=dict(data.get("settings") or {}),
        configs=dict(data.get("configs") or {}),
        steps=steps,
        explained=_explained(data),
        voters=_whole(data, "voters", MOST_VOTERS),
        seed=_whole(data, "seed", MOST_SEED),
        others=tuple(tuple(map(int, replicas)) for replicas in data.get("others") or ()),
        names=tuple(str(label) for label in data.get("names") or ()),
        produced={
            str(name): str(answer[0]) for name, answer in (data.get("produced") or {}).items()
        },
        told={
            (language, str(entry["why"])): str(entry[short(language)])
            for entry in data.get("explained") or ()
            for language in LANGUAGES
            if entry.get(short(language))
        },
    )


def _whole(data: Any, name: str, most: int) -> int:
    """Return a number that may be missing."""
    number = int(data.get(name) or 0)
    if not 0 <= number <= most:
        raise ValueError(f"“{name}” is between 0 and {most}, not {number}")
    return number


def _step(data: Any) -> RecordedStep:
    move = str(data["move"])
    said = str(data.get("said") or "")
    if move == INITIAL or said.startswith(NOT_PLAYED):
        plays: tuple[str, ...] = ()
    else:
        plays = tuple(str(line) for line in data.get("plays", [move]))
    wire, log = (tuple(map(str, data.get(key) or ())) for key in ("wire", "log"))
    at = tuple(int(ms) for ms in data.get("at") or ())
    if at and not (len(at) == 3 and 0 <= at[0] <= at[1] <= at[2] <= MOST_MS):
        raise ValueError(f"“{move}” cannot have been at {list(at)}")
    return RecordedStep(move, plays, said, facts_of(data["facts"]), wire, log, at)


def facts_of(data: Any) -> Facts:
    """Return the facts after one move, as a recording writes them, under this module's names."""
    facts = _copies(data, "", "")
    for number, copies in (data.get("partitions") or {}).items():
        facts |= _copies(copies, f"p{int(number)} ", f":{int(number)}")
    for who, voter in (data.get("voters") or {}).items():
        facts |= _voter(str(who), voter)
    for what in ("groups", "members"):
        for who, values in (data.get(what) or {}).items():
            facts |= {f"{who} {fact}": value for fact, value in values.items()}
    return facts


def _copies(data: Any, partition: str, place: str) -> Facts:
    """Return the facts of a partition: its record, and its replicas."""
    facts: Facts = {}
    record = data.get("P")
    if record:
        last = record.get("lastKnown", record.get("last"))
        values = {
            "leader": int(record["leader"]),
            "leaderEpoch": int(record["le"]),
            "partitionEpoch": int(record["pe"]),
            "isr": sorted(int(b) for b in record["isr"]),
            "elr": sorted(int(b) for b in record.get("elr") or ()),
            "lastKnownElr": [int(b) for b in last or ()],
            "recovering": bool(record.get("recovering")),
        }
        facts |= {f"{partition}{fact}": value for fact, value in values.items()}
    for broker, replica in sorted((data.get("brokers") or {}).items(), key=lambda b: int(b[0])):
        who = f"b{int(broker)}{place}"
        if replica is None:
            facts[f"{who} exists"] = False
            continue
        facts[f"{who} LEO"] = int(replica["leo"])
        facts[f"{who} start"] = int(replica.get("start") or 0)
        facts[f"{who} log"] = str(replica["log"])
        if replica.get("epochs") is not None:
            facts[f"{who} epochs"] = [[int(e), int(o)] for e, o in replica["epochs"]]
        # The mark of a broker that is down is in no memory any more.
        if not replica.get("down"):
            facts[f"{who} HW"] = replica.get("hw")
    return facts


def _voter(who: str, voter: Any) -> Facts:
    """Return the facts of a voter; a vote counts while there is no leader."""
    facts: Facts = {
        f"{who} state": str(voter["state"]),
        f"{who} epoch": int(voter["epoch"]),
        f"{who} leader": str(voter["leader"]),
        f"{who} end": int(voter["end"]),
        f"{who} epochs": [[int(epoch), int(at)] for epoch, at in voter["epochs"]],
    }
    if not voter["leader"]:
        facts[f"{who} vote"] = str(voter["vote"])
    if voter["hw"] is not None:
        facts[f"{who} HW"] = int(voter["hw"])
    return facts


def _explained(data: Any) -> Explained:
    """Return the differences that the recording accounts for.

    They are under `explained`, or listed in `differ` with one `why` for all of them that speaks of
    order, timing, the lab or its environment.
    """
    reasons: Explained = {}
    entries = [(entry["why"], entry["facts"]) for entry in data.get("explained") or ()]
    why = str(data.get("why") or "")
    if _OF_ENVIRONMENT.search(why):
        wrong = set(map(int, _AT_STEP.findall(why))) if why.startswith(_OF_THE_MODEL) else set()
        entries.append((why, [row for row in data.get("differ") or () if row[0] not in wrong]))
    for reason, rows in entries:
        for row in rows:
            step, fact, real, model = row[0], row[-3], row[-2], row[-1]
            reasons.setdefault((int(step), str(fact)), []).append((real, model, str(reason)))
    return reasons
