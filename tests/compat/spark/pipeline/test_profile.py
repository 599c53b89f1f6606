"""`profile`: its numbers are those of the records; the page loads nothing and escapes all text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.commands import main

from tests.compat.spark.pipeline.support import TIME, Filled

ENGINES = ["arrow", pytest.param("spark", marks=pytest.mark.spark)]


def profile(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main(["profile", *map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found["topics"]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_the_numbers_are_those_of_the_records(
    filled: Filled, capsys: pytest.CaptureFixture[str]
) -> None:
    [(name, found)] = profile(capsys, filled.path).items()
    assert name == "orders"
    numbers = range(300)
    assert found["records"] == 303, "the records of the committed transaction, not of the aborted"
    assert found["null_keys"] == sum(n % 7 == 0 for n in numbers)
    assert found["null_values"] == sum(n % 11 == 0 for n in numbers)
    assert found["with_headers"] == sum(n % 3 > 0 for n in numbers)
    assert found["value_bytes"] == sum(n % 90 for n in numbers if n % 11) + 3 * len(b"in 0")
    keys = {n % 50 for n in numbers if n % 7}
    assert (found["distinct_keys"], found["distinct_keys_error"]) == (len(keys) + 1, 0.0)
    assert (found["first_ms"], found["last_ms"]) == (TIME, TIME + 900)
    assert sum(found["times"]["records"]) == 303
    assert sum(found["value_sizes"]["records"]) == 303 - found["null_values"]
    assert {number: each["records"] for number, each in found["partitions"].items()} == {
        "0": 101,
        "1": 101,
        "2": 101,
    }
    assert sum(found["codecs"].values()) == 303


def test_a_topic_and_its_directory_have_the_same_profile(
    filled: Filled, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profile(capsys, filled.topic) == profile(capsys, filled.path)


@pytest.mark.spark
def test_both_engines_give_the_same(filled: Filled, capsys: pytest.CaptureFixture[str]) -> None:
    on_arrow = profile(capsys, filled.path, "--engine", "arrow")
    assert on_arrow == profile(capsys, filled.path, "--engine", "spark")


def test_json_values_have_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = [
        {"id": 1, "tags": ["a", 2], "user": {"name": None}},
        {"id": "x", "tags": [], "user": {"name": "n", "admin": True}},
        {"id": 1.5},
    ]
    rows = [{"key": "k", "value": json.dumps(each)} for each in values]
    path = written(tmp_path / "a.jsonl", [*rows, {"key": "k", "value": "no JSON"}])
    [found] = profile(capsys, path).values()
    assert found["json"] == {
        "sampled": 4,
        "parsed": 3,
        "more_paths": False,
        "paths": {
            "$": {"object": 3},
            "$.id": {"integer": 1, "string": 1, "number": 1},
            "$.tags": {"array": 2},
            "$.tags[]": {"string": 1, "integer": 1},
            "$.user": {"object": 2},
            "$.user.admin": {"boolean": 1},
            "$.user.name": {"null": 1, "string": 1},
        },
    }


def test_values_made_to_be_large_are_looked_at_in_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "[" * 50_000
    wide = json.dumps({f"n{number}": number for number in range(3_000)})
    nested = json.dumps({"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}})
    rows = [{"key": None, "value": value} for value in (deep, wide, nested, "[" * 100_000)]
    [found] = profile(capsys, written(tmp_path / "a.jsonl", rows)).values()
    assert found["json"]["parsed"] == 2
    assert found["json"]["more_paths"]
    assert len(found["json"]["paths"]) <= 200


class Page(HTMLParser):
    """What a page has: its tags, and the text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "onload")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_loads_nothing_and_escapes_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "<script>alert('x')</script>&"
    rows = [
        {"key": evil, "value": json.dumps({evil: 1}), "topic": evil, "timestamp": 1_000 * n}
        for n in range(100)
    ]
    source, out = written(tmp_path / "<b>.jsonl", rows), tmp_path / "out.html"
    assert main(["profile", str(source), "--html", str(out)]) == 0
    page = Page(out.read_text())
    assert "script" not in page.tags
    assert page.links == []
    assert page.text.count(evil) == 3, "the topic, a key and a path"
    assert page.tags.count("svg") == 3
    assert not re.search(r"https?:|url\(|@import", out.read_text())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["<b>.jsonl", "out.html"]
    assert evil in capsys.readouterr().out


def test_the_text_has_plots(filled: Filled, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", filled.path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("orders: 3 partitions, 303 records, ")
    assert any(re.match("  value size [▁▂▃▄▅▆▇█]+  from 0 B", line) for line in lines), lines
    assert lines[-1].split()[:3] == ["2", "█" * 20, "101"]


def test_nothing_in_the_range_is_no_failure(
    filled: Filled, capsys: pytest.CaptureFixture[str]
) -> None:
    found = profile(capsys, filled.path, "--since", "2040-01-01")["orders"]
    assert (found["records"], found["first_ms"]) == (0, None)
    assert {n: each["records"] for n, each in found["partitions"].items()} == dict.fromkeys(
        "012", 0
    )


def test_where_the_page_goes_is_checked_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for page, said in (
        (tmp_path, "this is a directory"),
        (tmp_path / "a" / "b.html", f"there is no directory {tmp_path / 'a'}"),
    ):
        # The place is not looked at: it is not there.
        assert main(["profile", str(tmp_path / "nothing"), "--html", str(page)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("place", ["{0.address}", "{0.directory}", "{0.directory}/empty"])
def test_topics_without_records_have_zeros(
    place: str, filled: Filled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = tmp_path / "empty.html"
    found = profile(capsys, place.format(filled), "--html", html)["empty"]
    assert (found["records"], found["distinct_keys"], found["codecs"]) == (0, 0, {})
    assert found["partitions"]["0"]["records"] == 0
    assert "<h2>empty" in html.read_text()
    assert main(["profile", place.format(filled)]) == 0
    assert "empty: 1 partitions, 0 records, 0 B of keys and values" in capsys.readouterr().out
