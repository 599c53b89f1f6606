"""The text files of a log directory: exact bytes, and a name and a line for what is malformed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage.checkpoints import (
    CheckpointError,
    MetaProperties,
    format_clean_shutdown,
    format_epochs,
    format_meta_properties,
    format_offsets,
    format_partition_metadata,
    read_clean_shutdown,
    read_epochs,
    read_meta_properties,
    read_offsets,
    read_partition_metadata,
)
from odradek.wire.primitives import parse_id

TOPIC_ID = "abcdefghijklmnopqrstug"
ONE = "AAAAAAAAAAAAAAAAAAAAAQ"


# Each row was put to Kafka 4.3.1's own reader.
@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("", {}),
        ("0\n", {}),
        ("0\n0\n", {}),
        ("0\n1\na 0 5\n", {("a", 0): 5}),
        ("0\n1\na 0 5", {("a", 0): 5}),
        ("0\n2\nb 3 7\na 0 5\n", {("a", 0): 5, ("b", 3): 7}),
        ("0\n2\na 0 5\na 0 6\n", {("a", 0): 6}),
        ("0\r\n1\r\na 0 5\r\n", {("a", 0): 5}),
        ("0\n1\na  0\t+5 \n", {("a", 0): 5}),
        ("00\n1\na 0 9223372036854775807\n", {("a", 0): 2**63 - 1}),
    ],
)
def test_offset_checkpoints_are_read_in_any_order(
    text: str, offsets: dict[tuple[str, int], int]
) -> None:
    assert read_offsets(text.encode(), "offsets") == offsets


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (" \n", 1, "' ' is not a number"),
        ("x\n0\n", 1, "'x' is not a number"),
        ("1\n0\n", 1, "version 1 instead of 0"),
        ("0\n\n", 2, "'' is not a number"),
        ("0\n-1\n", 2, "'-1' is not a number"),
        ("0\n2\na 0 5\n", 2, "2 entries announced, 1 found"),
        ("0\n0\na 0 5\n", 2, "0 entries announced, 1 found"),
        ("0\n1\na 0\n", 3, "malformed line 'a 0'"),
        ("0\n1\n a 0 5\n", 3, "malformed line ' a 0 5'"),
        ("0\n1\na 0 5 6\n", 3, "malformed line 'a 0 5 6'"),
        ("0\n1\na 0 x\n", 3, "'x' is not a number"),
        ("0\n1\na 0 -5\n", 3, "'-5' is not a number"),
        ("0\n2\na 0 5\nb 2147483648 5\n", 4, "'2147483648' is not a number"),
        ("0\n1\na 0 9223372036854775808\n", 3, "'9223372036854775808' is not a number"),
        ("0\n1\na 0 5\n\n", 4, "malformed line ''"),
        ("0\n1\n\udcff 0 5\n", 3, "'\\\\xff' is not UTF-8"),
    ],
)
def test_a_malformed_checkpoint_is_named_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_offsets(text.encode(errors="surrogateescape"), "recovery-point-offset-checkpoint")

    assert (caught.value.file, caught.value.line) == ("recovery-point-offset-checkpoint", line)
    assert caught.value.problem.startswith(problem)
    assert str(caught.value).startswith(f"recovery-point-offset-checkpoint, line {line}: ")


def test_offset_checkpoints_are_written_as_kafka_does() -> None:
    assert format_offsets({}) == b"0\n0\n"
    assert format_offsets({("a", 0): 5, ("b", 1): 7}) == b"0\n2\na 0 5\nb 1 7\n"


def test_leader_epoch_checkpoints_are_written_and_read() -> None:
    assert format_epochs([(0, 0)]) == b"0\n1\n0 0\n"
    assert read_epochs(b"0\n2\n0 1700\n4 3000\n") == [(0, 1700), (4, 3000)]


def test_a_malformed_leader_epoch_checkpoint_is_named_with_its_line() -> None:
    with pytest.raises(CheckpointError, match="leader-epoch-checkpoint, line 4: malformed line"):
        read_epochs(b"0\n2\n0 0\n1 2 3\n")


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        (
            f"#\n#Sat Nov 21\nnode.id=7\ndirectory.id={ONE}\nversion=1\ncluster.id=x\n",
            MetaProperties("x", 7, parse_id(ONE)),
        ),
        ("! c\n version : 1\ncluster.id x y\nnode.id: 7\n", MetaProperties("x y", 7)),
        ("version=1\r\n\r\ncluster.id=x \r\nnode.id=007", MetaProperties("x ", 7)),
        ("version=1\nnode.id=7\ncluster.id=a\ncluster.id=b", MetaProperties("b", 7)),
        ("version=1\nnode.id=7\ncluster.id=x#y=z", MetaProperties("x#y=z", 7)),
        ("version=1\nnode.id=7\ncluster.id==x", MetaProperties("=x", 7)),
        ("version=1\nnode.id=7\ncluster.id", MetaProperties("", 7)),
        ("version=1\nnode.id=7\ncluster.id=a\\:\\u00e9\\q\\\n  c", MetaProperties("a:éqc", 7)),
        ("version=1\nnode.id=7\nother\ncluster.id=x\\", MetaProperties("x", 7)),
        ("version=0\nbroker.id=7\ncluster.id=x\n", MetaProperties("x", 7, None, True)),
        ("#\nversion=0\nbroker.id=7\n", MetaProperties("", 7, None, True, False)),
    ],
)
def test_meta_properties_are_read_as_java_reads_them(text: str, properties: MetaProperties) -> None:
    assert read_meta_properties(text.encode()) == properties


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 0, "version is missing"),
        ("cluster.id=x\nnode.id=7\n", 0, "version is missing"),
        ("version=1\nnode.id=7\n", 0, "cluster.id is missing"),
        ("version=1\ncluster.id=x\n", 0, "node.id is missing"),
        ("#\nversion=2\ncluster.id=x\nnode.id=7\n", 2, "version '2' instead of 1"),
        ("version=1\ncluster.id=x\\\ny\nnode.id=z\n", 4, "'z' is not a number"),
        ("version=1\nnode.id=7 \ncluster.id=x\n", 2, "'7 ' is not a number"),
        ("version=1\ncluster.id=\\u00g0\nnode.id=7\n", 2, "malformed \\uxxxx escape"),
        ("version=1\ncluster.id=x\nnode.id=7\ndirectory.id=zz\n", 4, "'zz' is not an id"),
    ],
)
def test_malformed_meta_properties_are_named_with_their_line(
    text: str, line: int, problem: str
) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_meta_properties(text.encode())

    assert (caught.value.file, caught.value.line) == ("meta.properties", line)
    assert caught.value.problem.startswith(problem)


def test_meta_properties_are_written() -> None:
    written = format_meta_properties(MetaProperties(" é\\", 7, parse_id(ONE)))

    assert written == (
        b"version=1\ncluster.id=\\ \\u00e9\\u005c\nnode.id=7\ndirectory.id=" + ONE.encode() + b"\n"
    )
    assert b"directory.id" not in format_meta_properties(MetaProperties("x", 7))


@given(st.text(), st.integers(0, 2**31 - 1), st.none() | st.binary(min_size=16, max_size=16))
def test_any_cluster_id_survives_meta_properties(
    cluster_id: str, node_id: int, directory_id: bytes | None
) -> None:
    properties = MetaProperties(cluster_id, node_id, directory_id)

    assert read_meta_properties(format_meta_properties(properties)) == properties


def test_partition_metadata_is_43_bytes_without_a_newline_at_the_end() -> None:
    written = format_partition_metadata(parse_id(TOPIC_ID))

    assert written == b"version: 0\ntopic_id: abcdefghijklmnopqrstug"
    assert len(written) == 43
    assert read_partition_metadata(written) == parse_id(TOPIC_ID)
    assert read_partition_metadata(written + b"\n") == parse_id(TOPIC_ID)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "a line 'version:' is expected here"),
        (f"topic_id: {TOPIC_ID}\nversion: 0", 1, "a line 'version:' is expected here"),
        (f"version:0\ntopic_id: {TOPIC_ID}", 1, "a line 'version:' is expected here"),
        (f"version: 1\ntopic_id: {TOPIC_ID}", 1, "version '1' instead of 0"),
        ("version: 0", 2, "a line 'topic_id:' is expected here"),
        ("version: 0\ntopic_id: abc", 2, "'abc' is not an id of 22 characters"),
        (f"version: 0\ntopic_id: {TOPIC_ID} ", 2, f"'{TOPIC_ID} ' is not an id of 22 characters"),
        ("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 2, "the topic id is zero"),
    ],
)
def test_malformed_partition_metadata_is_named_with_its_line(
    text: str, line: int, problem: str
) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_partition_metadata(text.encode(), "orders-0/partition.metadata")

    assert (caught.value.file, caught.value.line) == ("orders-0/partition.metadata", line)
    assert caught.value.problem == problem


def test_the_clean_shutdown_marker_holds_the_broker_epoch() -> None:
    assert format_clean_shutdown(12) == b'{"version":0,"brokerEpoch":12}'
    assert read_clean_shutdown(format_clean_shutdown(12)) == 12


@pytest.mark.parametrize("content", [b"", b"x", b"[1]", b'{"version":0}', b"\xff", b"[" * 10**5])
def test_a_clean_shutdown_marker_may_hold_anything(content: bytes) -> None:
    assert read_clean_shutdown(content) is None


READERS: list[Callable[[bytes], Any]] = [
    lambda data: read_offsets(data, "offsets"),
    read_epochs,
    read_meta_properties,
    read_partition_metadata,
    read_clean_shutdown,
]
PIECES = [
    *(b"0\n", b"1\n", b"a 0 5\n", b"1 2\n", b"9" * 5000, b"\xff", b" "),
    *(b"version=1\n", b"cluster.id=", b"node.id=", b"\\", b"\\u", b"\n"),
    *(b"version: 0\n", b"topic_id: ", TOPIC_ID.encode()),
]


@given(st.sampled_from(READERS), st.binary() | st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_any_bytes_are_read_or_raise_a_checkpoint_error(
    reader: Callable[[bytes], Any], data: bytes
) -> None:
    try:
        outcome = reader(data)
    except CheckpointError as error:
        outcome = error

    assert not isinstance(outcome, CheckpointError) or str(outcome).startswith(outcome.file)


@given(
    st.dictionaries(
        st.tuples(st.from_regex(r"[a-zA-Z0-9._-]+", fullmatch=True), st.integers(0, 2**31 - 1)),
        st.integers(0, 2**63 - 1),
    )
)
def test_offsets_survive_a_checkpoint(offsets: dict[tuple[str, int], int]) -> None:
    assert read_offsets(format_offsets(offsets), "offsets") == offsets
