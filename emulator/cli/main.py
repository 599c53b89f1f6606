"""The `odradek` command and its sub-commands: `serve` (serve.py), `repair` (repair.py), and the
views of any broker (console/).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .console.command import VIEWS, add_views, run_view
from .repair import add_repair, run_repair
from .serve import add_serve, run_serve


def main(arguments: Sequence[str] | None = None) -> int:
    """The `odradek` command."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # before there was anything to stop
        return 130


def _run(given: list[str]) -> int:
    parser = _parser(view=given[0] if given else "")
    options = parser.parse_args(given)
    if options.command in VIEWS:
        return run_view(options)
    if options.command == "repair":
        return run_repair(options)
    return run_serve(options, parser)


def _parser(view: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="odradek", description="A Kafka broker for tests and local development."
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_views(commands, view)
    add_repair(commands)
    add_serve(commands)
    return parser


class _Version(argparse.Action):
    """`--version`, looked up only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"odradek {version('odradek')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
