"""Facts of a recording beside the model's, after each move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.lab.facts import Fact
from engine.model.errors import BadInput
from engine.show.view import view
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Row:
    """One fact after one move."""

    step: int
    move: str
    fact: str
    real: Any
    model: Any

    @property
    def same(self) -> bool:
        return bool(self.real == self.model)


def rows(steps: list[dict[str, Any]], run: Run) -> list[Row]:
    """Every fact that was recorded, with the model's value of it."""
    sim = run.simulation()
    sim.rush = True
    found = []
    for number, step in enumerate(steps):
        refused = "" if number == 0 else _play(sim, step["move"])
        if refused:
            found.append(Row(number, step["move"], "move", "played", f"refused: {refused}"))
        found += [
            Row(number, step["move"], fact, real, model)
            for fact, real, model in _pairs(step["facts"], view(sim)["partitions"][0])
        ]
    return found


def _play(sim: Simulation, move: str) -> str:
    """Plays a move, and writes the marks to disk as the real brokers do; why it is refused."""
    try:
        for line in (move, "checkpoint"):
            for _ in play(sim, (line,)):
                pass
    except BadInput as error:
        return error.sentence
    return ""


def _pairs(real: Fact, partition: Fact) -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    record, model = real["P"], partition["record"]
    if record is not None:
        found += [
            ("leader", record["leader"], model["leader"]),
            ("leader epoch", record["le"], model["le"]),
            ("partition epoch", record["pe"], model["pe"]),
            ("ISR", record["isr"], sorted(model["isr"])),
            ("ELR", sorted(record.get("elr", ())), sorted(model["elr"])),
            ("last known ELR", record.get("lastKnown", []), model["lastKnown"]),
            ("recovering", record.get("recovering", False), model["recovering"]),
        ]
    for broker, replica in real["brokers"].items():
        found += _of_replica(f"b{broker}", replica, partition["replicas"].get(broker))
    return found


def _of_replica(who: str, real: Fact | None, model: Fact | None) -> list[tuple[str, Any, Any]]:
    if real is None or model is None:
        return [(f"{who} exists", real is not None, model is not None)]
    records = [one for one in model["records"] if one["o"] >= model["start"]]
    found = [
        (f"{who} LEO", real["leo"], model["leo"]),
        (f"{who} log start", real.get("start", 0), model["start"]),
    ]
    if real["epochs"] is None:
        found.append((f"{who} log", real["log"], " ".join(one["id"] for one in records)))
    else:
        log = " ".join(f"{one['id']}@{one['e']}" for one in records)
        found.append((f"{who} log", real["log"], log))
        found.append((f"{who} epochs", real["epochs"], [list(one) for one in model["epochs"]]))
    if not real.get("down"):
        # The mark of a broker that is down is in no memory any more.
        found.append((f"{who} HW", real["hw"], model["hw"]))
    return found


def lines(found: list[Row], kafka: str, every: bool = False) -> list[str]:
    """How many facts of each move are equal, and each that is not; with `every`, all of them."""
    text = []
    for number in sorted({row.step for row in found}):
        mine = [row for row in found if row.step == number]
        wrong = [row for row in mine if not row.same]
        text.append(f"{number:>3} {mine[0].move:<36} {len(mine) - len(wrong)} of {len(mine)} equal")
        text += [_line(row, kafka) for row in (mine if every else wrong)]
    equal = sum(row.same for row in found)
    text.append(f"{equal} of {len(found)} facts are equal.")
    return text


def _line(row: Row, kafka: str) -> str:
    if row.same:
        return f"      {row.fact}: {row.real!r} on both"
    return f"      {row.fact}: {row.real!r} on Kafka {kafka}, {row.model!r} in the model"
