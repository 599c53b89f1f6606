"""A data directory of one release in later ones, as an operator upgrades, and in earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.config.definition import ConfigError
from odradek.emulator.releases.tables import NAMES

LEVEL = "metadata.version"


def levels(kafka: Emulator) -> dict[str, int]:
    return kafka.run(lambda cluster: dict(cluster.features.finalized))


def test_a_directory_goes_through_every_release(tmp_path: Path) -> None:
    """An upgrade keeps records, configs and offsets; levels stay until they are raised."""
    names = NAMES[::-1]
    for number, name in enumerate(names):
        with Emulator(version=name, data_dir=tmp_path) as one:
            if number == 0:
                one.topics.create("t", 1, config={"retention.ms": "-1"})
            kept = one.run(lambda cluster: dict(cluster.topic("t").config.overrides))
            assert kept == {"retention.ms": "-1"}
            one.topic("t").produce(name)
            one.group("g").commit({("t", 0): number})
            assert [each.value for each in one.topic("t").records()] == [
                each.encode() for each in names[: number + 1]
            ]
            assert levels(one)[LEVEL] == 7
    assert number == len(names) - 1
    with Emulator(version="2.7", data_dir=tmp_path) as back:  # for no level was raised
        assert back.group("g").committed()[("t", 0)].offset == number


@pytest.mark.parametrize(
    ("newer", "older", "what"),
    [
        ("4.3", "4.2", "of which Kafka 4.2 knows the levels 7-29"),
        ("4.0", "3.9", "of which Kafka 3.9 knows the levels 1-21"),
        ("3.6", "3.3", "of which Kafka 3.3 knows the levels 1-7"),
        ("3.6", "2.7", "and Kafka 2.7, without KRaft, opens one of up to 7"),
    ],
)
def test_a_downgrade_below_the_levels_is_refused(
    newer: str, older: str, what: str, tmp_path: Path
) -> None:
    with Emulator(version=newer, data_dir=tmp_path) as kafka:
        level = levels(kafka)[LEVEL]
    with pytest.raises(ConfigError, match=f"{LEVEL} {level}, {what}"):
        Emulator(version=older, data_dir=tmp_path).start()
    with Emulator(version=newer, data_dir=tmp_path) as kafka:
        assert levels(kafka)[LEVEL] == level
