"""The comparison as Spark jobs: the same functions on the same rows, which Spark shuffles.

Each split is a task that makes rows of its records, in pieces of bytes by bucket; Spark brings the
pieces of a bucket together, where they are looked at. What is left over goes on in the same way.
Rows never come to the driver: of each bucket one tally does. (RDDs, as what is shuffled is bytes:
`DataFrame.mapInArrow` needs pandas, and pays for each row.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..engine import explained
from ..splits import Split
from . import arrow
from .arrow import CONTENT, IDENTITY
from .buckets import bucket_of, pieces
from .classify import Tally, match, moved, rest
from .hashed import ROW, Comparison, Rows, hashed

if TYPE_CHECKING:
    from pyspark import SparkContext


Look: TypeAlias = Callable[[Rows, Tally], Rows]
Piece: TypeAlias = tuple[int, bytes | Tally]
"""A bucket and rows of it; or -1 and a tally."""


def compare(
    context: SparkContext,
    sides: tuple[Sequence[Split], Sequence[Split]],
    comparison: Comparison,
    samples: int,
) -> Tally:
    """Compare the splits of both sides. Raises PipelineError with what made a job fail."""
    from py4j.protocol import Py4JJavaError

    try:
        return _compared(context, sides, comparison, samples)
    except Py4JJavaError as error:
        raise explained(error) from error


def _compared(
    context: SparkContext,
    sides: tuple[Sequence[Split], Sequence[Split]],
    comparison: Comparison,
    samples: int,
) -> Tally:
    from pyspark import StorageLevel

    size = sum(split.size for side in sides for split in side)
    count = max(2, -(-size // arrow.BUCKET_BYTES))
    given = [
        (split, side, number)
        for side, splits in enumerate(sides)
        for number, split in enumerate(splits)
    ]
    tally = Tally(samples)
    if not given:
        return tally
    found: Any = context.parallelize(given, len(given)).flatMap(_hasher(comparison, count))
    kept = []
    for look, following in _steps(comparison):
        looked = found.partitionBy(count).mapPartitions(_looker(look, following, count, samples))
        kept.append(looked.persist(StorageLevel.DISK_ONLY))
        for _, each in looked.filter(lambda piece: piece[0] < 0).collect():
            tally.join(each)
        found = looked.filter(lambda piece: piece[0] >= 0)
    for each in kept:
        each.unpersist()
    return tally


def _steps(comparison: Comparison) -> list[tuple[Look, tuple[str, str]]]:
    """The steps: the kind looked for, and the columns by which the rest goes on."""
    if comparison.by == "offset":
        return [(_match, CONTENT), (moved, IDENTITY), (_rest, IDENTITY)]
    look = _match_in_order if comparison.is_ordered else _match
    return [(look, IDENTITY), (_rest, IDENTITY)]


def _match(rows: Rows, tally: Tally) -> Rows:
    return match(rows, tally, ordered=False)


def _match_in_order(rows: Rows, tally: Tally) -> Rows:
    return match(rows, tally, ordered=True)


def _rest(rows: Rows, tally: Tally) -> Rows:
    rest(rows, tally)
    return rows[:0]


def _hasher(comparison: Comparison, count: int) -> Callable[[tuple[Split, int, int]], Any]:
    def work(given: tuple[Split, int, int]) -> Iterator[Piece]:
        for rows in pieces(hashed(*given, comparison)):
            yield from _by_bucket(rows, IDENTITY, count)

    return work


def _looker(
    look: Look, following: tuple[str, str], count: int, samples: int
) -> Callable[[Iterable[Piece]], Iterator[Piece]]:
    def work(found: Iterable[Piece]) -> Iterator[Piece]:
        # A partition has whole buckets, perhaps several: looked at together they are the same.
        given = [np.frombuffer(data, ROW) for _, data in found if isinstance(data, bytes)]
        tally = Tally(samples)
        left = look(np.concatenate([np.empty(0, ROW), *given]), tally)
        yield from _by_bucket(left, following, count)
        yield -1, tally

    return work


def _by_bucket(rows: Rows, names: tuple[str, str], count: int) -> Iterator[Piece]:
    bucket = bucket_of(rows, names, count)
    for each in np.unique(bucket).tolist():
        yield each, rows[bucket == each].tobytes()
