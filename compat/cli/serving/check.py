"""`odradek check [FILE]`: whether `odradek serve` would take a file, without running a broker.

Exit status 0, or 2 for a file that is wrong: then each mistake is a line on standard error.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ....emulator.base.words import number_of
from ..console.output import fail
from .configure import configure
from .settings import NAME, Settings, SettingsError


def add_check(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    check: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="whether `odradek serve` would take a file",
        description="Check a file of settings, or a server.properties, without running a broker.",
    )
    check.add_argument(
        "path", metavar="FILE", nargs="?", help=f"*.toml or *.properties ({NAME} of this directory)"
    )


def run_check(options: argparse.Namespace, serve: argparse.ArgumentParser) -> int:
    given = ["--file", options.path] if options.path else []
    if options.path and Path(options.path).suffix == ".properties":
        given = ["--no-file", "--properties", options.path]
    try:
        configure(serve, serve.parse_args(given))
    except SettingsError as error:
        return fail(str(error), 2)
    parsed = serve.parse_args(given)
    settings: Settings = parsed.settings
    if not settings.files:
        return fail(f"there is no {NAME} here, and no [tool.odradek] in a pyproject.toml", 2)
    from .start import known_only, wrong_with

    settings = known_only(settings, parsed)
    name = settings.files[-1]
    wrong = wrong_with(parsed, settings)
    for each in wrong:
        fail(f"{name}: {each}")
    if wrong:
        return 2
    _tell(str(name), settings)
    return 0


def _tell(name: str, settings: Settings) -> None:
    there = [
        number_of(len(settings.options), "option"),
        number_of(len(settings.configs), "config"),
        number_of(len(settings.topics), "topic"),
    ]
    print(f"{name} is right: {', '.join(there)}")
    for config, why in settings.not_obeyed.items():
        print(f"  not obeyed: {config} ({why})")
