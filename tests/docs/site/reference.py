"""Two parts of the reference, written anew with each build: the command line, by its own parsers,
and the Python names, by their signatures and docstrings."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module

import odradek
from odradek import Emulator
from odradek.compat.cli.console.command import VIEWS
from odradek.compat.cli.main import Parser, _parsers
from odradek.compat.commands import _MODULES, OTHERS, PIPELINE
from odradek.fixtures.kafka.composed import Part

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_ELSEWHERE = {
    "odradek.fixtures.unittest": ("KafkaTestCase", "IsolatedAsyncioKafkaTestCase"),
    "odradek.fixtures.testcontainers": ("KafkaContainer",),
    "odradek.fixtures.hypothesis": (
        *("topics", "records", "batches", "schedules", "simulated_runs", "KafkaStateMachine"),
    ),
    "odradek.storage": ("MemoryDisk",),
    "odradek.emulator.kafka_0_7": ("Kafka07",),
}
"""Public names that have a module of their own, because most tests need none of them."""
_HEAD = """# Python: Emulator and its parts

By signature and docstring. What `kafka` is in a test is an `Emulator`; its parts, such as
`kafka.topics`, follow it. The other public names are on [a page of their own](api-names.md).
"""
_OWN_MODULES = re.compile(r"\b(?:views|odradek(?:\.\w+)*)\.")


def cli_page() -> str:
    """What each command says of itself with `--help`."""
    return "\n".join(["# The command line", "", *_commands()])


def _commands() -> Iterator[str]:
    yield "What `odradek COMMAND --help` prints, for every command.\n"
    for name, parser in sorted(parsers().items()):
        yield f"## odradek {name}\n"
        yield from _helps(parser)


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Of every command."""
    found = {each: _parsers(each)[1][each] for each in VIEWS}
    found |= {each: parser for each, parser in _parsers("")[1].items() if each not in VIEWS}
    for name in (*PIPELINE, *OTHERS):
        place = _MODULES.get(name, f".spark.pipeline.{name}")
        module = import_module(place, "odradek.compat")
        found[name] = Parser(
            prog=f"odradek {name}",
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(found[name])
    return found


def _helps(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A parser's help, and that of those below it."""
    yield _fenced(parser.format_help().rstrip())
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield f"### {parser.prog.split(' [')[0]} {name}\n"
                yield from _helps(each)


def api_pages() -> dict[str, str]:
    """Name of a page -> its text: what an Emulator has, and the other names of `odradek`."""
    emulator = Emulator()
    names = [name for name in odradek.__all__ if name not in ("Emulator", "MakeKafka")]
    classes = {name: getattr(odradek, name) for name in names if not name.startswith("_")}
    return {
        "api.md": "\n".join([_HEAD, *_emulator(emulator)]),
        "api-names.md": "\n".join(
            [
                "# Python: the other names\n",
                "What `from odradek import ...` finds beside `Emulator`.\n",
                *(line for name, each in classes.items() for line in _described(name, each)),
                *_elsewhere(),
            ]
        ),
    }


def _elsewhere() -> Iterator[str]:
    for module, names in _ELSEWHERE.items():
        for name in names:
            head, *lines = _described(name, getattr(import_module(module), name))
            yield f"{head}\n`from {module} import {name}`\n"
            yield from lines


def _emulator(emulator: Emulator) -> Iterator[str]:
    yield from _described("Emulator", emulator)
    for name in sorted(dir(Emulator)):
        static = inspect.getattr_static(Emulator, name)
        if not name.startswith("_") and isinstance(static, Part | cached_property):
            yield from _described(f"kafka.{name}", getattr(emulator, name))


def _described(name: str, face: object) -> Iterator[str]:
    """A heading, the docstring, and each public name of a class or of an object of one."""
    kind = face if isinstance(face, type) else type(face)
    yield f"## {name}\n"
    if inspect.isfunction(face):
        yield from _directive("function", f"{name}{_signature(face)}", face)
        return
    yield _prose(inspect.getdoc(kind) or "")
    if kind is not Emulator and issubclass(kind, Emulator):
        yield "It has all that an [Emulator](api.md) has, and:\n"
    for each in sorted(dir(kind)):
        if not each.startswith("_") and not _is_inherited(kind, each):
            yield from _member(f"{name}.{each}", inspect.getattr_static(kind, each), kind)


def _member(name: str, static: object, kind: type) -> Iterator[str]:
    found = getattr(kind, name.rpartition(".")[2])
    if isinstance(static, Part | cached_property):
        doc = inspect.getdoc(static) if isinstance(static, cached_property) else ""
        part = name.rpartition(".")[2]
        text = f"{doc or ''}\n\nA part: [kafka.{part}](api.md#kafka{part})."
        yield from _directive("attribute", name, text)
    elif isinstance(static, property):
        yield from _directive("attribute", name, static)
    elif callable(found) and not isinstance(found, type) and inspect.getdoc(found):
        prefix = "async " * inspect.iscoroutinefunction(found)
        signature = _signature(found, bound=not isinstance(static, staticmethod | classmethod))
        yield from _directive("method", f"{name}{signature}", found, prefix)


def _is_inherited(kind: type, name: str) -> bool:
    """From a class of Python's, as an enumeration's or a tuple's methods are; or from Emulator."""
    home = next((each for each in kind.__mro__ if name in vars(each)), kind)
    of_emulator = kind is not Emulator and home in Emulator.__mro__
    return of_emulator or not home.__module__.startswith("odradek")


def _directive(kind: str, text: str, of: object, prefix: str = "") -> Iterator[str]:
    option = ":async:\n" if prefix else ""
    doc = of if isinstance(of, str) else inspect.getdoc(of) or ""
    yield f"::::{{py:{kind}}} {text}\n{option}\n{_prose(doc)}\n::::\n"


def _signature(of: object, *, bound: bool = False) -> str:
    try:
        signature = inspect.signature(of)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "()"
    parameters = [*signature.parameters.values()]
    if bound and parameters and parameters[0].name == "self":
        signature = signature.replace(parameters=parameters[1:])
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", _ADDRESS.sub("", str(signature)))
    text = re.sub(r"<(?:function|object object|class)? ?([\w.]*)>", r"\1", text)
    return _OWN_MODULES.sub("", text)


def _prose(text: str) -> str:
    """A docstring as Markdown: what is indented, or is in columns, keeps its lines."""
    found = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        as_it_is = re.search(r"^\s|\S {2,}\S", part, re.MULTILINE)
        found.append(_fenced(part) if as_it_is else part)
    return "\n\n".join(found) + "\n"


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```\n"
