"""The state file of a command that can be resumed.

Text, one JSON object a line: first what was asked and the pieces it was cut into, then one line for
each piece that is done, with its result. A last line that is not whole, as the command was killed
while it wrote it, is dropped: that piece is done again. The file is locked while a command works
with it. A command that ends before it has begun leaves no file, and no folder that was made for it:
so everything that can be refused is looked at before `begin`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import PipelineError

_START = b'{"asked": '
"""How the first line begins."""


@dataclass(frozen=True)
class Noted:
    asked: Mapping[str, Any]
    plan: Any
    done: dict[int, Any]


class Unfinished(PipelineError):
    """The file is of a run that did not end, and that this one does not go on with."""

    def __init__(self, what: str, noted: Noted) -> None:
        self.noted = noted
        super().__init__(what)


class State:
    """The work done so far. Use it with `with`."""

    def __init__(
        self, path: Path, settings: Mapping[str, Any], *, resume: bool, replace: bool = False
    ) -> None:
        """`settings`: what must be the same to go on: arguments, places. `replace`: begin again if
        there is a file and `resume` is false.

        Raises Unfinished if there is something to resume and `resume` is false, or it was asked
        something else; PipelineError if there is nothing to resume, or another command uses the
        file.
        """
        self.path = path
        self.done: dict[int, Any] = {}
        """Piece -> its result."""
        self.plan: Any = None
        """The argument of `begin`; None before it."""
        self._asked = json.loads(json.dumps(settings))
        if resume and not path.exists():
            raise PipelineError(f"there is nothing to resume: {path} does not exist")
        self._new_folders = list(_missing(path.parent))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "a+b")  # noqa: SIM115 -- closed with the state
        try:
            self._open(resume, replace)
        except BaseException:
            self._file.close()
            raise

    def _open(self, resume: bool, replace: bool) -> None:
        """Lock the file and read it. One that is empty, or without a whole first line, is of a run
        that was killed before it had begun: there is nothing to read, and nothing to lose."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PipelineError(f"{self.path} is used by a command that runs") from None
        if replace and not resume:
            self._file.truncate(0)
        self._file.seek(0)
        first = self._file.readline()
        if first.startswith(_START[: len(first)]) and not first.endswith(b"\n"):
            self._file.truncate(0)
            return
        noted = self._read()
        if not resume:
            raise Unfinished(
                f"{self.path} is of a run that did not end: --resume goes on with it; "
                "remove it to begin again",
                noted,
            )
        if noted.asked != self._asked:
            theirs = differing(noted.asked, self._asked)
            raise Unfinished(
                f"{self.path} is of a run with another {theirs}: give the same, or remove the file "
                "to begin again",
                noted,
            )
        self.plan, self.done = noted.plan, noted.done

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self.plan is None:  # nothing was begun
            self.path.unlink(missing_ok=True)
            with suppress(OSError):  # another command has put something there
                for folder in self._new_folders:
                    folder.rmdir()

    @property
    def noted(self) -> Noted:
        return Noted(self._asked, self.plan, self.done)

    def begin(self, plan: Any) -> None:
        """Write down the plan: plain values, from which a resumed run makes the same pieces."""
        self.plan = plan
        self._write({"asked": self._asked, "plan": plan})

    def finish_piece(self, number: int, result: Any) -> None:
        """Write down that a piece is done, with its result: plain values."""
        self.done[number] = result
        self._write({"piece": number, "result": result})

    def remove(self) -> None:
        """Everything is done."""
        self.path.unlink(missing_ok=True)

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> Noted:
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        try:
            head, *done = [json.loads(line) for line in lines[:-1]]
            results = {each["piece"]: each["result"] for each in done}
            noted = Noted(head["asked"], head["plan"], results)
        except (ValueError, KeyError, TypeError):
            raise PipelineError(
                f"{self.path} is no state of a command: give another file, or remove it"
            ) from None
        if lines[-1]:  # killed while it was written
            self._file.truncate(self._file.tell() - len(lines[-1]))
        return noted


def _missing(folder: Path) -> Iterator[Path]:
    """A folder and those above it that do not exist, the innermost first."""
    while not folder.exists():
        yield folder
        folder = folder.parent


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Names of the entries in which two mappings differ."""
    names = sorted({*one, *other})
    return ", ".join(name for name in names if one.get(name) != other.get(name))


def default_path(verb: str, places: Sequence[str]) -> Path:
    """The state file of a command that has no directory of its own to put it into. `places`: the
    same from wherever the command is run (`places.absolute`)."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    digest = hashlib.sha256("\0".join(places).encode()).hexdigest()[:12]
    return Path(home) / "odradek" / f"{verb}-{digest}.jsonl"
