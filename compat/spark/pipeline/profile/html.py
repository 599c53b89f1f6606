"""The profile as one HTML page: charts are SVG in the page itself, and nothing is loaded from
anywhere. What comes from records (topics, keys, paths) is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..audit.records_check import shown
from ..engine import in_bytes
from ..sketches import STANDARD_ERROR
from .summary import Profile, TopicProfile
from .text import moment, share, span

_WIDTH, _HEIGHT = 640, 120
_BARS = 160
_PATHS = 200
_PARTITIONS = 1_000
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em;
       color: #1c2330; background: #fff; }
h1 { font-size: 1.5em; } h2 { margin-top: 2em; border-bottom: 1px solid #d5d9e0; }
h3 { font-size: 1em; margin: 1.4em 0 .3em; } code { font-size: .92em; }
table { border-collapse: collapse; } td, th { padding: .15em .9em .15em 0; text-align: left;
        vertical-align: top; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; max-width: 100%; height: auto; background: #f5f7fa; }
rect { fill: #2f6db5; } figcaption, small { color: #5a6475; } figure { margin: 0; }
@media (prefers-color-scheme: dark) { body { color: #e3e7ee; background: #14181f; }
 svg { background: #1d232d; } rect { fill: #6ea8ea; } h2 { border-color: #333b48; } }
"""


def page(place: str, size: int, profile: Profile) -> str:
    records = sum(found.counts.records for found in profile.values())
    topics = "".join(_topic(topic, found) for topic, found in sorted(profile.items()))
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{escape(place)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(place)}</h1><p>{len(profile):,} topics, {records:,} records, "
        f"{in_bytes(size)} stored</p>{topics}</body></html>\n"
    )


def _topic(topic: str, found: TopicProfile) -> str:
    counts = found.counts
    start, step, bars = found.times.bars(_BARS)
    parts = [f"<h2>{escape(topic)}</h2>", _numbers(found)]
    if bars:
        text = f"{moment(start)} to {moment(counts.last_ms)} (UTC), "
        titles = [f"{moment(start + at * step)}: {n:,}" for at, n in enumerate(bars)]
        parts.append(_figure("Records over time", bars, titles, text + f"each {span(step)}"))
    for name, sizes in (("Key sizes", found.key_sizes), ("Value sizes", found.value_sizes)):
        least, of_sizes = sizes.bars()
        if of_sizes:
            lows = [least * 2**at if least else (1 << at) >> 1 for at in range(len(of_sizes))]
            titles = [f"from {in_bytes(low)}: {n:,}" for low, n in zip(lows, of_sizes, strict=True)]
            said = f"from {in_bytes(least)}, each twice as much; largest {in_bytes(sizes.largest)}"
            parts.append(_figure(name, of_sizes, titles, said))
    return "".join([*parts, _keys(found), _json(found), _partitions(found)])


def _numbers(found: TopicProfile) -> str:
    counts = found.counts
    codecs = ", ".join(
        f"{escape(name)} {share(n, counts)}" for name, n in sorted(found.codecs.items())
    )
    rows = [
        ("records", f"{counts.records:,}"),
        ("keys and values", in_bytes(counts.key_bytes + counts.value_bytes)),
        ("null keys", share(counts.null_keys, counts)),
        ("null values", share(counts.null_values, counts)),
        ("with headers", share(counts.with_headers, counts)),
        ("codecs", codecs or "-"),
    ]
    return _table((), [(escape(name), text) for name, text in rows])


def _figure(title: str, bars: Sequence[int], titles: Sequence[str], caption: str) -> str:
    width = _WIDTH / len(bars)
    most = max(bars)
    found = []
    for at, (bar, text) in enumerate(zip(bars, titles, strict=True)):
        height = max(1.0, _HEIGHT * bar / most) if bar else 0.0
        found.append(
            f"<rect x='{at * width:.2f}' y='{_HEIGHT - height:.2f}' "
            f"width='{max(width - 1, width * 0.8):.2f}' height='{height:.2f}'>"
            f"<title>{escape(text)}</title></rect>"
        )
    return (
        f"<h3>{escape(title)}</h3><figure><svg viewBox='0 0 {_WIDTH} {_HEIGHT}' "
        f"width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='{escape(title)}'>"
        f"{''.join(found)}</svg><figcaption>{escape(caption)}; at most {most:,}</figcaption>"
        "</figure>"
    )


def _keys(found: TopicProfile) -> str:
    if not found.keys.count:
        return ""
    exact = "" if found.keys.is_exact else f", estimated: standard error {STANDARD_ERROR:.1%}"
    error = found.frequent.error
    note = f"<small>counts may be too low by {error:,}</small>" if error else ""
    rows = [
        (f"<code>{escape(shown(key))}</code>", f"{count:,}", share(count, found.counts))
        for key, count in found.frequent.top(20)
    ]
    head = f"<h3>Keys</h3><p>{found.keys.count:,} different{exact}</p>"
    return head + _table(("most frequent", "records", "share"), rows) + note


def _json(found: TopicProfile) -> str:
    shapes = found.shapes
    if not shapes.parsed:
        return ""
    rows = [
        (
            f"<code>{escape(path)}</code>",
            escape(
                ", ".join(f"{kind} {n / shapes.parsed:.0%}" for kind, n in sorted(types.items()))
            ),
        )
        for path, types in sorted(shapes.paths.items())[:_PATHS]
    ]
    said = f"{shapes.parsed / shapes.sampled:.0%} of {shapes.sampled:,} values seen are JSON"
    more = "<small>there are more paths</small>" if shapes.is_cut else ""
    return f"<h3>JSON</h3><p>{said}</p>" + _table(("path", "types"), rows) + more


def _partitions(found: TopicProfile) -> str:
    rows = [
        (
            str(number),
            f"{each.records:,}",
            in_bytes(each.key_bytes + each.value_bytes),
            "-" if each.first_offset is None else f"{each.first_offset} to {each.last_offset}",
            share(each.null_keys, each),
            f"{moment(each.first_ms)} to {moment(each.last_ms)}",
        )
        for number, each in sorted(found.partitions.items())[:_PARTITIONS]
    ]
    names = ("partition", "records", "keys and values", "offsets", "null keys", "time (UTC)")
    return "<h3>Partitions</h3>" + _table(names, rows)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if names else ''}{body}</table>"
