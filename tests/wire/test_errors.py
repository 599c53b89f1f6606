"""Kafka's error codes, beside those of another implementation."""

from __future__ import annotations

import pytest
from odradek.wire.errors import Error

# Names that kafka-python has from older releases.
RENAMED = {
    "UNKNOWN": "UNKNOWN_SERVER_ERROR",
    "NO_ERROR": "NONE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "MESSAGE_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "INVALID_TOPIC": "INVALID_TOPIC_EXCEPTION",
    "INVALID_REPLICATION_ASSIGNMENT": "INVALID_REPLICA_ASSIGNMENT",
}


def test_each_code_has_one_name() -> None:
    assert [int(error) for error in Error] == list(range(-1, len(Error) - 1))
    assert len(Error) == len(Error.__members__)


def test_codes_are_those_of_kafka_python() -> None:
    theirs = pytest.importorskip("kafka.errors").kafka_errors
    names = {code: each.message for code, each in theirs.items() if code is not None}
    assert len(names) > 100
    assert {code: Error(code).name for code in names} == {
        code: RENAMED.get(name, name) for code, name in names.items()
    }
