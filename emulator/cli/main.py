"""The `odradek` command and its sub-commands: `serve` (serve.py), `repair` (repair.py), `journal`
(journal.py), `proxy` (proxy.py), and the views of any broker (console/).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .console.command import VIEWS, add_views, run_view
from .console.habits import VIEW_NAMES, NoAddress, with_address
from .journal import add_journal, run_journal
from .proxy import add_proxy, run_proxy
from .repair import add_repair, run_repair
from .serve import add_serve, run_serve


def main(arguments: Sequence[str] | None = None, others: Mapping[str, str] | None = None) -> int:
    """The `odradek` command.

    `others`: verbs that the caller runs, and what each does, for the help.
    """
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments), others or {})
    except KeyboardInterrupt:  # before there was anything to stop
        return 130


def _run(given: list[str], others: Mapping[str, str]) -> int:
    given[:1] = [VIEW_NAMES.get(each, each) for each in given[:1]]
    parser = _parser(given[0] if given else "", others)
    if given and given[0] in VIEWS:
        try:
            given = with_address(given)
        except NoAddress as error:
            parser.error(str(error))
    options, more = parser.parse_known_args(given)
    # argparse takes names of files only where no option stands before them.
    if more and hasattr(options, "files") and all(map(_is_file, more)):
        options.files += more
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    if options.command in VIEWS:
        return run_view(options)
    if options.command == "repair":
        return run_repair(options)
    if options.command == "proxy":
        return run_proxy(options)
    if options.command == "journal":
        return run_journal(options)
    return run_serve(options, parser)


def _is_file(text: str) -> bool:
    return text == "-" or not text.startswith("-")


def _parser(view: str, others: Mapping[str, str] | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="odradek", description="A Kafka broker for tests and local development."
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_views(commands, view)
    add_repair(commands)
    add_journal(commands)
    add_proxy(commands)
    add_serve(commands)
    for name, summary in (others or {}).items():
        commands.add_parser(name, help=summary)
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
