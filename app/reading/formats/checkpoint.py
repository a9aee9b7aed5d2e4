"""The checkpoint files of a broker: high watermarks, log starts, leader epochs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from app.kafka.cursor import MalformedError
from app.reading import checkpoints
from app.reading.events import Event
from app.reading.files import Gathered, IncidentFile, folder_partition, named_owner, owner_of
from app.reading.format import FileFormat, FormatRow
from app.reading.sampling import FileSample
from engine.model.phrases import phrase

MARKS: Final = "replication-offset-checkpoint"
STARTS: Final = "log-start-offset-checkpoint"
EPOCHS: Final = "leader-epoch-checkpoint"
NEEDED: Final = (MARKS, STARTS, EPOCHS)
NOT_NEEDED: Final = ("recovery-point-offset-checkpoint", "cleaner-offset-checkpoint")


def _owner(path: Path, file: str) -> str:
    """Find the broker: by meta.properties, by a number in the name, or by the folders."""
    beside = path.with_name(path.name.replace(file, "").strip("-_. ") or file)
    return owner_of(path) or named_owner(beside)


def _recognise(path: Path, node: str, sample: Callable[[], FileSample]) -> IncidentFile | None:
    file = next((one for one in NEEDED if one in path.name), "")
    return IncidentFile(path, "checkpoint", node or _owner(path, file)) if file else None


def _recognise_useless(
    path: Path, node: str, sample: Callable[[], FileSample]
) -> IncidentFile | None:
    file = next((one for one in NOT_NEEDED if one in path.name), "")
    return IncidentFile(path, "recovery", node) if file else None


def _read(source: IncidentFile, gathered: Gathered) -> Iterator[Event]:
    wanted, path = gathered.wanted, source.path
    if wanted is None:
        return
    file = next(one for one in NEEDED if one in path.name)
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise MalformedError(
            phrase("Byte {0}: this is not the text of a checkpoint.", error.start)
        ) from None
    of_folder = folder_partition(path)
    if file == EPOCHS:
        about = of_folder
        if about is not None and about != wanted:
            return
        epochs = checkpoints.epochs(text)
        if about is None:
            gathered.complain(
                phrase(
                    "{0}: the partition of these epochs is unknown; keep the file in the "
                    "partition's folder, as {1}.",
                    path,
                    f"{wanted}/{file}",
                )
            )
        elif not source.node:
            gathered.complain(_nobody(path))
        else:
            gathered.replica(source.node).epochs = epochs
        return
    offset = checkpoints.offsets(text).get((wanted.topic, wanted.index))
    if not source.node:
        gathered.complain(_nobody(path))
    elif offset is None:
        gathered.complain(phrase("{0}: it has no line of {1}.", path, wanted))
    elif file == MARKS:
        gathered.replica(source.node).hw = offset
    else:
        gathered.replica(source.node).start = offset
    yield from ()


def _nobody(path: Path) -> str:
    return phrase(
        "{0}: the broker of this checkpoint is unknown; name the file like 2={1}.", path, path.name
    )


FORMAT: Final = FileFormat(
    "checkpoint", (FormatRow(NEEDED, "incident.known.disk"),), _recognise, _read
)
RECOVERY: Final = FileFormat("recovery", (), _recognise_useless, None)
