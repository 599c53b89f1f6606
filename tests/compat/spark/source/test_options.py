"""The options: read, and refused by name."""

from __future__ import annotations

import re

import pytest
from odradek.compat.spark.source.options import (
    OptionError,
    Selection,
    columns_of,
    read_options,
    write_options,
)

WRONG = [
    # given, what is said of it
    ({"subscibe": "a"}, "there is no option subscibe: did you mean subscribe?"),
    ({"zzzzz": "a"}, "there is no option zzzzz: there are path, topics, subscribe"),
    ({"kafka.bootstrap.servers": "a:1"}, "option kafka.bootstrap.servers: a data directory has no"),
    ({"kafka.isolation.levl": "x"}, "did you mean kafka.isolation.level?"),
    ({"kafka.isolation.level": "committed"}, "'committed' is none of read_uncommitted, read_com"),
    ({"subscribe": "a", "assign": '{"a":[0]}'}, "options assign and subscribe: only one of them"),
    ({"assign": '{"a":["0"]}'}, "option assign: .*'0' is no whole number"),
    ({"subscribePattern": "("}, "option subscribePattern: '\\('"),
    ({"startingOffsets": "latest"}, "a batch cannot start at latest"),
    ({"startingOffsets": '{"a":{"0":-1}}'}, "a batch cannot start at latest"),
    ({"endingOffsets": "earliest"}, "a batch cannot end at earliest"),
    ({"endingOffsets": '{"a":{"0":-2}}'}, "a batch cannot end at earliest"),
    ({"startingOffsets": "first"}, "option startingOffsets: 'first'"),
    ({"startingOffsets": '{"a":{"x":1}}'}, "option startingOffsets: .*'x'"),
    ({"startingOffsets": "[1]"}, "option startingOffsets"),
    ({"startingTimestamp": "yesterday"}, "option startingTimestamp: 'yesterday'"),
    ({"minPartitions": "0"}, "option minPartitions: '0': must be at least 1"),
    ({"failOnDataLoss": "no"}, "option failOnDataLoss: 'no' is neither true nor false"),
    ({"columns": "key,ofset"}, "there is no column ofset: did you mean offset?"),
    ({"maxOffsetsPerTrigger": "5"}, "option maxOffsetsPerTrigger is for reading a stream, not for"),
    ({"numPartitions": "5"}, "option numPartitions is for writing, not for reading a batch"),
    ({"path": ""}, "option path: name the data directory"),
    ({"path": "s3://bucket/x"}, "only directories of this file system"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[str(each[0]) for each in WRONG])
def test_wrong_options_are_named(given: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said.replace("?", r"\?")):
        read_options({"path": "/data", **given}, stream=False)


def test_options_of_a_writer_are_its_own() -> None:
    with pytest.raises(OptionError, match="option subscribe is for reading a batch and reading a"):
        write_options({"path": "/data", "subscribe": "a"})
    with pytest.raises(OptionError, match="'zip' is none of none, gzip, snappy, lz4, zstd"):
        write_options({"path": "/data", "kafka.compression.type": "zip"})
    assert write_options({"path": "/d", "NUMPARTITIONS": "3"}).partitions == 3


def test_a_stream_starts_at_the_end_and_a_batch_at_the_beginning() -> None:
    assert read_options({"path": "/d"}, stream=True).start.offsets == "latest"
    assert read_options({"path": "/d"}, stream=False).start.offsets == "earliest"
    assert read_options({"path": "/d"}, stream=False).isolation == "read_uncommitted"


def test_names_have_any_case() -> None:
    options = read_options(
        {"PATH": "file:///d/e", "SUBSCRIBE": "a, b,", "StartingOffsets": '{"a":{"0":-2,"01":7}}'},
        stream=True,
    )
    assert options.path == "/d/e"
    assert options.selection == Selection(names=("a", "b"))
    assert options.start.offsets == {"a": {"0": -2, "1": 7}}


def test_columns_are_the_connectors_unless_others_are_asked_for() -> None:
    connector = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
    assert columns_of({}) == connector
    assert columns_of({"includeHeaders": "true"}) == (*connector, "headers")
    assert columns_of({"batchColumns": "true"})[7:9] == ("segment", "position")
    assert columns_of({"columns": "OFFSET, codec,offset"}) == ("offset", "codec")
    with pytest.raises(OptionError, match=re.escape("option columns: there is no column x: there")):
        columns_of({"columns": "x"})
