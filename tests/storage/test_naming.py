"""Names of directories and files: both ways of naming, there and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.storage import LogConfig, LogDirectory, LogDirectoryError
from odradek.storage.naming import (
    DOCUMENTED,
    KAFKA,
    NAMINGS,
    STRAY,
    Naming,
    is_future,
    naming_of,
    renamed_suffix,
)

from tests.storage.support.logs import append, read_all

TOPICS = st.text("abz019._-", min_size=1, max_size=12)
PARTITIONS = st.integers(0, 1 << 31)


def test_names_as_kafka_has_them() -> None:
    assert KAFKA.directory("my_topic", 0) == "my_topic-0"
    assert KAFKA.log(42) == "00000000000000000042.log"


def test_names_as_the_documents_have_them() -> None:
    assert DOCUMENTED.directory("my_topic", 0) == "my_topic_0"
    assert DOCUMENTED.log(42) == "00000000042.kafka"
    assert DOCUMENTED.log(10**12) == "1000000000000.kafka", "larger offsets make longer names"


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        ("a_1", ("a", 1)),
        ("a_1_0", ("a_1", 0)),
        ("a__0", ("a_", 0)),
        ("a-1_0", ("a-1", 0)),
        ("a_01", None),
        ("a_", None),
        ("_1", None),
        ("a_-1", None),
        ("a_1-0", None),
        ("a", None),
    ],
)
def test_a_directorys_name_is_read_from_its_end(
    name: str, partition: tuple[str, int] | None
) -> None:
    assert DOCUMENTED.parse_directory(name) == partition


@given(TOPICS, PARTITIONS, st.sampled_from([KAFKA, DOCUMENTED]))
def test_a_directorys_name_says_which_partition_it_is(
    topic: str, partition: int, naming: Naming
) -> None:
    name = naming.directory(topic, partition)
    assert naming.parse_directory(name) == (topic, partition)
    others = [other.parse_directory(name) for other in NAMINGS.values() if other != naming]
    assert others == [None], "no directory can be read by both namings"


@given(st.integers(0, (1 << 63) - 1), st.sampled_from([KAFKA, DOCUMENTED]))
def test_a_files_name_says_its_offset(offset: int, naming: Naming) -> None:
    assert naming.parse_file(naming.log(offset)) == (offset, naming.log_suffix)
    assert naming.parse_file(naming.file(offset, ".index")) == (offset, ".index")


@given(TOPICS, PARTITIONS, st.binary(min_size=16, max_size=16))
def test_a_directory_on_its_way_out_is_known_by_its_name(
    topic: str, partition: int, unique: bytes
) -> None:
    for naming in NAMINGS.values():
        name = naming.renamed_directory(topic, partition, unique, STRAY)
        assert renamed_suffix(name) == STRAY
        assert len(naming.renamed_directory("t" * 249, partition, unique, STRAY)) <= 255


def test_a_replica_that_is_copied_is_known_by_its_name() -> None:
    name = f"a-0.{'0f' * 16}-future"
    assert (is_future(name), renamed_suffix(name), KAFKA.parse_directory(name)) == (
        *(True, None),
        None,
    )
    assert not any(map(is_future, ("a-future", "a-0", f"a-0.{'0f' * 16}-delete")))


def test_a_naming_by_its_name() -> None:
    assert (naming_of("kafka"), naming_of("documented")) == (KAFKA, DOCUMENTED)
    with pytest.raises(ValueError, match="no naming 'zookeeper', but kafka and documented"):
        naming_of("zookeeper")


@pytest.mark.parametrize("naming", [KAFKA, DOCUMENTED], ids=NAMINGS)
def test_a_directory_is_opened_by_its_own_naming_only(tmp_path: Path, naming: Naming) -> None:
    def open_directory(naming: Naming) -> LogDirectory:
        return LogDirectory.open(tmp_path, node_id=1, naming=naming)

    directory = open_directory(naming)
    for topic in ("a", "a_1"):
        log = directory.open_log(topic, 1, bytes([len(topic)] * 16), LogConfig(), 0)
        append(log, topic.encode())
    directory.close(clean=False)

    (other,) = (one for one in NAMINGS.values() if one != naming)
    name = next(text for text, one in NAMINGS.items() if one == naming)
    with pytest.raises(LogDirectoryError, match=f"{tmp_path} .* is named as '{name}'"):
        open_directory(other)

    directory = open_directory(naming)
    assert set(directory.partitions) == {("a", 1), ("a_1", 1)}
    for topic in ("a", "a_1"):
        log = directory.open_log(topic, 1, bytes([len(topic)] * 16), LogConfig(), 0)
        assert read_all(log) == [(0, topic.encode())]
    assert directory.notices == []
    directory.close()
