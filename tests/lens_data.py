"""Writes engine/lens/kafka.json out of the full index of Kafka's sources.

    python -m tests.lens_data kafka-code.json

The full index (about 2.4 MB; its `about` says how it is laid out) stays outside the repository.
tests/data/kafka-raft.json, of the same layout, adds the voters of a quorum (KafkaRaftClient).
What is kept: of each name that a card, a cue, a chain or named.txt uses, file and line by release.
The same index and cards give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from engine.catalogue.sourcemap import cards
from engine.lens.source import key, modes, named, profile_of
from engine.story.rules import RULES

TARGET = Path(__file__).resolve().parent.parent / "engine" / "lens" / "kafka.json"
RAFT = Path(__file__).resolve().parent / "data" / "kafka-raft.json"
LOOPS = (
    "ControllerEventThread.doWork",
    "ExpiredOperationReaper.doWork",
    "InterBrokerSendThread.doWork",
)
"""Their classes extend ShutdownableThread: its run() calls them by the same line as others."""


class Full:
    """The full index."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.order: list[str] = list(data["releases"])
        self.also = {name: self.ranges(text) for name, text in data["also"].items()}

    def ranges(self, text: str) -> set[str]:
        """ "2.1.1-2.8.2 3.2.3" as releases."""
        found: set[str] = set()
        for part in text.split():
            first, _, last = part.partition("-")
            found |= set(self.order[self.order.index(first) : self.order.index(last or first) + 1])
        return found

    def where(self, release: str, name: str, depth: int = 0) -> list[int] | None:
        """[file, line] in a release, looked for in what the class extends, too; None: it lacks it.
        Line 0: the class has it, on a line that is not known."""
        here = self.data["releases"][release]
        if name in here["at"]:
            return list(here["at"][name][:2])
        owner, _, method = name.partition(".")
        if release in self.also.get(name, ()):
            home = here["at"].get(owner)
            return [home[0], 0] if home else None
        if not method or depth > 4:
            return None
        for parent in here["extends"].get(owner, ()):
            found = self.where(release, f"{parent}.{method}", depth + 1)
            if found is not None:
                return found
        return None


def wanted(full: Full) -> list[str]:
    """Every name that something of ours shows."""
    names = {frame for chain in full.data["chains"] for frame in chain["frames"]}
    names |= set(named()) | {rule.kafka for rule in RULES.values() if rule.kafka}
    names |= set(LOOPS) | {"KafkaApis.handle", "KafkaRequestHandler.run"}
    for release in full.order:
        for mode in modes(release):
            for card in cards().values():
                names |= set(card.classes(profile_of(release, mode)))
    return sorted(names)


def runs(values: list[list[int] | None]) -> list[list[int]]:
    """Values by release as [since, value, ...] wherever they change."""
    found: list[list[int]] = []
    before: list[int] | None = None
    for at, value in enumerate(values):
        if value != before:
            found.append([at, *(value or ())])
        before = value
    return found


def calls(full: Full) -> dict[str, dict[str, int]]:
    known: dict[str, dict[str, int]] = dict(full.data["calls"])
    loop = known["ShutdownableThread.run > AbstractFetcherThread.doWork"]
    for name in LOOPS:
        known[f"ShutdownableThread.run > {name}"] = {
            release: line
            for release, line in loop.items()
            if full.where(release, name)
            and "ShutdownableThread"
            in full.data["releases"][release]["extends"].get(name.partition(".")[0], ())
        }
    return known


PARTS: Final = {
    "S-2.limit": "S-2",
    "S-2.first": "S-2",
    "S-2.oversized": "S-2",
    "S-5.min_bytes": "S-5",
    "F-5.delayed": "F-5",
    "F-7.last": "F-7",
    "F-7.oversized": "F-7",
    "F-8.thread": "F-7",
}
"""Cues that came after the index was made: a part of a rule, whose chain is theirs."""


def extend(data: dict[str, Any], more: dict[str, Any]) -> None:
    """Add the names, calls, chains and threads of another index, which knows some releases."""
    first = len(data["files"])
    data["files"] += more["files"]
    data["chains"] += more["chains"]
    data["threads"].update(more["threads"])
    data["calls"].update(more["calls"])
    for release, index in more["releases"].items():
        data["releases"][release]["at"].update(
            {name: [first + file, line] for name, (file, line) in index["at"].items()}
        )


def compact(data: dict[str, Any]) -> dict[str, Any]:
    """The part of the full index that this project shows."""
    full = Full(data)
    places = {name: [full.where(release, name) for release in full.order] for name in wanted(full)}
    used = sorted({place[0] for row in places.values() for place in row if place})
    number = {file: at for at, file in enumerate(used)}
    tags = {
        release: told.removeprefix("tag ")
        for release, told in data["read_from"].items()
        if told.startswith("tag ") and told != f"tag {release}"
    }
    return {
        "releases": full.order,
        "tags": tags,
        "files": [data["files"][file] for file in used],
        "threads": data["threads"],
        "aliases": {**data["aliases"], **PARTS},
        "chains": [
            [
                one["rule"],
                one.get("mode", ""),
                one["thread"],
                full.order.index(one["since"]),
                full.order.index(one["until"]),
                one["frames"],
                one.get("later", []),
            ]
            for one in data["chains"]
        ],
        "calls": {
            pair: runs([[lines[r]] if r in lines else None for r in full.order])
            for pair, lines in sorted(calls(full).items())
        },
        "names": {
            name: runs([[number[place[0]], place[1]] if place else None for place in row])
            for name, row in places.items()
            if any(row)
        },
    }


def text(found: dict[str, Any]) -> str:
    """JSON with one name, call or chain a line, so that a diff can be read."""

    def short(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    parts = []
    for part, value in found.items():
        if isinstance(value, dict):
            rows = ",\n".join(f"{short(name)}:{short(one)}" for name, one in value.items())
            parts.append(f'"{part}":{{\n{rows}\n}}')
        else:
            rows = ",\n".join(short(one) for one in value)
            parts.append(f'"{part}":[\n{rows}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    data = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    extend(data, json.loads(RAFT.read_text("utf-8")))
    written = text(compact(data))
    TARGET.write_text(written, "utf-8")
    print(f"{TARGET.name}: {len(written)} bytes, {min(map(key, data['releases']))} and later")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
