"""An export in a file, which can be gone on with: the file itself says how far it is.

Each line is what `odradek records --json` prints. A last line that is not whole, as a kill leaves
it, is cut off. So nothing is lost and nothing is there twice, however the export ended.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

from .client import ConsoleError


def go_on(path: Path, topic: str) -> tuple[IO[bytes], dict[int, int]]:
    """The file, to be written to at its end, and the next offset of each partition that it has.
    Raises ConsoleError if it holds something else."""
    try:
        file = path.open("r+b") if path.exists() else path.open("w+b")
    except OSError as error:
        raise ConsoleError(f"{path} cannot be written: {error.strerror}") from None
    found: dict[int, int] = {}
    whole = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        place = _place(line, topic)
        if place is None:
            file.close()
            raise ConsoleError(f"{path}, line {number}: this is no record of {topic} in JSON")
        found[place[0]] = max(found.get(place[0], 0), place[1] + 1)
        whole += len(line)
    file.truncate(whole)
    file.seek(whole)
    return file, found


def _place(line: bytes, topic: str) -> tuple[int, int] | None:
    try:
        told = json.loads(line)
        if told["topic"] == topic:
            return int(told["partition"]), int(told["offset"])
    except (ValueError, KeyError, TypeError):
        return None
    return None
