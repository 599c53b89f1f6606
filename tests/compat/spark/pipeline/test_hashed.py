"""The rows of `diff`: equal headers have equal bytes, and others have others."""

from __future__ import annotations

from struct import pack
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from odradek.compat.spark.pipeline.diff.hashed import _headers
from odradek.compat.spark.segments.schema import schema_of

HEADERS = schema_of(("headers",)).field("headers").type
HEADER = st.fixed_dictionaries(
    {"key": st.text(max_size=3), "value": st.none() | st.binary(max_size=3)}
)
RECORDS = st.lists(st.none() | st.lists(HEADER, max_size=3), max_size=6)


def plainly(headers: list[dict[str, Any]] | None) -> bytes | None:
    """Record by record."""
    found = b""
    for header in headers or []:
        for each in (header["key"].encode(), header["value"]):
            found += pack("<q", -1 if each is None else len(each)) + (each or b"")
    return found or None


@given(RECORDS, st.integers(0, 2))
def test_the_bytes_of_headers_are_those_of_a_plain_loop(
    records: list[list[dict[str, Any]] | None], skipped: int
) -> None:
    column = pa.array(records, HEADERS).slice(min(skipped, len(records)))
    assert _headers(column).to_pylist() == [plainly(each) for each in records[skipped:]]
