"""A few differences field by field: the records are read again where the tally says they are."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...segments.wanted import Wanted
from ..files import FileSplit
from ..splits import Split
from .classify import KINDS, Tally, Where
from .hashed import Comparison

SHOWN = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_TEXT_MAX = 120
Record = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """One difference: the record of A and that of B, as far as there are."""

    a: Record | None
    b: Record | None
    columns: tuple[str, ...]
    """The compared columns."""

    def fields(self) -> list[str]:
        """The columns in which the two differ, or that one record has."""
        if self.a is None or self.b is None:
            return list(self.columns)
        place = [name for name in ("partition", "offset") if self.a[name] != self.b[name]]
        return place + [name for name in self.columns if self.a[name] != self.b[name]]

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: bytes that are no text are base64, and said so."""
        sides = {"a": self.a, "b": self.b}
        found: dict[str, Any] = {
            side: None if record is None else {k: plain(v) for k, v in record.items()}
            for side, record in sides.items()
        }
        both = self.a is not None and self.b is not None
        return {**found, "fields": self.fields() if both else []}

    def lines(self, kind: str) -> list[str]:
        """For people."""
        one = self.a or self.b or {}
        side = "" if self.a and self.b else " (A)" if self.a else " (B)"
        offset = "" if one["offset"] is None else f" offset {one['offset']}"
        found = [f"{kind}{side}: {one['topic']}-{one['partition']}{offset}"]
        for name in self.fields():
            if self.a is not None and self.b is not None:
                found.append(f"    {name:<10}{text(self.a[name])}  ->  {text(self.b[name])}")
            else:
                found.append(f"    {name:<10}{text(one[name])}")
        return found


def fetch(
    tally: Tally, sides: tuple[Sequence[Split], Sequence[Split]], comparison: Comparison
) -> dict[str, list[Sample]]:
    """The samples of a tally. Raises what reading raises."""
    wanted = {
        where
        for pairs in tally.samples.values()
        for pair in pairs
        for where in pair
        if where is not None
    }
    by_split: dict[tuple[int, int], list[Where]] = {}
    for where in wanted:
        by_split.setdefault((where.side, where.split), []).append(where)
    records: dict[Where, Record] = {}
    for (side, number), places in by_split.items():
        records.update(_read(sides[side][number], places, comparison))

    def found(where: Where | None) -> Record | None:
        return None if where is None else records[where]

    return {
        kind: [Sample(found(a), found(b), comparison.columns) for a, b in tally.samples[kind]]
        for kind in KINDS
    }


def _read(
    split: Split, places: Sequence[Where], comparison: Comparison
) -> Iterator[tuple[Where, Record]]:
    asked = Wanted(columns=SHOWN, isolation=comparison.isolation)
    if not isinstance(split, FileSplit):
        for where in places:
            narrow = replace(asked, start_offset=where.offset, end_offset=where.offset + 1)
            for batch in split.read(narrow):
                if batch.num_rows:
                    yield where, _record(batch, 0)
                    break
        return
    yield from _of_file(split, asked, set(places))


def _of_file(split: Split, wanted: Wanted, places: set[Where]) -> Iterator[tuple[Where, Record]]:
    """The file is read up to the last of them."""
    first = 0
    for batch in split.read(wanted):
        for where, at in _found(batch, first, places):
            places.discard(where)
            yield where, _record(batch, at)
        if not places:
            return
        first += batch.num_rows


def _found(batch: pa.RecordBatch, first: int, places: set[Where]) -> list[tuple[Where, int]]:
    """Which of the places are in a batch, and in which row; `first`: the number of its first."""
    if not batch.num_rows:
        return []
    if batch["offset"].null_count:
        rows = [(where, where.offset - first) for where in places]
        return [(where, at) for where, at in rows if 0 <= at < batch.num_rows]
    offsets, partitions = (batch[name].to_numpy() for name in ("offset", "partition"))
    found = []
    for where in places:
        rows_there = np.flatnonzero((offsets == where.offset) & (partitions == where.partition))
        found += [(where, int(rows_there[0]))] if len(rows_there) else []
    return found


def _record(batch: pa.RecordBatch, at: int) -> Record:
    return {name: batch[name][at].as_py() for name in SHOWN}


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else value


def text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        headers = [f"{each['key']}: {text(each['value'])}" for each in value]
        found = "[" + ", ".join(headers) + "]"
    elif isinstance(value, bytes):
        found = plain(value) if isinstance(plain(value), str) else value.hex()
        found = found if found.isprintable() else repr(found)
    else:
        found = str(value)
    return found if len(found) <= _TEXT_MAX else f"{found[:_TEXT_MAX]}... ({len(found)})"
