"""Application: what application.toml says of one.

    title       how it is called in the table
    language    who sets it up: go, node, python, java, rust, debian (install.py)
    package     whose version stands in the table, as the registry's file spells it
    what        what it does, in a sentence
    command     what is run; {home}: where it was set up, {work}: a directory of the run, which
                stays when the process is killed, {port}: a free port, {bootstrap}: the broker's
                address; {python}, {java} and so on: install.py
    processes   how many at once (1)
    archives    of Java: "group:artifact:version"; of Debian: "package=version"
    guarantee   "exactly once", or "at least once": nothing is lost, some may be there again
    counts      whether it says of each order which one of its customer's it is, from a state that
                it holds: {"order": 17, "customer": "c3", "count": 6} (false)
    killed      whether its processes are killed; one that promises nothing for that is not (true)
    output      the topic that it writes (invoices)
    creates     whether it creates that topic itself (false)
    feed        a command that brings in an order for each number on its standard input, in place of
                records in the topic `orders`
    service     a command that runs beside it, is not killed, and ends by SIGTERM; {service}: a free
                port for it
    changes     regular expressions: what the values of an order's records must be, in this order;
                a record without a value is an empty text. A key that names an order names that one
    refused     the topic for orders that it must not take, those whose number ends in 7
    asks        addresses, and regular expressions that must be found in their answers ({})
    quick       whether it is a test of `make test` (false)
    sources     the application whose sources it has (its own)
    patience    how many seconds it may take to make something of what has come in (120)

The processes have KAFKA_BOOTSTRAP_SERVERS and INSTANCE (0, 1, ...) in their environment. Files of
the folder with the ending .properties or .json are in {work} too, with the same words replaced.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
EXACTLY_ONCE = "exactly once"
AT_LEAST_ONCE = "at least once"


@dataclass(frozen=True)
class Application:
    name: str
    """Its folder's."""
    title: str
    language: str
    package: str
    what: str
    command: list[str]
    guarantee: str
    processes: int = 1
    archives: list[str] = field(default_factory=list)
    counts: bool = False
    killed: bool = True
    output: str = "invoices"
    creates: bool = False
    feed: list[str] = field(default_factory=list)
    service: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    refused: str = ""
    asks: Mapping[str, list[str]] = field(default_factory=dict)
    quick: bool = False
    sources: str = ""
    patience: float = 120.0

    @property
    def folder(self) -> Path:
        return HERE / (self.sources or self.name)

    @property
    def version(self) -> str:
        """The version of its package, as its own file asks for it. Raises LookupError."""
        return asked_version(self.package, self.folder, self.archives)


def asked_version(package: str, folder: Path, archives: Sequence[str] = ()) -> str:
    """The version of a package that the files of a folder, or these archives, ask for. Raises
    LookupError."""
    name, opened = re.escape(package), r'"?[ :=]+(?:\{ *version *= *)?"?[=v]*'
    pattern = re.compile(rf"{name}(?:\[[^\]]*\])?{opened}(\d[\w.]*)")
    texts = [each.read_text() for each in sorted(folder.iterdir()) if _is_list(each)]
    for text in [*texts, *archives]:
        if found := pattern.search(text):
            return found[1]
    raise LookupError(f"{folder.name}: no file says which {package} it takes")


def applications() -> dict[str, Application]:
    """All of them by name. Raises TypeError and ValueError if one is described in other words."""
    folders = sorted(each.parent for each in HERE.glob("*/application.toml"))
    return {each.name: _read(each) for each in folders}


def unavailable() -> list[tuple[str, str]]:
    listed = tomllib.loads((HERE / "unavailable.toml").read_text())
    return [(title, str(reason)) for title, reason in listed.items()]


def _read(folder: Path) -> Application:
    application = Application(
        folder.name, **tomllib.loads((folder / "application.toml").read_text())
    )
    if application.guarantee not in (EXACTLY_ONCE, AT_LEAST_ONCE):
        raise ValueError(f"{folder.name}: guarantee is {application.guarantee!r}")
    return application


def _is_list(path: Path) -> bool:
    return path.name in ("package.json", "go.mod", "requirements.txt", "Cargo.toml")
