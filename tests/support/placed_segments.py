"""Data directories whose segments somebody else wrote: the topics are ours, the `.log` files not.

A broker that finds them has nothing else to go by: no indexes, checkpoints or snapshots, and no
mark of a clean stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from odradek import Emulator
from odradek.wire import id_text

UNCLEANED = {"log.cleaner.enable": "false"}
RELEASES = {"3.9.2": "3.9", "4.3.1": "4.3"}
"""A version of Kafka, and the release of ours that is like it."""

Segments = Mapping[int, bytes]


def create_topics(path: Path, version: str, topics: Mapping[str, Mapping[str, str]]) -> None:
    """Make a directory that knows of these topics, with their configs, of one partition each."""
    with Emulator(UNCLEANED, data_dir=path, version=RELEASES[version]) as emulator:
        for name, configs in topics.items():
            emulator.create_topic(name, 1, dict(configs))
            topic_id = emulator.run(lambda cluster, name=name: cluster.topic(name).id)  # type: ignore[misc]
            home = path / f"{name}-0"
            home.mkdir(exist_ok=True)
            text = f"version: 0\ntopic_id: {id_text(topic_id)}"
            (home / "partition.metadata").write_text(text)
    forget(path)


def place(path: Path, topic: str, segments: Segments) -> None:
    """Put segments into a topic's partition."""
    for base, data in segments.items():
        (path / f"{topic}-0" / f"{base:020d}.log").write_bytes(data)


def forget(path: Path) -> None:
    """Remove what says that something need not be looked at."""
    for each in path.iterdir():
        if each.name.endswith("-offset-checkpoint") and not each.name.startswith("cleaner"):
            each.unlink()
    (path / ".kafka_cleanshutdown").unlink(missing_ok=True)
