"""Files of journals: written by their ending, read by their first bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import jsonl
from .capture.blocks import is_capture
from .capture.reading import read_capture
from .capture.writing import write_capture
from .exchange import Exchange, NotAJournal
from .traffic import Traffic

ENDINGS = (".jsonl", ".pcapng")
_FIRST = 256


def ending(path: str | Path) -> str:
    """How the name of a file says what to write. Raises ValueError."""
    found = Path(path).suffix
    if found not in ENDINGS:
        raise ValueError(f"a journal is saved as {' or '.join(ENDINGS)}, not {Path(path).name!r}")
    return found


def save(chosen: Sequence[Exchange], path: str | Path, port: int | None, dropped: int = 0) -> Path:
    """Write exchanges to a file; see Chosen.save (chosen.py)."""
    where = Path(path)
    if ending(where) == ".pcapng":
        with where.open("wb") as file:
            write_capture(chosen, file, port, dropped)
        return where
    names = chosen[0].connection.topic_names if chosen else {}
    with where.open("w", encoding="utf-8") as text:
        text.write(jsonl.head(dropped, names))
        text.writelines(map(jsonl.line, chosen))
    return where


def is_journal(path: str | Path) -> bool:
    """Whether a file is a journal of requests, or a capture that may have one. False for what is no
    file, or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            first = file.read(_FIRST)
    except OSError:
        return False
    return is_capture(first) or jsonl.is_head(first)


def load(path: str | Path, port: int | None = None) -> Traffic:
    """The journal in a file; `port` is the brokers' in a capture, if it does not follow from the
    capture itself. Raises NotAJournal, OSError."""
    where = Path(path)
    with where.open("rb") as file:
        first = file.read(_FIRST)
        file.seek(0)
        if is_capture(first):
            traffic = read_capture(file, port)
        elif jsonl.is_head(first):
            with where.open(encoding="utf-8", errors="replace") as lines:
                traffic = jsonl.read(lines)
        else:
            raise NotAJournal("it is neither a journal in JSON Lines nor a capture of packets")
    traffic.learn_topics()
    return traffic
