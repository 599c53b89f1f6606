"""What is hidden, and what is chosen by what is in JSON values."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from odradek.compat.spark.pipeline.errors import PipelineError
from odradek.compat.spark.pipeline.replay.masks import Choice, Masks, parse_path

SECRET = b"hush"


def records(*values: bytes | None, keys: list[bytes | None] | None = None) -> pa.RecordBatch:
    count = len(values)
    return pa.record_batch(
        {
            "key": pa.array(keys or [b"k"] * count, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "topic": pa.array(["t"] * count),
            "partition": pa.array([0] * count, pa.int32()),
            "offset": pa.array(range(count), pa.int64()),
        }
    )


def masked(value: Any, *paths: str) -> Any:
    masks = Masks(SECRET, paths=tuple(map(parse_path, paths)))
    (found,) = masks.of(records(json.dumps(value).encode()))["value"].to_pylist()
    return json.loads(found)


def test_equal_keys_stay_equal() -> None:
    keys = [b"anna", None, b"bert", b"anna"]
    found = Masks(SECRET, keys=True).of(records(*[b""] * 4, keys=keys))["key"].to_pylist()
    assert found[0] == found[3] != found[2]
    assert found[1] is None
    assert found[0] == b"b450fc03b8ebdafe6958e3030bed75d3"
    other = Masks(b"another", keys=True).of(records(b"", keys=[b"anna"]))["key"].to_pylist()
    assert other[0] != found[0]


def test_what_a_path_leads_to_is_hidden() -> None:
    value = {"user": {"email": "a@b.c", "age": 3}, "items": [{"n": 1}, {"n": 2}, {}], "tags": ["x"]}
    found = masked(value, "user.email", "items[*].n", "tags[*]", "$.nothing.there", "user.age.more")
    assert found["user"]["age"] == 3
    assert found["items"][2] == {}
    hidden = [found["user"]["email"], *(each["n"] for each in found["items"][:2]), *found["tags"]]
    assert all(len(each) == 32 for each in hidden)
    assert len(set(hidden)) == 4
    assert masked({"a": 1}, "a") == masked({"a": 1}, "a")
    assert masked({"a": None}, "a") == {"a": None}
    assert masked([[1]], "x") == [[1]]


def test_what_is_no_json_is_refused() -> None:
    masks = Masks(SECRET, paths=(("a",),))
    assert masks.of(records(None))["value"].to_pylist() == [None]
    with pytest.raises(PipelineError, match="t-0: the value at offset 1 is no JSON"):
        masks.of(records(b"{}", b"plain text"))


@pytest.mark.parametrize("path", ["", "a..b", "a[0]", "[*]", "a[*]b"])
def test_paths_that_are_none(path: str) -> None:
    with pytest.raises(ValueError, match="not a path such as"):
        parse_path(path)


def test_records_are_chosen_by_what_is_in_them() -> None:
    values = [b'{"c": "DE", "n": 12}', b'{"c": "FR", "n": 3}', b"no JSON", None, b'{"n": [1]}']
    given = records(*values, keys=[b"a1", b"b2", None, b"a3", b"\xff"])

    def chosen(choice: Choice) -> list[int]:
        offsets: list[int] = choice.of(given)["offset"].to_pylist()
        return offsets

    assert chosen(Choice()) == [0, 1, 2, 3, 4]
    assert chosen(Choice(key="^a")) == [0, 3]
    assert chosen(Choice(where=((("c",), "^D"),))) == [0]
    assert chosen(Choice(where=((("c",), "."), (("n",), "^3$")))) == [1]
    assert chosen(Choice(where=((("n", "[*]"), "1"),))) == [4]
    assert chosen(Choice(partitions=frozenset([1]))) == []
    with pytest.raises(PipelineError, match=r"'\(' is no regular expression"):
        Choice(key="(").check()
