"""The `odradek` command: the broker's own verbs, and those of the data pipeline.

Each of the pipeline's verbs is a module of its name in spark/pipeline, imported when the verb is
asked for, so that `odradek serve` needs neither numpy nor Spark. Such a module describes the verb
in its docstring, and has `add_arguments(parser)` and `run(options)`, which returns the exit code.
Nothing else is imported at first either, so that Ctrl-C ends a command that has just begun quietly.

`replay` is two: records of a place, by the pipeline, and with `--to` the requests of a journal
(compat/cli/replay.py), which needs nothing of the pipeline.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

PIPELINE: dict[str, str] = {
    "diff": "compare two topics, directories or files, record by record",
    "profile": "what is in a topic: rates, sizes, codecs, keys, nulls, JSON",
    "audit": "what is damaged in stored topics, by file, byte and offset",
    "export": "a topic or data directory into Parquet, JSON Lines or CSV",
    "load": "Parquet, JSON Lines, CSV or Avro into a topic or directory",
    "replay": "records, or with --to a journal's requests, into a broker",
    "mirror": "topics of any Kafka into another one, or into a directory",
}
"""Verb -> what it does, in one line of `odradek --help`."""

OTHERS = {
    "registry": "a schema registry in front of any Kafka",
    "schemas": "subjects of a schema registry: list, show, register, check",
    "console": "a page that shows any Kafka, and the control API in front of it",
}
"""The same of verbs that are no part of the pipeline."""
_MODULES = {
    "registry": ".schema_registry.command",
    "schemas": ".schema_registry.console",
    "console": "..fixtures.control.command",
}

NEEDED = ("numpy", "pyarrow", "fastavro", "rich")
"""The imports of every verb of the pipeline: the extra `odradek[pipeline]`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The `odradek` command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["replay"] and (status := _replays_requests(given[1:])) is not None:
            return status
        if given and given[0] in PIPELINE:
            return _run(given[0], given[1:])
        if given and given[0] in _MODULES:
            return _ran(given[0], import_module(_MODULES[given[0]], __package__), given)
        from .cli.main import main as broker_main

        return broker_main(given, {**PIPELINE, **OTHERS}, _complete)
    except KeyboardInterrupt:  # while modules are imported, before there was anything to stop
        return 130


def _replays_requests(arguments: Sequence[str]) -> int | None:
    """Replay a journal of requests, if that is what is asked; None if it is not."""
    if any(each.split("=")[0] == "--to" for each in arguments):
        from .cli.replay import main as replay_main

        return replay_main(arguments)
    from ..emulator.control.traffic.files import is_journal

    journal = next(filter(is_journal, arguments), None)
    if journal is None:
        return None
    from .cli.console.output import fail

    text = f"{journal} is a journal of requests: odradek replay {journal} --to HOST:PORT"
    return fail(text, 2)


def _complete(verb: str, parser: argparse.ArgumentParser) -> None:
    """Give a verb's parser its arguments, if what it imports is there."""
    if verb in PIPELINE and not _missing():
        import_module(f".spark.pipeline.{verb}", __package__).add_arguments(parser)
    elif verb in _MODULES:
        import_module(_MODULES[verb], __package__).add_arguments(parser)


def _missing() -> list[str]:
    return [name for name in NEEDED if find_spec(name) is None]


def _run(verb: str, arguments: list[str]) -> int:
    if missing := _missing():
        from .cli.console.output import fail

        names = " and ".join(missing)
        return fail(f"{verb} needs {names}: pip install 'odradek[pipeline]'", 2)
    return _ran(verb, import_module(f".spark.pipeline.{verb}", __package__), ["", *arguments])


def _ran(verb: str, module: ModuleType, arguments: list[str]) -> int:
    from .cli.main import Parser

    parser = Parser(
        prog=f"odradek {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    status: int = module.run(parser.parse(arguments[1:]))
    return status


if __name__ == "__main__":
    sys.exit(main())
