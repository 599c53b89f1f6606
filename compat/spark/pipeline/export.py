"""Write the records of a topic, a data directory or files into Parquet, JSON Lines or CSV.

    odradek export localhost:9092/orders orders.parquet
    odradek export /var/lib/kafka/orders orders.jsonl --since 2026-01-01 --until 2026-02-01
    odradek export localhost:9092/orders out --format csv --partition-by date

OUT with an ending of a format is one file; without one, or with --partition-by, a folder of part
files. It is there when all of it is: what is written meanwhile is in OUT.partial.

A command that found no record because `--from-offset` is past the end of every partition.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from ..segments.kept import past_end
from ..segments.schema import BATCH_COLUMNS, RECORD_COLUMNS, schema_of
from ..segments.wanted import Wanted
from .command import (
    Outcome,
    add_engine_options,
    add_isolation,
    add_output_options,
    add_ranges,
    add_resume_options,
    offsets_of,
    run_command,
)
from .engine import Engine, choose, in_bytes
from .errors import PipelineError, full_disk_names
from .files import FORMATS, format_of
from .places import Directory, absolute, place
from .progress import Progress, progress
from .retention import warn
from .splits import SegmentSplit, Split
from .state import State
from .stored import from_plain, to_plain
from .writers import DECODINGS, WRITERS, Writer, join


@dataclass(frozen=True)
class NothingFrom:
    """There was no record from these offsets on."""

    asked: int | None
    """The one offset for all partitions; None if several were given."""
    is_bounded: bool
    """Whether there were other bounds, which may be why."""

    @property
    def text(self) -> str:
        offset = "the offsets of --from-offset" if self.asked is None else f"offset {self.asked}"
        within = ", within the other bounds" if self.is_bounded else ""
        return f"warning: no partition has a record to export from {offset} on{within}"

    def as_json(self) -> dict[str, Any]:
        return {"warning": "nothing from this offset", "from_offset": self.asked, "text": self.text}


def nothing_from(options: argparse.Namespace, rows: int) -> Sequence[NothingFrom]:
    """The warning, if offsets were asked for by number and there was nothing. `options`: those of
    `add_ranges`."""
    start = options.from_offset
    asked = list(start.values()) if isinstance(start, dict) else [start]
    if rows or not any(each is not None and each > 0 for each in asked):
        return []
    bounds = options.to_offset, options.since, options.until
    is_bounded = any(each is not None for each in bounds)
    return [NothingFrom(None if isinstance(start, dict) else start, is_bounded)]


KEYS = ("topic", "partition", "date")
_NO_DATE = "__HIVE_DEFAULT_PARTITION__"  # Hive's and Spark's name for null


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `odradek export`."""
    parser.add_argument("place", help="HOST:PORT/TOPIC, a data directory or a part of it, or files")
    parser.add_argument("out", help="a file or folder to make")
    parser.add_argument(
        "--format", choices=list(WRITERS), help="of OUT (default: what its ending says)"
    )
    parser.add_argument("--from-format", choices=FORMATS, help="of PLACE, if its ending is another")
    parser.add_argument(
        "--partition-by",
        type=keys,
        default=(),
        metavar="KEY[,KEY]",
        help="a folder each: topic, partition, date (of the time, in UTC)",
    )
    parser.add_argument(
        "--batch-columns",
        action="store_true",
        help="also where a record was found, and how its batch was written",
    )
    parser.add_argument(
        "--decode",
        choices=DECODINGS,
        default="text",
        help="keys and values in JSON Lines and CSV: text (the default; what is not UTF-8 is "
        "base64), base64 for all, or json, which puts values that are JSON into the line",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace OUT if it is there")
    parser.add_argument(
        "--skip-damage",
        action="store_true",
        help="leave out what a data directory has damaged or lost, and say what (exit status 1)",
    )
    add_ranges(parser)
    add_isolation(parser)
    add_engine_options(parser)
    add_resume_options(parser, state=False)
    add_output_options(parser)


def keys(text: str) -> tuple[str, ...]:
    found = tuple(each.strip() for each in text.split(","))
    if not set(found) <= set(KEYS) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"not some of {', '.join(KEYS)}: {text!r}")
    return found


def run(options: argparse.Namespace) -> int:
    return run_command(options, lambda: export(options))


def export(options: argparse.Namespace) -> Outcome:
    """Do it. Raises PipelineError, PlaceError, BrokerError, Damaged, OSError."""
    began = time.monotonic()
    target = _Target.of(options)
    same = ("place", "from_format", "from_offset", "to_offset", "since", "until", "isolation")
    asked = {name: str(getattr(options, name)) for name in (*same, *_MEANT)}
    asked |= {"place": absolute(options.place)}
    asked |= {"format": target.format, "partition_by": str(options.partition_by)}
    with (
        full_disk_names(target.partial),
        State(target.state, asked, resume=options.resume, replace=options.overwrite) as state,
    ):
        if state.plan is None:
            found = place(options.place, options.from_format)
            _check_lost(found, options)
            splits: Sequence[Split] = found.splits(_wanted(options), offsets_of(options))
        else:
            splits = from_plain(state.plan, state.path)
        engine = choose(options, sum(split.size for split in splits))
        with closing(engine), progress(options.quiet) as bar:
            engine.start()
            if state.plan is None:
                target.clear()
                state.begin(to_plain(splits))
            else:
                target.discard_unfinished()
            _write_parts(options, target, splits, state, engine, bar)
            target.finish(options, state, engine)
        state.remove()
    shutil.rmtree(target.partial, ignore_errors=True)
    return _outcome(options, target, state, engine, time.monotonic() - began)


_MEANT = ("batch_columns", "decode", "skip_damage")


def _lost(found: object, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Whole partitions that a data directory has lost, or whose records all count as deleted."""
    if not isinstance(found, Directory) or options.from_format is not None:
        return []
    past = [
        {
            "path": segment.directory,
            "position": None,
            "offset": end,
            "next_offset": segment.log_start,
            "what": past_end(segment.log_start, end),
        }
        for segment, end in found.past_end()
    ]
    return past + [
        {
            "path": f"{found.path}/{topic}-{partition}",
            "position": None,
            "offset": 0,
            "next_offset": end,
            "what": f"the partition is missing: offsets 0 to {end - 1}",
        }
        for topic, partition, end in found.lost()
    ]


def _check_lost(found: object, options: argparse.Namespace) -> None:
    for each in _lost(found, options) if not options.skip_damage else ():
        raise PipelineError(f"{each['path']}: {each['what']} ({_SKIP})")


_SKIP = "--skip-damage exports what is left"


def _wanted(options: argparse.Namespace) -> Wanted:
    return Wanted(
        columns=RECORD_COLUMNS + (BATCH_COLUMNS if options.batch_columns else ()),
        start_ms=options.since,
        end_ms=options.until,
        isolation=options.isolation,
    )


@dataclass(frozen=True)
class _Target:
    out: Path
    format: str
    is_file: bool

    @classmethod
    def of(cls, options: argparse.Namespace) -> _Target:
        """Raises PipelineError."""
        named = format_of(options.out)
        format = options.format or named
        if format is None or format not in WRITERS:
            known = "|".join(WRITERS)
            raise PipelineError(
                f"{options.out} does not tell a format that is written: --format {known}"
            )
        out = Path(options.out.rstrip("/") or "/").absolute()  # tasks may run elsewhere
        is_file = named == format and not options.partition_by and not options.out.endswith("/")
        if out.exists() and not options.overwrite and not options.resume:
            raise PipelineError(f"{out} is there already: --overwrite replaces it")
        if not out.parent.is_dir():
            raise PipelineError(f"{out.parent} is no directory")
        return cls(out, format, is_file)

    @property
    def partial(self) -> Path:
        return self.out.with_name(self.out.name + ".partial")

    @property
    def state(self) -> Path:
        return self.partial / "state.jsonl"

    @property
    def parts(self) -> Path:
        return self.partial / "parts"

    def clear(self) -> None:
        """Remove the parts of an earlier run whose state was removed."""
        if self.parts.exists():
            shutil.rmtree(self.parts)

    def discard_unfinished(self) -> None:
        """Remove what a run that was killed was writing."""
        for path in self.parts.rglob(".part-*"):
            path.unlink()

    def finish(self, options: argparse.Namespace, state: State, engine: Engine) -> None:
        """Give the whole its name. Can be repeated."""
        files = [
            self.parts / name for _, done in sorted(state.done.items()) for name in done["files"]
        ]
        if not self.parts.exists():  # killed after the last step
            return
        whole = self.parts
        if self.is_file:
            whole = files[0]
            if not whole.exists() and self.out.exists():  # renamed already
                return
            if len(files) > 1:
                whole = self.partial / f"whole.{self.format}"
                task = _Join(tuple(map(str, files)), str(whole), self.format, _wanted(options))
                list(engine.run(_run, [task]))
        if self.out.is_dir():
            self.out.rename(self.partial / f"replaced-{uuid4().hex}")
        elif self.out.exists() and not self.is_file:
            self.out.unlink()
        whole.rename(self.out)


@dataclass(frozen=True)
class _Join:
    files: tuple[str, ...]
    target: str
    format: str
    wanted: Wanted

    def run(self) -> None:
        with full_disk_names(self.target):
            join(self.files, self.target, self.format, schema_of(self.wanted.columns))


def _run(task: _Join) -> None:
    task.run()


def _write_parts(
    options: argparse.Namespace,
    target: _Target,
    splits: Sequence[Split],
    state: State,
    engine: Engine,
    bar: Progress,
) -> None:
    """Each split that is not done yet as files."""
    task = _Export(
        *(str(target.parts), target.format, options.decode, options.partition_by),
        *(_wanted(options), options.skip_damage),
    )
    pieces = [(number, split) for number, split in enumerate(splits) if number not in state.done]
    if pieces or not splits:
        target.parts.mkdir(exist_ok=True)
    bar.begin(f"export to {target.out}", sum(split.size for split in splits))
    bar.advance(sum(splits[number].size for number in state.done if number < len(splits)))
    for index, result in engine.run(task, pieces, sum(split.size for _, split in pieces)):
        number, split = pieces[index]
        state.finish_piece(number, result)
        bar.advance(split.size)
    if not any(done["files"] for done in state.done.values()):
        state.finish_piece(len(splits), task.nothing(len(splits)))


@dataclass(frozen=True)
class _Export:
    """The task: one split, as one file for each of its folders."""

    folder: str
    format: str
    decode: str
    keys: tuple[str, ...]
    wanted: Wanted
    skip_damage: bool = False

    def __call__(self, piece: tuple[int, Split]) -> dict[str, Any]:
        with full_disk_names(self.folder):
            return self._export(*piece)

    def _export(self, number: int, split: Split) -> dict[str, Any]:
        files = _PartFiles(self, number)
        left_out: list[dict[str, Any]] = []
        try:
            rows = 0
            for batch in self._read(split, left_out):
                rows += batch.num_rows
                for folder, records in by_folder(batch, self.keys):
                    files.write(folder, records)
            names = files.finish()
        finally:
            files.discard()
        sizes = [os.path.getsize(os.path.join(self.folder, name)) for name in names]
        return {"rows": rows, "bytes": sum(sizes), "files": names, "left_out": left_out}

    def _read(self, split: Split, left_out: list[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
        if not isinstance(split, SegmentSplit):
            yield from split.read(self.wanted)
        elif self.skip_damage:
            yield from split.read(self.wanted, lambda damaged: left_out.append(vars(damaged)))
        else:
            yield from split.read(self.wanted)

    def nothing(self, number: int) -> dict[str, Any]:
        """A file without records, so that the whole has one."""
        files = _PartFiles(self, number)
        schema = schema_of(self.wanted.columns)
        files.write("", pa.RecordBatch.from_pylist([], schema=schema))
        return {"rows": 0, "bytes": 0, "files": files.finish()}


class _PartFiles:
    """The files of one split, which get their names when all of them are complete."""

    def __init__(self, task: _Export, number: int) -> None:
        self._task = task
        self._name = f"part-{number:05}.{task.format}"
        self._unique = uuid4().hex
        self._writers: dict[str, Writer] = {}

    def write(self, folder: str, batch: pa.RecordBatch) -> None:
        if folder not in self._writers:
            os.makedirs(os.path.join(self._task.folder, folder), exist_ok=True)
            make = WRITERS[self._task.format]
            self._writers[folder] = make(self._temporary(folder), batch.schema, self._task.decode)
        self._writers[folder].write(batch)

    def finish(self) -> list[str]:
        """The names, relative to the folder of all parts."""
        for writer in self._writers.values():
            writer.close()
        names = []
        for folder in sorted(self._writers):
            names.append(os.path.join(folder, self._name))
            os.replace(self._temporary(folder), os.path.join(self._task.folder, names[-1]))
        self._writers = {}
        return names

    def discard(self) -> None:
        for folder, writer in self._writers.items():
            with suppress(OSError):  # a full disk: it cannot be completed, and need not be
                writer.close()
            os.unlink(self._temporary(folder))

    def _temporary(self, folder: str) -> str:
        return os.path.join(self._task.folder, folder, f".{self._name}.{self._unique}")


def by_folder(batch: pa.RecordBatch, keys: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The records of a batch by the folder they go into, in their order."""
    if not batch.num_rows:
        return
    folders = pa.array([""] * batch.num_rows) if not keys else None
    for key in keys:
        each = _folders(batch, key)
        folders = each if folders is None else pc.binary_join_element_wise(folders, each, "/")
    for folder in pc.unique(folders).to_pylist():
        yield folder, batch.filter(pc.equal(folders, folder)) if keys else batch


def _folders(batch: pa.RecordBatch, key: str) -> pa.Array:
    """`key=value` of each record."""
    if key == "date":
        values = pc.fill_null(pc.strftime(batch["timestamp"], "%Y-%m-%d"), _NO_DATE)
    else:
        values = batch[key].cast(pa.string())
    names = pc.unique(values)
    folders = pa.array([f"{key}={quote(name, safe=' ')}" for name in names.to_pylist()])
    return folders.take(pc.index_in(values, value_set=names))


def _outcome(
    options: argparse.Namespace, target: _Target, state: State, engine: Engine, seconds: float
) -> Outcome:
    done = state.done.values()
    rows = sum(each["rows"] for each in done)
    files = 1 if target.is_file else sum(len(each["files"]) for each in done)
    out = target.out
    size = (
        out.stat().st_size
        if target.is_file
        else sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    )
    result = {
        "command": "export",
        "place": options.place,
        "out": str(out),
        "format": target.format,
        "rows": rows,
        "files": files,
        "bytes": size,
        "seconds": round(seconds, 3),
        "engine": engine.name,
    }
    plural = "" if files == 1 else "s"
    nothing = nothing_from(options, rows)
    result["warnings"] = [each.as_json() for each in nothing]
    left_out = [each for of_one in done for each in of_one.get("left_out", ())]
    if options.skip_damage:
        left_out += _lost(place(options.place, options.from_format), options)
        result["left_out"] = left_out
    lines = [
        f"{rows:,} records of {options.place}",
        f"{files:,} {target.format} file{plural}, {in_bytes(size)}: {options.out}",
        f"{seconds:.1f} s with {engine.name}, {rows / max(seconds, 1e-9):,.0f} records/s",
    ]
    lines += [f"left out: {_sentence(each)}" for each in left_out]
    return Outcome(result, [*lines, *warn(nothing)], int(bool(left_out)))


def _sentence(left_out: dict[str, Any]) -> str:
    where = "" if left_out["position"] is None else f", byte {left_out['position']}"
    after = left_out["next_offset"]
    last = f" to {after - 1}" if after is not None and after > left_out["offset"] + 1 else ""
    offsets = "" if "offset" in left_out["what"] else f", offset {left_out['offset']}{last}"
    return f"{left_out['path']}{where}{offsets}: {left_out['what']}"
