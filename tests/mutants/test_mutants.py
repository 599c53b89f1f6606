"""The tool that changes the source: places are found again, and all changes sleep side by side."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutants.choosing import Mutant, choose, same_places, shares
from tests.mutants.listed import read, written
from tests.mutants.weaving import woven

SOURCE = '''"""A text."""

from __future__ import annotations

LIMIT = 3


class Box:
    size: int = 2

    def put(self, many: int = 0) -> str:
        """Says whether it fits."""
        if many < self.size or many == 9:
            many += 1
            return "fits"
        self.size = many * 2
        return f"no: {self.size + 1}"


def limit() -> int:
    return LIMIT
'''


# Each change, and what the functions below answer then.
AS_WRITTEN = ("fits", "no: 5", 4, 3)
CHANGES = {
    ("Box.put()", "many < self.size or many == 9", "many < self.size and many == 9"): (
        ("no: 3", "no: 5", 4, 3)
    ),
    ("Box.put()", "return 'fits'", "return None"): (None, "no: 5", 4, 3),
    ("Box.put()", "self.size = many * 2", "pass"): ("fits", "no: 3", 2, 3),
    ("Box", "size: int = 2", "size: int = 1"): ("no: 3", "no: 5", 4, 3),
    ("", "LIMIT = 3", "LIMIT = 4"): ("fits", "no: 5", 4, 4),
}


def answers(text: str) -> tuple[object, ...]:
    names: dict[str, Any] = {}
    exec(text, names)
    box = names["Box"]()
    return box.put(1), box.put(2), box.size, names["limit"]()


def test_all_sleep_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    mutants = [
        Mutant(number, "wire/box.py", function, 0, before, after)
        for number, (function, before, after) in enumerate(CHANGES, 1)
    ]
    lost = Mutant(99, "wire/box.py", "limit()", 0, "return 3", "return None")
    text, gone = woven(SOURCE, [*mutants, lost])
    switch = ModuleType("mutant_switch")
    monkeypatch.setitem(sys.modules, "mutant_switch", switch)

    def with_on(number: int) -> tuple[object, ...]:
        reached.clear()
        switch.is_on = lambda each: reached.add(each) or each == number  # type: ignore[attr-defined]
        return answers(text)

    reached: set[int] = set()
    assert with_on(0) == answers(SOURCE) == AS_WRITTEN
    assert reached == {1, 2, 3, 4, 5}
    assert [with_on(each.number) for each in mutants] == list(CHANGES.values())
    assert gone == [lost]


def test_what_is_drawn_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire/box.py").write_text(SOURCE)
    drawn = choose(tmp_path, count=6, seed=1)
    assert drawn == choose(tmp_path, count=6, seed=1)
    assert drawn == read(written(drawn))
    tree = ast.parse(SOURCE)
    found = [same_places(tree, each.function, each.before)[each.nth] for each in drawn]
    assert len({id(place) for place, _ in found}) == 6
    assert all(each.before != each.after for each in drawn)


def test_each_room_has_its_share() -> None:
    assert shares({"wire": 900, "storage": 80, "compat": 20}, count=30, least=3) == {
        "wire": 23,
        "storage": 5,
        "compat": 2,
    }
