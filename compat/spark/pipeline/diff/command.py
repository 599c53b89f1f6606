"""The command `odradek diff`: its arguments, and how it shows the differences."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from ...segments.wanted import Wanted
from ..command import Outcome
from ..engine import SparkEngine, choose
from ..errors import PipelineError, full_disk_names
from ..places import place
from ..progress import progress
from ..splits import Split
from . import arrow
from .choosing import Choice, choose_comparison, side, with_columns
from .classify import KINDS, Tally
from .hashed import Comparison
from .samples import Sample, fetch

_SAID = {
    "missing": "in A, not in B",
    "extra": "in B, not in A",
    "changed": "another content",
    "reordered": "the same content in another place",
    "duplicated": "more often on one side",
}


def compared(options: argparse.Namespace) -> Outcome:
    """Compare two places. Raises PipelineError, PlaceError, BrokerError, Damaged, OSError."""
    if options.work is not None and not os.path.isdir(options.work):
        raise PipelineError(f"--work {options.work}: there is no such directory")
    a, b = with_columns(
        (place(options.a, options.format), place(options.b, options.format)), options
    )
    wanted = Wanted(isolation=options.isolation)
    sides = a.splits(wanted), b.splits(wanted)
    choice = choose_comparison((side(a, sides[0]), side(b, sides[1])), options)
    tally = _tally(sides, choice.comparison, options)
    samples = fetch(tally, sides, choice.comparison)
    shown = lines(tally, samples, choice, (options.a, options.b))
    return Outcome(_result(tally, samples, choice), shown, int(tally.differences > 0))


def _tally(
    sides: tuple[Sequence[Split], Sequence[Split]],
    comparison: Comparison,
    options: argparse.Namespace,
) -> Tally:
    size = sum(split.size for each in sides for split in each)
    engine = choose(options, size)
    try:
        with progress(options.quiet) as bar:
            bar.begin("diff", size)
            if isinstance(engine, SparkEngine):
                from . import spark

                context = engine.session.sparkContext
                return spark.compare(context, sides, comparison, options.sample)
            where = options.work or tempfile.gettempdir()
            with (
                full_disk_names(where),
                tempfile.TemporaryDirectory(dir=where, prefix="odradek-") as work,
            ):
                return arrow.compare(
                    sides, comparison, work, options.sample, engine.run, bar.advance
                )
    finally:
        engine.close()


def _result(tally: Tally, samples: dict[str, list[Sample]], choice: Choice) -> dict[str, Any]:
    return {
        "by": choice.comparison.by,
        "because": choice.reason or "it was asked for",
        "columns": list(choice.comparison.columns),
        "not_compared": choice.left_out,
        "records": {"a": tally.records[0], "b": tally.records[1]},
        "same": tally.same,
        **tally.counts,
        "samples": {kind: [each.as_json() for each in found] for kind, found in samples.items()},
    }


def lines(
    tally: Tally,
    samples: dict[str, list[Sample]],
    choice: Choice,
    names: tuple[str, str],
) -> list[str]:
    """The comparison for people."""
    comparison = choice.comparison
    because = f" ({choice.reason})" if choice.reason else ""
    found = [
        f"A: {names[0]}: {tally.records[0]:,} records",
        f"B: {names[1]}: {tally.records[1]:,} records",
        f"compared by {comparison.by}{because}: {', '.join(comparison.columns) or 'nothing else'}",
        *(f"not compared: {name}: {why}" for name, why in choice.left_out.items()),
        "",
        f"{'same':<12}{tally.same:>12,}",
    ]
    for kind in KINDS:
        count = tally.counts[kind]
        found.append(f"{kind:<12}{count:>12,}   {_SAID[kind]}".rstrip() if count else
                     f"{kind:<12}{count:>12,}")  # fmt: skip
    for kind in KINDS:
        for sample in samples[kind]:
            found += ["", *sample.lines(kind)]
    return found
