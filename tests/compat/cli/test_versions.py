"""`odradek versions`: releases, one of them, and what changed between two."""

from __future__ import annotations

import pytest
from odradek.compat.cli.versions import capabilities, changes, described, overview
from odradek.compat.commands import main
from odradek.emulator.base.release import release_named, releases


def test_every_release_has_a_line() -> None:
    head, *rows = overview()
    assert " ".join(head.split()) == "release asked metadata APIs Produce Fetch magic levels"
    assert [row.split()[0] for row in rows] == [each.name for each in releases()]
    assert rows[-1].split() == ["0.8.2", "0.8.2.2", "ZooKeeper", "7", "0", "0", "0", "-"]
    assert rows[0].split() == ["4.3", "4.3.1", "KRaft", "75", "3-13", "4-18", "2", "7-30"]


def test_every_capability_has_its_sentence() -> None:
    for name, sentence in capabilities().items():
        assert sentence != name
        assert sentence.endswith(".")


def test_one_release_is_described() -> None:
    lines = described(release_named("2.7.2"))
    assert lines[0] == "Kafka 2.7"
    assert "DescribeClientQuotas  48  0" in [
        " ".join(line.split(" ")) for line in map(_spaced, lines)
    ]
    assert any(line.startswith("  no   Metadata is kept by KRaft") for line in lines)
    assert not any("KIP-511" in line for line in lines)  # as in the newest


def _spaced(line: str) -> str:
    return "  ".join(line.split())


def test_what_changed_between_two() -> None:
    lines = changes(release_named("2.7"), release_named("4.0"))
    assert {
        "        Produce 0-8 -> 0-12",
        "  new   ConsumerGroupHeartbeat 0-1",
        "  gone  LeaderAndIsr 0-4",
        "  new   metadata.version 7-25",
        "  gone  zookeeper.connect",
    } <= {*lines}
    assert "  gone  message.format.version" in lines[lines.index("Configs of topics") :]
    same = changes(release_named("4.3"), release_named("4.3"))
    assert same == ["From Kafka 4.3 to 4.3", "", "Nothing that clients can tell."]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("2", "2.0"), ("4", "4.0"), ("1", "0.11.0"), ("3.7", "3.6"), ("9.9", "4.3")],
)
def test_one_that_is_not_there_is_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"no release '{name}' .* the nearest is {nearest};"):
        release_named(name)


@pytest.mark.parametrize(
    "name", ["", "2.7 ", "v2.7", "2.7.x", "2.7.-1", "2.7..", "1.1.1rc1", "9" * 99]
)
def test_what_is_no_version_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no release .* of Kafka here; there are 4\.3, 4\.2"):
        release_named(name)


def test_nothing_is_said_of_what_a_release_has_not() -> None:
    """Of features before UpdateFeatures, of KRaft's records before KRaft."""
    lines = "\n".join(described(release_named("0.8.2")))
    assert "UpdateFeatures" not in lines
    assert "migrated from ZooKeeper" not in lines
    assert "UpdateFeatures" in "\n".join(described(release_named("3.9")))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["versions", "--from", "4.2"]) == 0
    assert capsys.readouterr().out.startswith("From Kafka 4.2 to 4.3\n\nAPIs\n")
    assert main(["versions", "3.7"]) == 2
    assert "no release '3.7' of Kafka here, the nearest is 3.6" in capsys.readouterr().err
