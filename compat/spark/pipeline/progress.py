"""Progress on a terminal, on standard error; nothing where that is no terminal, or with --quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Progress(Protocol):
    def begin(self, what: str, total: int) -> None:
        """A part of the work begins: `total` bytes, or pieces."""

    def advance(self, by: int) -> None:
        """So much of it is done."""


class Silent:
    def begin(self, what: str, total: int) -> None: ...

    def advance(self, by: int) -> None: ...


class _Bar:
    """One line for each part, drawn by rich."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._task: Any = None

    def begin(self, what: str, total: int) -> None:
        self._task = self._bars.add_task(what, total=total)

    def advance(self, by: int) -> None:
        self._bars.advance(self._task, by)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Progress]:
    if quiet or not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    columns = (
        *(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn()),
        *(TimeElapsedColumn(), TimeRemainingColumn()),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _Bar(bars)
