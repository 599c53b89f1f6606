"""The profile as text, with small plots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ..audit.records_check import shown
from ..engine import in_bytes
from ..sketches import STANDARD_ERROR
from .summary import Counts, Profile, TopicProfile

_BLOCKS = "▁▂▃▄▅▆▇█"
BARS = 48
TOP = 5
_PATHS = 40
_PARTITIONS = 50


def lines(text: str, size: int, profile: Profile) -> list[str]:
    records = sum(found.counts.records for found in profile.values())
    found = [f"{text}: {len(profile):,} topics, {records:,} records, {in_bytes(size)} stored"]
    for topic, each in sorted(profile.items()):
        found += ["", *_topic_lines(topic, each)]
    return found


def _topic_lines(topic: str, found: TopicProfile) -> list[str]:
    counts = found.counts
    content = counts.key_bytes + counts.value_bytes
    rows = [
        f"{topic}: {len(found.partitions):,} partitions, {counts.records:,} records, "
        f"{in_bytes(content)} of keys and values",
        *_time_lines(found),
        *_size_lines(found),
        *_key_lines(found),
        f"  nulls      {share(counts.null_keys, counts)} of the keys, "
        f"{share(counts.null_values, counts)} of the values; "
        f"{share(counts.with_headers, counts)} have headers",
    ]
    if found.codecs:
        codecs = sorted(found.codecs.items(), key=lambda each: -each[1])
        rows.append("  codecs     " + ", ".join(f"{name} {share(n, counts)}" for name, n in codecs))
    return [*rows, *_json_lines(found), *_partition_lines(found)]


def _time_lines(found: TopicProfile) -> list[str]:
    _, step, bars = found.times.bars(BARS)
    if not bars:
        return []
    counts = found.counts
    most = max(bars) * 1_000 / step
    return [
        f"  time       {plot(bars)}  each {span(step)}, at most {most:,.3g} records/s",
        f"             {moment(counts.first_ms)} to {moment(counts.last_ms)}"
        + (f"; {counts.without_time:,} without a time" if counts.without_time else ""),
    ]


def _size_lines(found: TopicProfile) -> list[str]:
    rows = []
    for name, sizes in (("key", found.key_sizes), ("value", found.value_sizes)):
        least, bars = sizes.bars()
        if bars:
            mean = sizes.total / sum(sizes.counts)
            rows.append(
                f"  {name + ' size':<11}{plot(bars)}  from {in_bytes(least)}, each twice as much; "
                f"mean {in_bytes(mean)}, largest {in_bytes(sizes.largest)}"
            )
    return rows


def _key_lines(found: TopicProfile) -> list[str]:
    if not found.keys.count:
        return []
    about = "" if found.keys.is_exact else "about "
    error = "" if found.keys.is_exact else f" (standard error {STANDARD_ERROR:.1%})"
    rows = [f"  keys       {about}{found.keys.count:,} different{error}"]
    top = found.frequent.top(TOP)
    if top:
        most = ", ".join(f"{shown(key)} {share(count, found.counts)}" for key, count in top)
        at_least = " (at least)" if found.frequent.error else ""
        rows.append(f"             most frequent{at_least}: {most}")
    return rows


def _json_lines(found: TopicProfile) -> list[str]:
    shapes = found.shapes
    if not shapes.parsed:
        return []
    rows = [f"  JSON       {shapes.parsed / shapes.sampled:.0%} of {shapes.sampled:,} values seen"]
    paths = sorted(shapes.paths.items())
    width = min(40, max(len(path) for path, _ in paths[:_PATHS]))
    for path, types in paths[:_PATHS]:
        said = ", ".join(
            f"{kind} {count / shapes.parsed:.0%}"
            for kind, count in sorted(types.items(), key=lambda each: -each[1])
        )
        rows.append(f"             {path:<{width}}  {said}")
    if len(paths) > _PATHS or shapes.is_cut:
        rows.append("             ... and more paths")
    return rows


def _partition_lines(found: TopicProfile) -> list[str]:
    parts = sorted(found.partitions.items())
    rows = []
    most = max(1, *(each.records for _, each in parts))
    for number, each in parts[:_PARTITIONS]:
        bar = "█" * (max(1, round(20 * each.records / most)) if each.records else 0)
        offsets = ""
        if each.first_offset is not None:
            offsets = f"offsets {each.first_offset} to {each.last_offset}"
        content = in_bytes(each.key_bytes + each.value_bytes)
        rows.append(f"  {number:>9}  {bar:<20} {each.records:>12,}  {content:>9}  {offsets}")
    if len(parts) > _PARTITIONS:
        rows.append(f"             ... and {len(parts) - _PARTITIONS} more partitions")
    return ["  partition                            records       size", *rows]


def plot(bars: Sequence[int]) -> str:
    """A small plot: nothing is a blank, everything else at least the lowest block."""
    most = max(bars, default=0)
    return "".join(" " if not bar else _BLOCKS[(bar * len(_BLOCKS) - 1) // most] for bar in bars)


def share(number: int, counts: Counts) -> str:
    part = number / counts.records if counts.records else 0.0
    return f"{part:.0%}" if part >= 0.0095 or not part else "under 1%"


def span(ms: int) -> str:
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000)):
        if ms >= size:
            return f"{ms / size:.3g} {unit}"
    return f"{ms / 1_000:.3g} s"


def moment(ms: int | None) -> str:
    """A time in UTC; a number where the calendar has none."""
    if ms is None:
        return "-"
    try:
        return datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{ms} ms"
