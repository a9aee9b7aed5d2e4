"""Rows of a batch on disk, as Parquet files.

One file a chunk, named by the chunk's number, and when all are there one file a profile and cell
(compaction.py), named by the chunks in it.

This module travels to the executors by value, so it may import only what they have: PyArrow and the
engine.  PyArrow is imported where it is used, since a first start has pages before it.  The
directory is a local path, or any address PyArrow's file systems know; driver and workers must see
the same one.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

from app.batch.runners.plan import Chunk, PlanTally, of_cycles, tilted
from engine.advisor.cycle_rows import sums_of
from engine.study.provenance import provenance

ANY = "any"
"""Among counts by invariant: runs that broke at least one."""
HEAVIEST = "heaviest"
"""Among sums of weights: the largest weight of a run in which a fault struck."""
FAULTS = "faults"
"""The metric that counts strikes: a run without one broke nothing that faults break."""

Row = dict[str, Any]
RunChunk = Callable[[dict[str, Any]], list[Row]]

# Name, Arrow type, Spark's name of it.
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("cell", "int32", "int"),
    ("profile", "string", "string"),
    ("seed", "int64", "bigint"),
    ("verdict", "string", "string"),
    ("invariant", "string", "string"),
    ("step", "int32", "int"),
    ("why", "string", "string"),
    ("events", "int64", "bigint"),
    ("log_weight", "int64", "bigint"),
)
COMPACT = re.compile(r"all-(\d{7})-(\d{7})-(\d+)\.parquet")
BROKEN_DDL = "broken array<struct<invariant: string, step: int, why: string>>"


def arrow_schema(metrics: Sequence[str]) -> Any:
    """Return the columns of a row, metrics last, each a nullable integer."""
    import pyarrow as pa

    broken = pa.struct([("invariant", pa.string()), ("step", pa.int32()), ("why", pa.string())])
    fields = [(name, getattr(pa, type_)()) for name, type_, _ in COLUMNS]
    fields.append(("broken", pa.list_(broken)))
    fields += [(name, pa.int64()) for name in metrics]
    return pa.schema(fields)


def spark_schema(metrics: Sequence[str]) -> str:
    """Return the same columns as Spark writes them."""
    fields = [f"{name} {type_}" for name, _, type_ in COLUMNS]
    return ", ".join([*fields, BROKEN_DDL, *(f"`{name}` bigint" for name in metrics)])


def finish_chunk(
    chunk: Chunk,
    scenarios: Sequence[dict[str, Any]],
    metrics: Sequence[str],
    directory: str,
    run_chunk: RunChunk,
) -> PlanTally:
    """Play a chunk and store its rows; only then does it count as done."""
    work = {
        "scenario": scenarios[chunk.cell],
        "profile": chunk.profile,
        "cell": chunk.cell,
        "first_seed": chunk.first_seed,
        "count": chunk.runs,
    }
    rows = run_chunk(work)
    about = provenance(scenarios[chunk.cell], [chunk.profile], chunk.first_seed, chunk.runs)
    write_chunk(directory, chunk.number, rows, metrics, about)
    counted = tally(chunk, rows, tilted(scenarios))
    return counted._replace(weights=sums_of(rows)) if of_cycles(scenarios) else counted


def tally(chunk: Chunk, rows: Sequence[Row], weighted: bool) -> PlanTally:
    """Count a chunk, for progress and interim results; `weighted`: also sums of weights."""
    judged = [row for row in rows if row["verdict"] != "error"]
    broken = Counter(name for row in judged for name in _broken(row))
    return PlanTally(
        chunk.number,
        chunk.profile,
        chunk.cell,
        len(rows),
        sum(row["verdict"] == "violates" for row in judged),
        len(rows) - len(judged),
        dict(broken),
        _weights(judged) if weighted else {},
    )


def together(name: str, one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Add the weights of two parts of a batch; of HEAVIEST, also of a path's, keep the larger."""
    both = max if name.startswith(HEAVIEST) else sum
    return [both(pair) for pair in zip(one, other, strict=True)]


def _broken(row: Row) -> set[str]:
    return {b[0] for b in row["broken"]}


def _weights(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Return sums as a PlanTally has them: of doubles; the result has decimals (weighing.py)."""
    heaviest = 0.0
    sums: dict[str, list[float]] = {}
    for row in rows:
        weight = exp(row["log_weight"] / 1e9)
        if row.get(FAULTS, 1):
            heaviest = max(heaviest, weight)
        broken = _broken(row)
        for name in broken | {ANY} if broken else broken:
            mine = sums.setdefault(name, [0.0, 0.0])
            mine[0] += weight
            mine[1] += weight * weight
    return {**sums, HEAVIEST: [heaviest]}


def chunk_name(number: int) -> str:
    return f"{number:07d}.parquet"


def table_of(rows: Sequence[Row], metrics: Sequence[str]) -> Any:
    """Return rows as an Arrow table of `arrow_schema`."""
    import pyarrow as pa

    names = [name for name, _, _ in COLUMNS] + ["broken", *metrics]
    columns = {name: [row.get(name) for row in rows] for name in names}
    columns["broken"] = [
        [{"invariant": b[0], "step": b[1], "why": b[2]} for b in row["broken"]] for row in rows
    ]
    return pa.table(columns, schema=arrow_schema(metrics))


def write_chunk(
    directory: str,
    number: int,
    rows: Sequence[Row],
    metrics: Sequence[str],
    about: Mapping[str, str],
) -> None:
    """Write a temporary file, then rename it: no half-written file has a chunk's name.

    Writing twice, as after a lost worker, replaces a file by its equal.
    """
    import pyarrow.parquet as pq
    from pyarrow import fs

    table = table_of(rows, metrics).replace_schema_metadata(about)
    files, base = open_directory(directory)
    draft = f"{base}/_{number}.{uuid.uuid4().hex}.tmp"
    final = f"{base}/{chunk_name(number)}"
    with files.open_output_stream(draft) as out:
        pq.write_table(table, out, compression="zstd", write_page_checksum=True)
    if isinstance(files, fs.LocalFileSystem):
        os.replace(draft, final)
    elif files.get_file_info(final).type == fs.FileType.NotFound:
        files.move(draft, final)
    else:
        files.delete_file(draft)


def open_directory(directory: str) -> tuple[Any, str]:
    """Return the file system a directory lies in, and its path there; made if missing."""
    from pyarrow import fs

    if "://" in directory:
        files, base = fs.FileSystem.from_uri(directory)
    else:
        files, base = fs.LocalFileSystem(), str(Path(directory).absolute())
    files.create_dir(base, recursive=True)
    return files, base.rstrip("/")


class RowFile(NamedTuple):
    """A file of rows, and the numbers of the chunks in it."""

    name: str
    chunks: range


def compact_name(chunks: range) -> str:
    """Return the name of a file with all these chunks, in their order."""
    return f"all-{chunks[0]:07d}-{chunks[-1]:07d}-{chunks.step}.parquet"


def files_on_disk(directory: str) -> list[RowFile]:
    """Return files that hold each chunk that is done once, in order.

    Where a server stopped between writing a compact file and removing what is in it, the compact
    one counts.
    """
    from pyarrow import fs

    files, base = open_directory(directory)
    infos = files.get_file_info(fs.FileSelector(base))
    named = [file for info in infos if (file := _row_file(info.base_name)) is not None]
    row_files: list[RowFile] = []
    seen: set[int] = set()
    for file in sorted(named, key=lambda file: -len(file.chunks)):
        if file.chunks[0] not in seen:
            row_files.append(file)
            seen.update(file.chunks)
    return sorted(row_files, key=lambda file: file.chunks[0])


def _row_file(name: str) -> RowFile | None:
    if name.endswith(".parquet") and name[:-8].isdigit():
        return RowFile(name, range(int(name[:-8]), int(name[:-8]) + 1))
    match = COMPACT.fullmatch(name)
    if match is None:
        return None
    first, last, step = map(int, match.groups())
    return RowFile(name, range(first, last + 1, step))


def chunks_on_disk(directory: str) -> set[int]:
    """Return the numbers of the chunks that are done."""
    return {number for file in files_on_disk(directory) for number in file.chunks}


def files_of(directory: str, numbers: Collection[int]) -> list[str]:
    """Return paths of the files with these chunks; of a compact file, all of its chunks come along.

    Raises FileNotFoundError where one of them is gone.
    """
    _, base = open_directory(directory)
    place = directory.rstrip("/") if "://" in directory else base
    chunks = set(numbers)
    files = [file for file in files_on_disk(directory) if not chunks.isdisjoint(file.chunks)]
    lacking = chunks.difference(*(file.chunks for file in files))
    if lacking:
        raise FileNotFoundError(f"{place}/{chunk_name(min(lacking))}")
    return [f"{place}/{file.name}" for file in files]


def delete_damaged(directory: str, numbers: Iterable[int]) -> set[int]:
    """Delete files of chunks that cannot be read to their end; return the chunks that can.

    Deleted chunks are computed again.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files, base = open_directory(directory)
    chunks = set(numbers)
    sound: set[int] = set()
    for file in files_on_disk(directory):
        if chunks.isdisjoint(file.chunks):
            continue
        try:
            with files.open_input_file(f"{base}/{file.name}") as source:
                table = pq.read_table(source, page_checksum_verification=True)
            table.validate(full=True)
            table.select([name for name, _, _ in COLUMNS])
            sound.update(file.chunks)
        except FileNotFoundError:
            continue
        except (pa.ArrowException, OSError, ValueError, KeyError):
            files.delete_file(f"{base}/{file.name}")
    return sound


def remove_directory(directory: str) -> None:
    files, base = open_directory(directory)
    files.delete_dir(base)


def read_chunks(
    directory: str,
    numbers: Collection[int],
    columns: list[str] | None = None,
    seeds: tuple[int, int] | None = None,
) -> Iterator[Row]:
    """Yield rows of the files with these chunks.

    All columns or only these, all seeds or those from the first to the second.
    """
    import pyarrow.parquet as pq

    files, base = open_directory(directory)
    within = None if seeds is None else [("seed", ">=", seeds[0]), ("seed", "<=", seeds[1])]
    for path in files_of(directory, numbers):
        with files.open_input_file(f"{base}/{path.rpartition('/')[2]}") as source:
            table = pq.read_table(
                source, columns=columns, filters=within, page_checksum_verification=True
            )
            yield from table.to_pylist()


def canonical(rows: Iterable[Row]) -> str:
    """Return rows as text, a line each, ordered by (cell, profile, seed): what tests compare."""
    ordered = sorted(rows, key=lambda row: (row["cell"], row["profile"], row["seed"]))
    return "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in ordered)
