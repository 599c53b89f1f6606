"""What README says is tried: its Python runs, and its commands and options exist."""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.sessions import run as run_session

README = (Path(__file__).parent.parent / "README.md").read_text()
MAKEFILE = (Path(__file__).parent.parent / "Makefile").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_first_example_passes_as_it_stands(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(blocks("python")[0])
    result = run_session(pytester)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_examples_that_bring_their_own_broker_run(number: int) -> None:
    exec(blocks("python")[number], {})


def test_the_verbs_of_the_example_on_looking_inside_work() -> None:
    from odradek import Emulator

    with Emulator(topics={"seen": 1}) as kafka:
        kafka.group("billing").commit({("seen", 0): 0})
        exec(blocks("python")[3], {"kafka": kafka})


def test_every_make_target_that_is_named_exists() -> None:
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def help_of(parser: argparse.ArgumentParser) -> str:
    """The help of a parser, and of the commands below it."""
    below = parser._subparsers._group_actions if parser._subparsers else []
    commands: list[Any] = [group.choices or {} for group in below]
    choices = [choice for each in commands for choice in each.values()]
    return parser.format_help() + "".join(map(help_of, choices))


def test_every_option_that_is_named_exists() -> None:
    from odradek.compat.cli.console.command import VIEWS
    from odradek.compat.cli.main import _parsers
    from odradek.compat.commands import PIPELINE
    from odradek.fixtures.options import Options

    known = "".join(help_of(_parsers(view)[0]) for view in ("", *VIEWS))
    known += "".join(f" --kafka-{name}" for name in Options._fields)
    for verb in PIPELINE:
        parser = argparse.ArgumentParser()
        import_module(f"odradek.compat.spark.pipeline.{verb}").add_arguments(parser)
        known += parser.format_help()
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", README):
        assert option in known, option
