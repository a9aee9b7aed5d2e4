"""A broken cluster from Python: what its tools and logs print, and runs of both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from app.cluster.reading import PartitionRead, read_text
from app.incident.story import PartitionChoice, story_of_files, story_of_text
from app.python_api.runs import LANGUAGE, Run, catalogue
from app.reading.facts import Notice
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.sim import run as runs


@dataclass(frozen=True)
class ClusterState:
    """A state that Kafka's tools print: what is wrong in it, and a run that begins there.

    `findings` are sentences, the worst first; `assumed` what the text does not say, `unread` lines
    that mean nothing here.  `run` is None where the text shows no partition.

    >>> print(cluster("Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1"))
    orders-0 ...
    """

    run: Run | None
    partitions: tuple[PartitionRead, ...]
    findings: tuple[str, ...]
    assumed: tuple[str, ...]
    unread: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.findings or self.unread or ("Nothing is wrong in it.",))


@dataclass(frozen=True)
class Incident:
    """Events of a partition, reconstructed from logs and dumps of its brokers.

    `events` are (ms since the first one, node, sentence); `run` makes the same states in the model,
    and `finding` names the first that it does not reach.

    >>> line = "[2026-01-05 10:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR"
    >>> told = incident(f"{line} from 1,2,3 to 1. Leader: (highWatermark: 5, endOffset: 9).")
    >>> told.partition, told.events[0][1:]
    ('orders-0', ...)
    """

    partition: str
    kafka: str
    verdict: tuple[str, ...]
    events: tuple[tuple[int, str, str], ...]
    run: Run | None
    finding: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        events = (f"{ms} ms, {node}: {what}" for ms, node, what in self.events)
        return "\n".join((*self.verdict, *events, *filter(None, (self.finding,))))


def cluster(text: str, kafka: str = "") -> ClusterState:
    """Read what kafka-topics.sh --describe and other tools print of a cluster.

    >>> cluster("Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1").run.then("kill 1")
    <Run ...>
    """
    words = catalogue()
    title = words.text(LANGUAGE, "cluster.title.scenario", {})
    read = read_text(text, get_profile(kafka).name if kafka else "", "", title, LANGUAGE)
    findings = [] if read.report is None else read.report["findings"]

    def sentence(notice: Notice) -> str:
        said = words.text(LANGUAGE, notice.key, notice.args)
        return f"Line {notice.line}: {said}" if notice.line else said

    return ClusterState(
        None if read.run is None else Run(read.run),
        tuple(read.summary["partitions"]),
        tuple(
            words.text(LANGUAGE, f"report.{finding['key']}", finding["args"])
            for finding in findings
        ),
        tuple(map(sentence, read.notes)),
        tuple(map(sentence, read.problems)),
    )


def incident(source: str | Path | Sequence[Path], partition: str = "") -> Incident:
    """Tell what happened to a partition: from a text that was pasted, or from files and folders.

    Several files in one text stand below lines such as `==> 2=server.log <==`, where 2 is the
    broker.  Raises InputError where they are about several partitions, and `partition` names none.

    >>> incident("nothing of Kafka")
    Traceback (most recent call last):
    engine.model.errors.InputError: ...
    """
    if isinstance(source, str):
        story = story_of_text(source, partition, LANGUAGE)
    else:
        paths = [path.resolve() for path in ([source] if isinstance(source, Path) else source)]
        root = Path(os.path.commonpath([path.parent for path in paths]))
        story = story_of_files(tuple(map(str, paths)), {}, partition, LANGUAGE, root)
    if "choose" in story:
        choice = cast(PartitionChoice, story)
        names = ", ".join(f"{name} ({n})" for name, n in choice["choose"])
        raise InputError("unknown", "Choose a partition: {0}.", names)
    return Incident(
        story["partition"],
        story["kafka"],
        tuple(story["verdict"]),
        tuple((int(ms), str(node), str(what)) for ms, node, what, _ in story["rows"]),
        None if story["run"] is None else Run(runs.Run.from_text(story["run"])),
        story["finding"],
        tuple(story["notes"]),
    )
