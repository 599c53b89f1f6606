"""What `diff` is given in tests, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.commands import main

Row = dict[str, Any]


def row(offset: int, **more: Any) -> Row:
    return {
        "key": f"k{offset % 4}",
        "value": f"v{offset}",
        "partition": offset % 2,
        "offset": offset,
        "timestamp": 1_700_000_000_000 + offset,
        "headers": None,
        **more,
    }


def written(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def diff(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    status = main(["diff", *map(str, arguments), "--json"])
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else out.err
