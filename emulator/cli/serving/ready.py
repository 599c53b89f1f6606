"""The file that says that the broker is ready, for scripts that start one and wait."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any


class ReadyFile:
    """Written whole when the broker is ready, removed when it stops."""

    def __init__(self, path: str, facts: dict[str, Any]) -> None:
        """Raises OSError."""
        self._path = path
        beside = f"{path}.{os.getpid()}.tmp"
        with open(beside, "w") as file:
            json.dump(facts, file)
            file.write("\n")
        os.replace(beside, path)

    def remove(self) -> None:
        """Take it away, if it is still there."""
        with suppress(FileNotFoundError):
            os.remove(self._path)
