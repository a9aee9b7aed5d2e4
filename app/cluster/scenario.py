"""From what was pasted of a cluster to a scenario that starts in that state.

What no tool prints is assumed, and what is too long is shortened; a note says so each time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from app.cluster.brokers import few, offline_of, topics_of
from app.reading.facts import MIN_ISR, UNCLEAN, Facts, Notice, PastedPartition, Press
from engine.model.configs import CATALOGUE, checked
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.scenarios.initial import TOPIC_SETTINGS
from engine.scenarios.parts import MOST_BROKERS

MOST_PARTITIONS: Final = 64
MOST_REPLICAS: Final = 240
"""Both for one pasted cluster, so that its run still fits into a link."""
EPOCHS_KEPT: Final = 6
WIDEST_GAP: Final = 6
MOST_COLUMNS: Final = 400
BEFORE: Final = 4
INVENTED: Final = 8
BEHIND: Final = 3
"""Records, in a log of which nothing is known, and how many fewer outside the ISR."""


def scenario_of(facts: Facts, title: str) -> tuple[dict[str, Any] | None, list[Notice]]:
    """Return the scenario as plain data, and its assumptions; None without any partition."""
    notes: list[Notice] = []
    chosen = _chosen(facts, notes)
    if not chosen:
        return None, [*facts.notes, Notice("paste.note.nothing")]
    brokers = sorted({replica for part in chosen for replica in part.replicas})
    notes += facts.notes
    offline = offline_of(facts, chosen, brokers, notes)
    notes += _assumed(facts, chosen)
    states = [_state(facts, part, notes) for part in chosen]
    invented = [state["name"] for state in states if "hw" not in state["logs"][0]]
    if invented:
        shown = few(invented)
        args = {"names": shown, "n": INVENTED, "less": BEHIND}
        notes.append(Notice("paste.note.invented", args, topics=topics_of(invented)))
    _tell_the_rest(facts, chosen, notes)
    return {
        "title": title,
        "origin": "",
        "profiles": [profile_of(facts)],
        "brokers": [{"id": broker} for broker in brokers],
        "partitions": [list(part.replicas) for part in chosen],
        "configs": _configs(facts, ""),
        "script": "settle",
        "initial": {"offline": offline, "partitions": states},
    }, notes


def profile_of(facts: Facts) -> str:
    """Return the Kafka that prints such columns: ELR from 4.0, topic ids 2.8, a quorum 3.0."""
    if facts.profile:
        return facts.profile
    if facts.elr_known:
        return "K41"
    return "K39" if facts.ids_known or facts.quorum or facts.members else "Z28"


def _chosen(facts: Facts, notes: list[Notice]) -> list[PastedPartition]:
    """Return the partitions that fit, those in trouble first."""
    every = sorted(facts.partitions.values(), key=lambda pasted: not _degraded(pasted))
    picked: list[PastedPartition] = []
    brokers: set[int] = set()
    replicas = 0
    for part in every:
        more = brokers | set(part.replicas)
        total = replicas + len(part.replicas)
        if (
            len(picked) < MOST_PARTITIONS
            and len(more) <= MOST_BROKERS
            and (total <= MOST_REPLICAS or not picked)
        ):
            picked.append(part)
            brokers, replicas = more, total
    of = len(every) + facts.left_out
    if len(picked) < of:
        notes.append(Notice("paste.note.left_out", {"n": of - len(picked), "of": of}))
    return picked


def _configs(facts: Facts, topic: str) -> dict[str, Any]:
    """Return the settings that a topic has of its own, or the cluster for topic ""."""
    own = facts.settings.get(topic, {})
    names = (MIN_ISR, UNCLEAN) if not topic else TOPIC_SETTINGS
    configs: dict[str, Any] = {}
    for name in names:
        with suppress(InputError):  # such as a bound that Kafka does not have
            if name in own:
                value = checked(name, own[name])
                configs[name] = value if name != UNCLEAN else bool(value)
    return configs


def _assumed(facts: Facts, chosen: list[PastedPartition]) -> list[Notice]:
    """Note the settings that no line names, with what may be played instead."""
    notes = []
    played = profile_of(facts)
    untold = _without(facts, chosen, MIN_ISR)
    if untold:
        factor = max(len(part.replicas) for part in chosen if part.topic in untold)
        choices = tuple(
            Press("cluster.put.min_isr", {"n": n}, f"# {MIN_ISR}={n}")
            for n in range(2, min(4, factor + 1) + 1)
        )
        args = {"n": 1, "topics": few(untold)}
        notes.append(Notice("paste.note.min_isr", args, choices=choices, topics=tuple(untold)))
    untold = _without(facts, chosen, UNCLEAN)
    if untold:
        usual = bool(CATALOGUE[UNCLEAN].default_in(get_profile(played)))
        other = str(not usual).lower()
        choice = Press("cluster.put.unclean", {"value": other}, f"# {UNCLEAN}={other}")
        args = {"topics": few(untold), "value": str(usual).lower()}
        notes.append(Notice("paste.note.unclean", args, choices=(choice,), topics=tuple(untold)))
    if not facts.profile:
        choices = tuple(
            Press("cluster.put.release", {"kafka": row.stands_for}, f"# kafka {row.releases[-1]}")
            for row in map(get_profile, ("Z28", "K39", "K41"))
            if row.name != played
        )
        key = f"paste.note.release.{played.lower()}"
        notes.append(Notice(key, {"kafka": get_profile(played).stands_for}, choices=choices))
    again = [
        (name, line) for name, line in facts.twice if any(part.name == name for part in chosen)
    ]
    if again:
        args = {"names": few(list(dict.fromkeys(name for name, _ in again))), "line": again[0][1]}
        counts, other = ("first", "last") if facts.first_counts else ("last", "first")
        choice = Press(f"cluster.put.{other}", {}, f"# the {other} description counts")
        topics = topics_of(name for name, _ in again)
        key = f"paste.note.twice.{counts}"
        notes.append(Notice(key, args, choices=(choice,), topics=topics))
    observed = [part.name for part in chosen if part.observers]
    if observed:
        args = {"names": few(observed)}
        notes.append(Notice("paste.note.observers", args, topics=topics_of(observed)))
    if facts.raft:
        notes.append(Notice("paste.note.raft"))
    return notes


def _without(facts: Facts, chosen: list[PastedPartition], name: str) -> list[str]:
    """Return the topics of which no line has a setting."""
    topics = dict.fromkeys(one.topic for one in chosen)
    return sorted(topic for topic in topics if facts.setting(topic, name) is None)


def _degraded(one: PastedPartition) -> bool:
    return one.leader < 0 or set(one.isr) != set(one.replicas)


# -- one partition -------------------------------------------------------------------------------


def _state(facts: Facts, part: PastedPartition, notes: list[Notice]) -> dict[str, Any]:
    by_broker = {
        broker: facts.epochs[broker, part.name][-EPOCHS_KEPT:]
        for broker in part.replicas
        if facts.epochs.get((broker, part.name))
    }
    latest = max((entries[-1][0] for entries in by_broker.values()), default=0)
    latest = max(latest, part.leader_epoch or 0)
    ends = _ends(facts, part, by_broker)
    if ends:
        logs = _logs(facts, part, by_broker, ends, latest, notes)
    else:
        logs = [
            {
                "broker": broker,
                "epochs": [[latest, 0]],
                "end": INVENTED if broker in (*part.isr, *part.elr) else INVENTED - BEHIND,
            }
            for broker in part.replicas
        ]
    if part.adding or part.removing:
        args = {"name": part.name}
        notes.append(Notice("paste.note.reassign", args, part.line, topics=(part.topic,)))
    state = {
        "name": part.name,
        "leader": part.leader,
        "leader_epoch": latest,
        "isr": list(part.isr),
        "elr": list(part.elr),
        "last_known_elr": list(part.last_known_elr),
        "min_isr": int(facts.settings.get(part.topic, {}).get(MIN_ISR, 0)),
        "logs": logs,
    }
    if own := _configs(facts, part.topic):
        state["configs"] = own
    if part.partition_epoch is not None:
        state["partition_epoch"] = part.partition_epoch
    return state


def _ends(
    facts: Facts, part: PastedPartition, by_broker: dict[int, list[tuple[int, int]]]
) -> dict[int, int]:
    """Return where each log ends at least: no file says it.  ISR members are taken for equal."""
    least: dict[int, int] = {}
    for broker in part.replicas:
        place = (broker, part.name)
        ends = [table[place] for table in (facts.marks, facts.recovery) if place in table]
        ends += [offset for _, offset in by_broker.get(broker, [])[-1:]]
        end = facts.ends.get(part.name, part.end)
        if end is not None and broker in (*part.isr, *part.elr):
            ends.append(end)
        if ends:
            least[broker] = max(ends)
    if not least:
        return {}
    in_sync = [least[broker] for broker in part.isr if broker in least]
    end = max(in_sync or least.values())
    behind = (max(0, end - BEHIND), end)  # a member of the ELR has all that is committed
    return {
        broker: end if broker in part.isr else least.get(broker, behind[broker in part.elr])
        for broker in part.replicas
    }


def _logs(
    facts: Facts,
    part: PastedPartition,
    by_broker: dict[int, list[tuple[int, int]]],
    ends: dict[int, int],
    latest: int,
    notes: list[Notice],
) -> list[dict[str, Any]]:
    marks = {b: min(facts.marks.get((b, part.name), ends[b]), ends[b]) for b in part.replicas}
    flushed = {b: facts.recovery.get((b, part.name), 0) for b in part.replicas}
    fullest = max(by_broker.values(), key=lambda entries: entries[-1], default=[(latest, 0)])
    vectors = {b: by_broker.get(b, fullest) for b in part.replicas}
    points = {*ends.values(), *marks.values()}
    points |= {min(flushed[b], ends[b]) for b in part.replicas if flushed[b]}
    points |= {at for b, entries in vectors.items() for _, at in entries if at <= ends[b]}
    shown = _shortened(sorted(points))
    least = min(points)
    base = shown[least] if shown[least] == 0 else max(0, shown[least] - min(BEFORE, least))
    _tell_shortening(part, points, shown, notes)
    logs = []
    for broker in part.replicas:
        entries = [(e, shown[at]) for e, at in vectors[broker] if at <= ends[broker]]
        logs.append(
            {
                "broker": broker,
                "epochs": _from(base, entries or [(vectors[broker][0][0], base)]),
                "end": shown[ends[broker]],
                "hw": shown[marks[broker]],
                "recovery": shown.get(min(flushed[broker], ends[broker]), base),
            }
        )
    missing = [str(broker) for broker in part.replicas if broker not in by_broker]
    if missing and by_broker:
        args = {"name": part.name, "brokers": ", ".join(missing)}
        notes.append(Notice("paste.note.epochs", args, topics=(part.topic,)))
    return logs


def _from(base: int, entries: list[tuple[int, int]]) -> list[list[int]]:
    """Return the vector of a log that starts at `base`: one entry covers it, others come later."""
    covering = [epoch for epoch, at in entries if at <= base]
    history = [[covering[-1] if covering else entries[0][0], base]]
    for epoch, at in entries:
        if at > history[-1][1] and epoch > history[-1][0]:
            history.append([epoch, at])
    return history


def _shortened(points: list[int]) -> dict[int, int]:
    """Return offset -> offset as shown: the largest stays; wide gaps become narrow."""
    gap = max(1, min(WIDEST_GAP, MOST_COLUMNS // len(points)))
    shown = {points[-1]: points[-1]}
    for above, below in zip(reversed(points), reversed(points[:-1]), strict=False):
        shown[below] = shown[above] - min(above - below, gap)
    return shown


def _tell_shortening(
    part: PastedPartition, points: set[int], shown: dict[int, int], notes: list[Notice]
) -> None:
    moved = [at for at in sorted(points) if shown[at] != at]
    if moved:
        pairs = few([f"{at:,} → {shown[at]:,}" for at in moved])
        args = {"name": part.name, "pairs": pairs}
        notes.append(Notice("paste.note.shortened", args, topics=(part.topic,)))


def _tell_the_rest(facts: Facts, chosen: list[PastedPartition], notes: list[Notice]) -> None:
    names = {part.name for part in chosen}
    mentioned = {name for table in (facts.epochs, facts.marks, facts.recovery) for _, name in table}
    unseen = sorted(name for name in mentioned if name not in facts.partitions)
    if unseen:
        notes.append(Notice("paste.note.unseen", {"n": len(unseen), "names": few(unseen)}))
    if mentioned & names:
        notes.append(Notice("paste.note.ends"))
    if facts.quorum:
        leader, epoch = (facts.quorum.get(field, "?") for field in ("LeaderId", "LeaderEpoch"))
        notes.append(Notice("paste.note.quorum", {"leader": leader, "epoch": epoch}))
