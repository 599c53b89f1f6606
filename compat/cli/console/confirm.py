"""A verb that destroys asks first, at a terminal; `--yes` answers, and a script is not asked."""

from __future__ import annotations

import argparse
import sys

from .client import ConsoleError
from .output import one_line


def add_yes(*parsers: argparse.ArgumentParser) -> None:
    """The option `--yes`, of actions that destroy something."""
    for parser in parsers:
        parser.add_argument(
            "-y", "--yes", "--force", "--no-confirm", action="store_true", help="do not ask"
        )


def confirm(options: argparse.Namespace, what: str) -> None:
    """Ask whether to do it, unless `--yes` says so or nobody is there. Raises ConsoleError for a
    no."""
    if options.yes or sys.stdin is None or not sys.stdin.isatty():
        return
    print(one_line(f"{what}? [y/N] "), end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ConsoleError("nothing was done")
