"""The `odradek` command and its sub-commands: `serve` (serve.py), `check` (serving/check.py),
`repair` (repair.py), `journal` (journal.py), `proxy` (proxy.py), `versions` (versions.py),
and the views of any broker (console/).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

from .console.arguments import nearest
from .console.command import VIEWS, add_views, run_view

_VERBS = {
    "repair": ".repair",
    "journal": ".journal",
    "proxy": ".proxy",
    "serve": ".serve",
    "check": ".serving.check",
    "completion": ".completion",
    "versions": ".versions",
}
"""Each has its parser and what it runs in this module, imported when it is used."""
_NAMED_MOST = 8
"""Choices that are all named in an error; of more, the nearest."""


Complete: TypeAlias = Callable[[str, argparse.ArgumentParser], None]


def main(
    arguments: Sequence[str] | None = None,
    others: Mapping[str, str] | None = None,
    complete: Complete = lambda verb, parser: None,
) -> int:
    """The `odradek` command.

    `others`: verbs that the caller runs, and what each does, for the help; `complete` gives the
    parser of one of them its arguments.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given, others or {}, complete)
    except KeyboardInterrupt:  # before there was anything to stop
        return 130


def _run(arguments: list[str], others: Mapping[str, str], complete: Complete) -> int:
    unclear = ""
    if arguments and arguments[0] not in _VERBS:
        from .console.aliases import view_named, with_address
        from .console.scripts import Unclear

        if view_named(arguments[0]) in VIEWS:
            try:
                arguments = with_address(arguments)
            except Unclear as error:
                arguments[0], unclear = view_named(arguments[0]), str(error)
    parser, commands = _parsers(arguments[0] if arguments else "", others)
    if unclear:
        commands[arguments[0]].error(unclear)
    options, more = parser.parse_known_args(arguments)
    # argparse takes names of files only where no option stands before them.
    if more and hasattr(options, "files") and all(map(_is_file, more)):
        options.files += more
    elif more:
        _refuse(commands[options.command], more)
    if options.command == "serve":
        from .serving.configure import configure
        from .serving.settings import SettingsError

        try:
            configure(commands["serve"], options)
        except SettingsError as error:
            commands["serve"].error(str(error))
        options = parser.parse_args(arguments)
    if options.command in VIEWS:
        return run_view(options)
    more_of: dict[str, Any] = {
        "completion": lambda verb: _parsers(verb, others, complete)[1],
        "check": commands.get("serve"),
        "serve": parser,
    }
    needed = [more_of[options.command]] if options.command in more_of else []
    status: int = _of("run", options.command)(options, *needed)
    return status


def _of(what: str, verb: str) -> Callable[..., Any]:
    """Of a verb: "add", its parser, or "run"."""
    found: Callable[..., Any] = getattr(import_module(_VERBS[verb], __package__), f"{what}_{verb}")
    return found


def _is_file(text: str) -> bool:
    return text == "-" or not text.startswith("-")


def _refuse(parser: argparse.ArgumentParser, more: list[str]) -> NoReturn:
    """Name what is not understood, with the likely option. The usage is that of the command."""
    known = [option for action in _actions(parser) for option in action.option_strings]
    option = next((each for each in more if each.startswith("-")), more[0]).partition("=")[0]
    near = [each for each in nearest(option, known, 1) if each != option]
    hint = f"; is {near[0]} meant?" if near else ""
    parser.error(f"unrecognized arguments: {' '.join(more)}{hint}")


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from _actions(each)


def _parsers(
    view: str, others: Mapping[str, str] | None = None, complete: Complete | None = None
) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and those of the commands: of the one that is given alone, if it is known."""
    description = "A Kafka broker for tests and local development."
    parser: argparse.ArgumentParser = Parser(prog="odradek", description=description)
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    if view not in _VERBS:
        add_views(commands, view)
    if view in _VERBS:
        needed = ["serve", "check"] if view == "check" else [view]
    else:
        needed = [] if view in VIEWS else [*_VERBS]
    for verb in needed:
        _of("add", verb)(commands)
    for name, summary in (others or {}).items():
        other = commands.add_parser(name, help=summary, description=summary)
        if complete is not None and name == view:
            complete(name, other)
    return parser, commands.choices


class Parser(argparse.ArgumentParser):
    """Says what is wrong under one line of usage, and answers a verb or an action that there is not
    with the likely one, or the three nearest. Its sub-parsers are of this class, too."""

    def error(self, message: str) -> NoReturn:
        found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if found:
            message = self._not_there(message, found[1], re.findall(r"[\w-]+", found[2]))
        parts = [each for each in self._actions if not each.option_strings]
        formatter = argparse.HelpFormatter(self.prog, width=1000)
        formatter.add_usage(None, parts, [])
        usage = formatter.format_help().strip()
        self.exit(2, f"{usage} [OPTIONS], or --help\n{self.prog}: error: {message}\n")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        options, more = self.parse_known_args(arguments)
        if more:
            _refuse(self, more)
        return options

    def _not_there(self, message: str, text: str, names: list[str]) -> str:
        if near := nearest(text, names, 1):
            message = f"{message}; is {near[0]} meant?"
        if len(names) <= _NAMED_MOST:
            return message
        what = message.partition(": ")[0].removeprefix("argument ").lower()
        if near:
            return f"there is no {what} {text!r}; is {near[0]} meant?"
        three = ", ".join(nearest(text, names, 3, far=True))
        return f"there is no {what} {text!r}; the nearest are {three}"


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
