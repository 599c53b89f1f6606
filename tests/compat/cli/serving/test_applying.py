"""Settings and a broker that runs: what is brought about, at the start and when a file changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from odradek import Emulator
from odradek.compat.cli.serving.apply import apply, problems
from odradek.compat.cli.serving.settings import Settings, SettingsError, TopicSettings
from odradek.compat.cli.serving.watching import Watch
from odradek.emulator.config.configs import BrokerConfig

LIMIT_S = 30


def until(condition: Callable[[], bool]) -> None:
    begin = monotonic()
    while not condition():
        assert monotonic() - begin < LIMIT_S, "in vain"
        sleep(0.005)


def configs_of(kafka: Emulator, topic: str) -> dict[str, str]:
    return kafka.run(lambda cluster: dict(cluster.topic(topic).config.overrides))


def test_what_is_not_there_is_made_and_what_differs_is_changed(tmp_path: Path) -> None:
    seed = tmp_path / "seed.jsonl"
    seed.write_text('{"topic": "cities", "value": "Oslo"}\n{"topic": "orders", "value": "no"}\n')
    old = TopicSettings(configs={"retention.ms": "1", "segment.ms": "1"}, seed=["tea", {"a": 1}])
    with Emulator(topics={"clicks": 4}) as kafka:
        first = Settings(topics={"orders": old, "clicks": TopicSettings(2)}, seeds=[seed])
        assert list(apply(kafka, first)) == [
            "created topic orders",
            "produced 2 records to orders",
            "topic clicks keeps its 4 partitions: there is no way to take them away",
            "produced 1 records to cities",
        ]
        assert list(apply(kafka, first, first)) == []
        new = TopicSettings(3, configs={"retention.ms": "2"})
        then = Settings(topics={"orders": new, "more": TopicSettings()})
        assert list(apply(kafka, then, first)) == [
            "topic orders has 3 partitions now",
            "set retention.ms, segment.ms of topic orders",
            "created topic more",
            "topic clicks is no longer there to be created; it stays until it is deleted",
        ]
        assert configs_of(kafka, "orders") == {"retention.ms": "2"}
        assert kafka.topic("orders").values() == [b"tea", b'{"a": 1}']
        assert kafka.topics() == ["cities", "clicks", "more", "orders"]


def test_what_is_wrong_is_said_before_there_is_a_broker(tmp_path: Path) -> None:
    lines = tmp_path / "bad.jsonl"
    lines.write_text('{"valu": 1}\n')
    other = tmp_path / "other.jsonl"
    other.write_text('{"topic": "x", "value": "1"}\n')
    topics = {
        "a b": TopicSettings(),
        "t": TopicSettings(configs={"retention.mss": "1"}),
        "u": TopicSettings(configs={"retention.ms": "x"}),
        "v": TopicSettings(seed=lines),
        "w": TopicSettings(seed=tmp_path / "none.csv"),
        "y": TopicSettings(seed=other),
        "z": TopicSettings(seed=["fine"]),
    }
    settings = Settings(topics=topics, seeds=[tmp_path / "none.csv"])
    said = [each.replace(f"{tmp_path}/", "") for each in problems(settings, BrokerConfig())]
    assert [each.partition(": ")[2].partition(":")[0] for each in said] == [
        *("a b", "t", "u", "v", "w", "y"),
        "none.csv",
    ]
    assert said[1] == "topics: t: Unknown topic config name: retention.mss; is retention.ms meant?"
    assert said[4] == "topics: w: seed: none.csv: No such file or directory"
    assert said[5] == "topics: y: seed: other.jsonl has records of x, too"


class Watched:
    """A file that is watched, which is read as `settings` says."""

    def __init__(self, kafka: Emulator, file: Path, settings: Settings) -> None:
        self.settings: Callable[[], Settings] = lambda: settings
        self.lines: list[str] = []
        self.file = file
        self._edits = 0
        self.watch = Watch(kafka, settings, lambda: self.settings(), self.tell, every_s=0.01)

    def tell(self, line: str, level: str) -> None:
        assert (level == "error") == ("is not used" in line)
        self.lines.append(line)

    def becomes(self, settings: Callable[[], Settings]) -> str:
        self.settings = settings
        self._edits += 1
        before = len(self.lines)
        os.utime(self.file, (self._edits, self._edits))
        until(lambda: len(self.lines) > before)
        return self.lines[-1].removeprefix(f"{self.file} was changed")


def test_a_file_that_changes_is_applied_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "odradek.toml"
    file.touch()

    def settings(**changed: object) -> Settings:
        given = {"topics": {"t": TopicSettings()}, "files": [file], "options": {"port": 1}}
        return Settings(**{**given, **changed})  # type: ignore[arg-type]

    def wrong() -> Settings:
        raise SettingsError(f"{file}: port has to be a number")

    with Emulator(topics={"t": 1}) as kafka:
        watched = Watched(kafka, file, settings())
        try:
            configs = {"log.retention.ms": "5", "log.retention.hours": "1"}
            assert watched.becomes(lambda: settings(configs=configs)) == (
                ": log.retention.hours will count from the next start on, set log.retention.ms=5"
            )
            assert watched.becomes(wrong) == ", and is not used: port has to be a number"
            bad = {"t": TopicSettings(configs={"nope": "1"})}
            assert watched.becomes(lambda: settings(topics=bad)) == (
                ", and is not used: topics: t: Unknown topic config name: nope"
            )
            more = {"t": TopicSettings(2)}
            assert watched.becomes(lambda: settings(topics=more, options={"port": 2})) == (
                ": log.retention.hours will count from the next start on, "
                "log.retention.ms is what it was at the start, topic t has 2 partitions now, "
                "port will count from the next start on"
            )
            assert watched.becomes(lambda: settings(topics=more, options={"port": 2})) == (
                ": nothing is to be done"
            )
            assert kafka.run(lambda cluster: cluster.config.get("log.retention.ms")) is None
        finally:
            watched.watch.close()


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_file_that_is_gone_or_half_written_changes_nothing(tmp_path: Path, is_gone: bool) -> None:
    file = tmp_path / "odradek.toml"
    file.touch()

    def wrong() -> Settings:
        raise SettingsError(f"{file}: No such file or directory")

    with Emulator(topics={"t": 1}) as kafka:
        watched = Watched(kafka, file, Settings(topics={"t": TopicSettings()}, files=[file]))
        try:
            if is_gone:
                watched.settings = wrong
                file.unlink()
                until(lambda: bool(watched.lines))
            else:
                watched.becomes(wrong)
            assert watched.lines[-1].endswith("is not used: No such file or directory")
            assert kafka.topics() == ["t"]
        finally:
            watched.watch.close()
