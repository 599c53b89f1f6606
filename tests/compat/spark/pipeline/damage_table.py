"""`python -m tests.compat.spark.pipeline.damage_table [--real] [WORD ...]`: damages as a table.

Of each damage whose name has one of the words, or whose number is one (of all): whether an audit
finds it, what a repair does, how many records are lost then and how many of them are damaged, and
with `--real` what a real Kafka does at a start on the same directory, and how many records a client
does not get from it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition
from odradek.compat.cli.repair import repaired
from odradek.compat.real_kafka import RealKafka

from tests.compat.spark.pipeline.audited import audit
from tests.compat.spark.pipeline.damaged_batches import (
    DAMAGED_BATCHES,
    PARTITIONS,
    build_more,
    content,
    lost_in,
)
from tests.compat.spark.pipeline.damages import DAMAGE, Expected

Contents = Mapping[str, Mapping[int, bytes | None]]
CONFIG = {"log.retention.ms": "-1", "offsets.topic.num.partitions": "1"}
_STUCK_S = 4.0


def row(
    built: Path,
    before: Contents,
    damage: Callable[[Path], object],
    expected: list[Expected],
    *,
    real: bool,
) -> list[str]:
    """What is found, done and lost."""
    with tempfile.TemporaryDirectory() as work:
        data = Path(shutil.copytree(built, Path(work, "data")))
        damage(data)
        theirs = Path(shutil.copytree(data, Path(work, "theirs")))
        found = audit(data)
        is_damage = any(each.is_damage for each in expected)
        audited = "damage" if found.damages else ("remark" if expected else "-")
        report = repaired(str(data), False, None)
        actions = dict.fromkeys(each.action.split(":")[0] for each in report.findings)
        left = [each for each in audit(data).findings if each.is_damage]
        state = "clean" if not left else "said" if report.status else "LEFT"
        lost = sum(
            len(set(before[name]) - set(content(data, name) if (data / name).exists() else ()))
            for name in PARTITIONS
        )
        damaged = sum(len(lost_in(name, expected) & set(before[name])) for name in PARTITIONS)
        columns = [audited if is_damage == bool(found.damages) else "WRONG"]
        columns += ["; ".join(actions) or "-", state, str(lost), str(damaged)]
        return [*columns, *(_real(theirs, before) if real else [])]


def _real(data: Path, before: Contents) -> list[str]:
    try:
        with RealKafka(data_dir=data, config=CONFIG) as kafka:
            lost, more, stuck = 0, 0, []
            for name in PARTITIONS:
                got, error = _consumed(kafka.bootstrap_servers, name)
                lost += len(set(before[name]) - got)
                more += len(got - set(before[name]))
                stuck += [f"{name}: {error}"] if error else []
    except RuntimeError:
        return ["does not start", "-"]
    return [
        f"starts{f', {more} more' if more else ''}{'; ' * bool(stuck)}{' '.join(stuck)}",
        str(lost),
    ]


def _consumed(address: str, partition: str) -> tuple[set[int], str]:
    """The offsets that a read_committed client gets from the beginning, and why it stops."""
    topic, number = partition.rsplit("-", 1)
    options = {"group.id": "table", "enable.partition.eof": True, "auto.offset.reset": "earliest"}
    options |= {"bootstrap.servers": address, "check.crcs": True, "enable.auto.commit": False}
    consumer = Consumer(options)
    consumer.assign([TopicPartition(topic, int(number), 0)])
    got: set[int] = set()
    try:
        while (message := consumer.poll(_STUCK_S)) is not None:
            error = message.error()
            if error is None:
                got.add(message.offset() or 0)
            elif error.code() == KafkaError._PARTITION_EOF:
                return got, ""
            else:
                return got, error.name()
        return got, "no end"
    finally:
        consumer.close()


def main(arguments: Sequence[str]) -> None:
    real = "--real" in arguments
    words = [each for each in arguments if each != "--real"]
    kinds = [*DAMAGED_BATCHES, *DAMAGE]
    header = ["damage", "audit", "repair", "then", "lost", "damaged"]
    print("\t".join([*header, *(["Kafka 4.3.1", "lost"] if real else [])]), flush=True)
    with tempfile.TemporaryDirectory() as work:
        built = build_more(Path(work, "data"))
        before = {name: content(built, name) for name in PARTITIONS}
        for number, (name, damage, expected) in enumerate(kinds, 1):
            is_named = any(each in name for each in words if not each.isdigit())
            if not words or is_named or str(number) in words:
                columns = row(built, before, damage, expected, real=real)
                print("\t".join([name, *columns]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
