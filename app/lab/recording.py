"""The recording of a run on real brokers, as JSON (docs: `steps` of moves and facts)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from app.lab import table
from app.lab.playing import LabCheck, LabStep, PlayedScript
from app.lab.stage import LabStage
from engine.sim.run import Run
from engine.view.wire import PartitionRecordView

FORMAT = 1


class RecordVersion(PartitionRecordView):
    """Record of the partition at an offset of the controller's log."""

    offset: int


class LabRecording(TypedDict):
    """A recording as its file has it; `differ` as `app.lab.table.differing`, once it is compared.

    `others` are the replicas of the topic's other partitions.  `voters` is the number of
    controllers, where there are several, and `seed` that of the model that follows them.
    `adjusted` are the epochs that the laboratory itself cost; `produced` has the error and the
    offset of each record.
    """

    format: int
    scenario: str
    kafka: str
    profile: str
    seconds: int
    brokers: int
    names: list[str]
    assignment: list[int]
    others: NotRequired[list[list[int]]]
    configs: dict[str, int | str]
    adjusted: dict[str, int]
    settings: Mapping[str, object]
    steps: list[LabStep]
    expectations: list[LabCheck]
    produced: dict[str, list[str | int]]
    history: list[RecordVersion]
    voters: NotRequired[int]
    seed: NotRequired[int]
    differ: NotRequired[list[list[Any]]]


def made_of(run: Run, stage: LabStage, played: PlayedScript) -> LabRecording:
    """Return everything worth keeping of a run that was played."""
    cluster, scenario = stage.cluster, run.scenario
    history: list[RecordVersion] = [
        {
            "offset": offset,
            "leader": state.leader,
            "le": state.leader_epoch,
            "pe": state.partition_epoch,
            "isr": list(state.isr),
            "elr": list(state.elr),
            "lastKnown": list(state.last_known_elr),
            "recovering": state.recovering,
            "adding": list(state.adding),
            "removing": list(state.removing),
        }
        for offset, state in cluster.metadata.history(stage.topic)
    ]
    made: LabRecording = {
        "format": FORMAT,
        "scenario": scenario.code or scenario.slug or scenario.title,
        "kafka": cluster.release.version,
        "profile": run.profile,
        "seconds": round(played.seconds),
        "brokers": len(scenario.brokers),
        "names": [broker.label for broker in scenario.brokers],
        "assignment": stage.replicas,
        "configs": dict(sorted(scenario.configs.items())),
        "adjusted": {
            "partitionEpoch": stage.adjusted.partition_epoch,
            "leaderEpoch": stage.adjusted.leader_epoch,
        },
        "settings": cluster.settings(),
        "steps": played.steps,
        "expectations": played.checks,
        "produced": {name: list(answer) for name, answer in stage.answers.items()},
        "history": history,
    }
    if len(scenario.partitions) > 1:
        made["others"] = [list(replicas) for replicas in scenario.partitions[1:]]
    if stage.quorum:
        made["voters"] = len(stage.quorum.voters)
        made["seed"] = table.seed_of(made, run)
    return made


def text_of(recording: Mapping[str, object]) -> str:
    """Return one line a step: small, and readable in a difference of versions."""
    parts = []
    for key, value in recording.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n  ".join(_dense(row) for row in value)
            parts.append(f" {json.dumps(key)}: [\n  {rows}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {_dense(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dense(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_whole(path: Path, text: str) -> None:
    """Replace a file atomically: an interrupted call leaves the old one, or none."""
    draft = path.with_suffix(".draft")
    draft.write_text(text, "utf-8")
    draft.replace(path)
