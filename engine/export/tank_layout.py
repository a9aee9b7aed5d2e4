"""Layout of a step as tanks: boxes, cells, levels and words, in the units of the picture.

A page computes the same for any size in `static/js/scene/tanks`, with whatever else its layers
show; `tests/test_tank_layout.py` compares both for the beats of every scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Final

from engine.view.wire import BrokerView, PartitionView, Record, ReplicaView, View

Say = Callable[[str, Mapping[str, Any]], str]
"""Return the words of a key of the pages' catalogue."""
Label = tuple[str, float]
"""Words, shortened to the room there is, and their font size."""

ON_HUE: Final = "#14171a"
"""Letters on the hue of an epoch, in both themes."""
FEWEST_CELLS: Final = 4
MOST_TANKS: Final = 5
"""With more brokers, only the replicas of the partition have a tank."""
AIR: Final = 8
"""Above the cells of a tank."""
GAP: Final = 5
"""Between two cells."""
LEAST: Final = 10
"""Size of the letters of a label's last version, before it is cut."""
SHELF_GAP: Final = 4
"""Over, under and between the segments on the shelf."""
LEAST_SEGMENT: Final = 7
"""Units of the narrowest segment on the shelf."""


@dataclass(frozen=True)
class TankRoom:
    """Font sizes, and what parts of a picture need; `cell` and `tallest` with the gap above."""

    name: float
    role: float
    small: float
    least: float
    cell: float
    tallest: float
    foot: float
    fold: float
    sunk: float
    shelf: float
    """Remote storage below the tanks; 0: it is left out."""
    margin: float = 0
    """Share of a column at either side of its tank, where no mark stands beside it."""

    def within(self, height: float) -> TankRoom:
        """Return the same with cells as low as the lowest tank needs them at this height."""
        most = (height - self.foot - self.sunk - AIR) / (FEWEST_CELLS + 1)
        return replace(self, cell=min(self.cell, most))


PHONE: Final = TankRoom(
    15, 12.5, 12, least=74, cell=33, tallest=110, foot=58, fold=28, sunk=20, shelf=44
)
"""As the page has it on a stage of less than 700 px."""


@dataclass(frozen=True)
class TankCell:
    """A record, or the crossed place of one that is gone."""

    x: float
    y: float
    w: float
    h: float
    offset: int
    label: Label
    epoch: int
    open: bool = False
    acked: bool = False
    lost: bool = False
    differs: bool = False
    crossed: bool = False


@dataclass(frozen=True)
class FoldedRecords:
    """The oldest records as one line: (epoch, top, height) of each run, and their number."""

    x: float
    w: float
    runs: tuple[tuple[int, float, float], ...]
    top: float
    height: float
    count: int
    label: Label


@dataclass(frozen=True)
class ShelvedSegments:
    """Segments of a replica in remote storage: (first offset, epoch, read) of each.

    `kind` is "only", "copy", "unread" or "bare", as the page's words say it.
    """

    x: float
    y: float
    w: float
    h: float
    kind: str
    label: Label
    segments: tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True)
class Tank:
    """A replica in its place; `level` is None without water, `bed` where its disk begins."""

    broker: int
    x: float
    w: float
    top: float
    floor: float
    foot: float
    """Top of the words below the tank, and below its shelf."""
    bed: float
    level: float | None
    mark: tuple[Label, float]
    """The high watermark's label and its baseline."""
    waits: bool
    """The high watermark waits for a follower."""
    dead: bool
    off: bool
    leads: bool
    """It acts as leader; `crowned`: the controller has made it so."""
    crowned: bool
    name: Label
    role: Label
    tone: str
    note: Label
    cells: tuple[TankCell, ...]
    fold: FoldedRecords | None
    shelf: tuple[ShelvedSegments, ...] = ()


def telling_partition(view: View) -> PartitionView | None:
    """Return the partition to draw: acknowledged records are gone, else logs differ."""
    lost = set(view["ledger"]["lost"])

    def interest(part: PartitionView) -> tuple[bool, bool, bool]:
        replicas = [*part["replicas"].values()]
        ids = {
            record["id"]
            for replica in replicas
            for record in [*replica["records"], *replica["cut"]]
        }
        cut = any(replica["cut"] for replica in replicas)
        differs = cut or part["differ"] is not None
        return bool(ids & lost), differs, part["record"]["leader"] < 0

    return max(view["partitions"], key=interest, default=None)


def state_of(part: PartitionView, broker: BrokerView) -> tuple[str, dict[str, Any], str]:
    """Return what a broker does in a partition: a key, its values, and the tone of the words."""
    number, record = broker["id"], part["record"]
    replica = part["replicas"].get(str(number))
    if broker["alive"] != "up":
        return f"alive.{broker['alive']}", {}, "bad" if broker["alive"] == "down" else "warn"
    if replica is None:
        return "pill.none", {}, ""
    if replica["role"] == "leader":
        crowned = record["leader"] == number
        key = "scene.leads" if crowned else "scene.leads_self"
        return key, {"e": replica["belief"]["le"]}, "" if crowned else "warn"
    if replica["role"] != "follower":
        return f"role.{replica['role']}", {}, "bad" if replica["role"] == "offline" else ""
    if number in record["isr"]:
        return "scene.in_sync", {}, ""
    lag = replica["fetch"].get("lag", 0)
    return ("scene.behind", {"n": lag}, "warn") if lag > 0 else ("scene.catching_up", {}, "warn")


# -- widths of words ------------------------------------------------------------------------------


def text_width(words: str, size: float, bold: bool = True) -> float:
    """Return a width near enough to place words, without a font."""
    em = sum(map(_em, words))
    return em * size * (1.06 if bold else 1)


def _em(letter: str) -> float:
    if ord(letter) > 0x2E7F:
        return 1.0
    if letter in "iljft.,:;|!'()[]· ":
        return 0.33
    if letter in "mwMW%@—":
        return 0.9
    return 0.67 if "A" <= letter <= "Z" else 0.56


def fitted(
    versions: str | Sequence[str], width: float, most: float, least: float, bold: bool = True
) -> Label:
    """Return the first version of a label that fits, else the last one, smaller or cut.

    A number is never cut: it would be another.
    """
    labels = [versions] if isinstance(versions, str) else versions
    fits = next((label for label in labels if text_width(label, least, bold) <= width), None)
    words, smallest = (labels[-1], min(least, LEAST)) if fits is None else (fits, least)
    wide = text_width(words, most, bold)
    size = most if wide <= width else max(smallest, floor(10 * most * width / wide) / 10)
    if words.isdigit() or text_width(words, size, bold) <= width:
        return words, size
    shortened = words
    while len(shortened) > 1 and text_width(shortened + "…", size, bold) > width:
        shortened = shortened[:-1]
    return shortened.rstrip() + "…", size


def shorter(label: str) -> list[str]:
    """Return "a · b · c" and its versions without the last parts: "a · b", "a"."""
    parts = label.split(" · ")
    return [" · ".join(parts[:count]) for count in range(len(parts), 0, -1)]


# -- layout ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OffsetAxis:
    """Heights of offsets: cells of `pitch` above a fold, above what no log has on its disk."""

    base: int
    fold: int
    fold_height: float
    bed: float
    sunk: float
    pitch: float
    inner: float

    def y(self, offset: int) -> float:
        """Return the height at which the record of an offset stands on the one before it."""
        if offset <= self.fold and self.fold_height:
            part = max(0, offset - self.base) / (self.fold - self.base)
            return self.bed - part * self.fold_height
        return self.bed - self.fold_height - (offset - self.fold) * self.pitch


def lay_out(
    view: View,
    part: PartitionView,
    size: tuple[float, float],
    say: Say | None = None,
    room: TankRoom = PHONE,
    highest: int = 0,
) -> list[Tank]:
    """Return the tanks of one partition in a picture of this width and height.

    `highest` is the highest end of its logs in the whole run, so that the scale stays the same.
    """
    width, height = size
    brokers = _seats(view["brokers"], part, max(1, int(width // room.least)))
    col = min(340, width / max(1, len(brokers)))
    shelf = room.shelf if "store" in view else 0
    axis = _axis(part, room, height - room.foot - shelf, highest)
    layout = TankLayout(view, part, room, axis, col, say)
    left = (width - col * len(brokers)) / 2
    return [layout.tank(broker, left + col * i, width) for i, broker in enumerate(brokers)]


def _seats(brokers: list[BrokerView], part: PartitionView, most: int) -> list[BrokerView]:
    """Return the brokers that have a tank; the leader is one of them."""
    if len(brokers) <= min(MOST_TANKS, most):
        return brokers
    hosts = [broker for broker in brokers if str(broker["id"]) in part["replicas"]] or brokers
    shown = hosts[:most]
    leader = next((broker for broker in hosts if broker["id"] == part["record"]["leader"]), None)
    if leader is not None and leader not in shown:
        shown[-1] = leader
    return shown


def _local(replica: ReplicaView) -> int:
    """Return the first offset on a replica's own disk."""
    return max(replica["start"], replica.get("local", 0))


def _axis(part: PartitionView, room: TankRoom, bottom: float, highest: int) -> OffsetAxis:
    """Return the scale: a tank ends one cell above the highest end, the oldest cells fold."""
    replicas = part["replicas"].values()
    ends = [
        max(replica["leo"], replica["hw"], *(cut["o"] + 1 for cut in replica["cut"]))
        for replica in replicas
    ]
    end = max(ends, default=0)
    base = min(map(_local, replicas), default=0)
    sunk = (
        room.sunk
        if base and any(_local(replica) == replica["start"] for replica in replicas)
        else 0
    )
    least = (FEWEST_CELLS + 1) * room.cell + AIR
    space = max(least, bottom - 6) - sunk - AIR
    peak = max(end, highest)
    capacity = int(space // room.cell) - 1
    folds = room.fold if peak - base > capacity else 0
    if folds:
        capacity = int((space - folds) // room.cell) - 1
    fold = _fold_at(base, end, part["same"], capacity)
    rows = max(FEWEST_CELLS - 1, min(peak - base, capacity)) + (end - fold > capacity)
    pitch = min(room.tallest, floor((space - folds) / (rows + 1)))
    inner = max(ceil(sunk + AIR + folds + (rows + 1) * pitch), least)
    return OffsetAxis(
        base, fold, room.fold if fold > base else 0, bottom - sunk, sunk, pitch, inner
    )


def _fold_at(base: int, end: int, same: int, capacity: int) -> int:
    """Return the first offset drawn as a cell; a fold moves by a quarter of the height."""
    if end - base <= capacity:
        return base
    jump = max(2, capacity // 4)
    jumped = ceil((end - base - floor(0.8 * capacity)) / jump) * jump
    # What differs stays in sight as long as it fits.
    fold = max(min(max(base, same - 2), base + jumped), end - capacity)
    return base + 2 if fold - base < 2 else fold


@dataclass(frozen=True)
class TankLayout:
    """Places the tanks of one picture, which share a scale and the width of their columns."""

    view: View
    part: PartitionView
    room: TankRoom
    axis: OffsetAxis
    col: float
    say: Say | None

    @property
    def gaps(self) -> tuple[float, float]:
        """Units at the left and right of a tank in its column, for what stands beside it."""
        if self.room.margin:
            return self.col * self.room.margin, self.col * self.room.margin
        if self.col >= 220:
            return 30, 62
        return (14, 56) if self.col >= 150 else (8, 30)

    @property
    def pad(self) -> float:
        """Between the wall and a cell."""
        if self.room.margin:
            return self.col * self.room.margin / 5
        return 12 if self.col >= 220 else 10 if self.col >= 150 else 5

    def tank(self, broker: BrokerView, left: float, width: float) -> Tank:
        part, axis, number = self.part, self.axis, broker["id"]
        replica = part["replicas"].get(str(number))
        before, behind = self.gaps
        space = self.col - before - behind
        w = min(space, 220)
        x = left + before + (space - w) / 2
        bottom = axis.bed + axis.sunk
        leads = replica is not None and replica["role"] == "leader"
        key, args, tone = state_of(part, broker)
        role = self.say(key, args) if self.say else ""
        bed = axis.y(max(_local(replica), axis.base)) if replica else bottom
        level = axis.y(max(replica["hw"], axis.base)) if replica else bed
        beside = min(left + self.col, width) - x - w - 7
        return Tank(
            broker=number,
            x=x,
            w=w,
            top=bottom - axis.inner + 4,
            floor=bottom,
            foot=bottom + (self.room.shelf if "store" in self.view else 0),
            bed=bed,
            level=level if bed - level >= 1 else None,
            mark=self._mark(replica, beside, bottom) if replica else (("", 0), 0),
            waits=bool(replica and replica["blocks"]),
            dead=broker["alive"] != "up",
            off=replica is None or broker["alive"] != "up" or replica["role"] == "offline",
            leads=leads,
            crowned=part["record"]["leader"] == number,
            name=self._name(broker, leads),
            role=fitted(shorter(role), self.col - 4, self.room.role, self.room.small, bold=False),
            tone=tone,
            note=self._note(broker, replica),
            cells=tuple(self._cells(number, replica, x, w)) if replica else (),
            fold=self._fold(replica, x + self.pad, w - 2 * self.pad) if replica else None,
            shelf=tuple(self._shelf(replica, x, w, bottom)) if replica else (),
        )

    def _name(self, broker: BrokerView, leads: bool) -> Label:
        room = self.room
        space = self.col - (room.name + 5 if leads else 0) - 6
        words = self.say("card.name", {"name": broker["name"]}) if self.say else broker["name"]
        return fitted([words, broker["name"]], space, room.name, room.small)

    def _note(self, broker: BrokerView, replica: ReplicaView | None) -> Label:
        """Return a wrong belief, or that the leader's high watermark waits for this replica."""
        if self.say is None or replica is None:
            return "", 0
        number, record, words = broker["id"], self.part["record"], [""]
        leader = self.part["replicas"].get(str(record["leader"]))
        who, epoch = replica["belief"]["leader"], replica["belief"]["le"]
        knows = broker["alive"] == "up" and replica["role"] != "offline" and epoch >= 0
        if knows and (who, epoch) != (record["leader"], record["le"]):
            kind = "_self" if who == number else "_none" if who < 0 else ""
            names = {node["id"]: node["name"] for node in self.view["brokers"]}
            words = [self.say(f"scene.thinks{kind}", {"b": names.get(who, "")})]
        elif leader and number in leader["blocks"]:
            words = [self.say(f"card.waits{kind}", {}) for kind in ("", ".short")]
        small = self.room.small
        return fitted(words, self.col - 4, small, small, bold=False)

    def _mark(self, replica: ReplicaView, beside: float, bottom: float) -> tuple[Label, float]:
        """Return the high watermark's label and its baseline: above its level at the floor."""
        if self.room.margin:
            return ("", 0), 0
        y = self.axis.y(max(replica["hw"], self.axis.base))
        space = beside - (14 if replica["blocks"] else 0)
        mark = str(replica["hw"])
        label = fitted([f"HW {mark}", mark], space, self.room.role, self.room.small)
        return label, (y - 24 if y + 20 > bottom else y - 9) + 15

    def _cells(self, number: int, replica: ReplicaView, x: float, w: float) -> list[TankCell]:
        """Return records from the floor up, then those cut off, then graves."""
        fold, leo = self.axis.fold, replica["leo"]
        lost = set(self.view["ledger"]["lost"])
        low, high = self.part["differ"] or (0, 0)
        cells = [
            self._cell(
                x + self.pad,
                w - 2 * self.pad,
                record,
                open=record["o"] >= replica["hw"],
                acked=record["acked"],
                lost=record["id"] in lost,
                differs=low <= record["o"] < high,
            )
            for record in replica["records"]
            if max(fold, _local(replica)) <= record["o"] < leo
        ]
        drawn = {entry["id"] for entry in [*replica["cut"], *replica["records"]]}
        buried: list[Record] = [
            {"o": offset, "id": name, "e": 0, "acked": True, "read": False}
            for p, offset, name, brokers in self.view.get("graves", ())
            if p == self.part["p"]
            and name not in drawn
            and (replica["role"] == "leader" or number in brokers)
        ]
        graves = {record["id"] for record in buried}
        for record in [*replica["cut"], *buried]:
            if record["o"] < fold:
                continue
            place = (x + self.pad, w - 2 * self.pad)
            if record["o"] < leo:  # another record has taken its place
                place = (x + w - 12, min(30.0, w * 0.4))
            flags = {"acked": record["acked"], "lost": record["id"] in lost | graves}
            cells.append(self._cell(*place, record, crossed=True, **flags))
        return cells

    def _cell(self, x: float, w: float, record: Record, **flags: bool) -> TankCell:
        h = max(1, self.axis.pitch - GAP)
        y = self.axis.y(record["o"] + 1) + GAP / 2
        small, share = self.room.small, 0.44 if flags.get("crossed") else 0.46
        most = max(small, min(32, h * share))
        label = fitted(str(record["id"] or ""), w - 6, most, small)
        if flags.get("crossed") and w < 40:
            label = "", 0
        return TankCell(x, y, w, h, record["o"], label, record["e"], **flags)

    def _fold(self, replica: ReplicaView, x: float, w: float) -> FoldedRecords | None:
        """Return what is older than there is room for, counted."""
        axis = self.axis
        start, end = max(axis.base, _local(replica)), min(axis.fold, replica["leo"])
        runs = []
        for first, last, epoch in replica["runs"]:
            if first < end:
                top = axis.y(min(last, end))
                runs.append((epoch, top, axis.y(max(first, axis.base)) - top))
        if not axis.fold_height or end <= start or not runs:
            return None
        count, small, words = end - start, self.room.small, [""]
        if self.say:
            words = [self.say("cell.earlier", {"n": count})]
            if all(copy["hw"] >= end for copy in self.part["replicas"].values()):
                words.insert(0, self.say("cell.earlier.committed", {"n": count}))
            words.append(str(count))
        label = fitted(words, w - 6, small, small)
        top = axis.bed - axis.fold_height
        return FoldedRecords(x, w, tuple(runs), top, axis.fold_height, count, label)

    def _shelf(
        self, replica: ReplicaView, x: float, w: float, floor: float
    ) -> Iterator[ShelvedSegments]:
        """Yield what has left the disk, then copies of what it still has."""
        room, start, local = self.room, replica["start"], _local(replica)
        if "store" not in self.view or not room.shelf:
            return
        mine = [
            segment
            for segment in self.view["store"]["segments"]
            if segment["p"] == self.part["p"] and segment["last"] >= start
        ]
        copies = [segment for segment in mine if segment["last"] >= local]
        parts = [(start, local - 1, [segment for segment in mine if segment not in copies])][
            : local > start
        ]
        parts += [(copies[0]["first"], copies[-1]["last"], copies)] if copies else []
        height = room.shelf - room.small - 6 - 2 * SHELF_GAP
        wide = (w - SHELF_GAP * (len(parts) - 1)) / max(1, len(parts))
        for first, last, segments in parts:
            words = str(first) if first == last else f"{first}–{last}"
            read = all(segment["read"] for segment in segments)
            kind = "bare" if not segments else "unread" if not read else "only"
            yield ShelvedSegments(
                x,
                floor + SHELF_GAP,
                wide,
                height,
                "copy" if kind == "only" and segments is copies else kind,
                fitted(words, wide - 4, min(room.small, height - 2), 9),
                tuple(
                    (
                        segment["first"],
                        segment["epochs"][-1][0] if segment["epochs"] else 0,
                        segment["read"],
                    )
                    for segment in segments[-max(1, int(wide // LEAST_SEGMENT)) :]
                ),
            )
            x += wide + SHELF_GAP
