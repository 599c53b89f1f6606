"""What is a finding, and where in a broker's log to find one.

died         the process ended, or does not begin
failed       a traceback in its log, or another sign of a defect (Python's and asyncio's words)
hang         neither answered nor closed for some seconds, although a whole frame was sent and
             its API does not wait
unanswered   a later request was answered, and one before it, that has an answer, was not
unasked      an answer to nothing that was asked
polite       the polite client saw a wrong answer, an error, or waited for some seconds
guest        who logs in properly at the listener that is attacked is refused, or waits for some
             seconds
kept         more descriptors or threads after hostile connections have ended than before
memory       more memory than is allowed
stop         SIGTERM does not end it in time with status 0
restart      it does not start again on its directory, or the polite client's data is not there
damaged      something is wrong with the files in its directory
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_TRACEBACK = "Traceback (most recent call last):"
_FILE = re.compile(r'^ +(?:\| +)?File "([^"]+)", line (\d+), in (\S+)')
_SIGNS = ("Exception ignored in", "was never awaited", "was destroyed but it is pending")
_CHAINED = ("exception:", "occurred:")  # how a line between two tracebacks ends
_NAMED = 3


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. Two of the same kind and place are one defect."""

    kind: str
    place: str
    text: str


class Log:
    """What a broker writes on standard error, read as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def news(self) -> list[Finding]:
        """What is wrong in what was written since the last call."""
        if self._path.stat().st_size == self._read:
            return []
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        if not data.endswith(b"\n"):
            data = data[: data.rfind(b"\n") + 1]
        text = data.decode(errors="replace")
        end = _end_of_whole(text)
        self._read += len(text[:end].encode()) if end < len(text) else len(data)
        return found_in(text[:end])


def _end_of_whole(text: str) -> int:
    """How much of a log is whole: a traceback whose last line is missing is not."""
    start = text.rfind(_TRACEBACK)
    if start < 0 or re.search(r"^\S.*\n", text[start + len(_TRACEBACK) + 1 :], re.MULTILINE):
        return len(text)
    return text.rfind("\n", 0, max(0, start - 1)) + 1


def found_in(text: str) -> list[Finding]:
    """The tracebacks in a log, and other lines that tell of a defect."""
    found: list[Finding] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if line == _TRACEBACK:
            end = next((n for n in range(at + 1, len(lines)) if not lines[n].startswith(" ")), at)
            block = lines[max(0, at - 1) : end + 1]
            if at > 1 and lines[at - 2].endswith(_CHAINED):  # the one before it was not the last
                earlier = found.pop().text
                block = [*earlier.splitlines(), *lines[at - 2 : at], *lines[at : end + 1]]
            found.append(Finding("failed", _place(block), "\n".join(block)))
        elif any(sign in line for sign in _SIGNS):
            found.append(Finding("failed", re.sub(r"0x[0-9a-f]+|\d+", "N", line), line))
    return found


def _place(block: list[str]) -> str:
    """The innermost functions of a traceback, and the exception's type."""
    frames = [found for line in block if (found := _FILE.match(line))]
    places = [f"{Path(f[1]).name}:{f[2]} {f[3]}" for f in frames[-_NAMED:]]
    return f"{' > '.join(places)}: {block[-1].partition(':')[0]}"
