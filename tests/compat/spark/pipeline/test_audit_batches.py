"""`audit` on what batches say: sequences, epochs, times, skew; and on any bytes at all."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.spark.pipeline.audit.findings import Finding
from odradek.compat.spark.pipeline.engine import SparkEngine
from odradek.wire.batch import HEADER_SIZE, restamp
from odradek.wire.records import build_batch

from tests.compat.spark.pipeline.audited import NOW, audit, audit_by, build, stored
from tests.storage.support.logs import flip


def batch(
    offset: int,
    *,
    count: int = 2,
    producer: tuple[int, int, int] = (-1, -1, -1),
    time: int = NOW,
    key: bytes | None = None,
    value: bytes = b"v",
    epoch: int = 0,
) -> bytes:
    """`producer`: id, epoch, first sequence."""
    return bytes(
        build_batch(
            [(time, key, value, ())] * count,
            base_offset=offset,
            leader_epoch=epoch,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=producer[2],
        )
    )


def found(path: Path) -> Iterator[tuple[str, str, int | None, int | None, bool]]:
    """What is found in the log files."""
    for each in audit(path).findings:
        if each.file.endswith(".log"):
            yield each.what, each.file, each.byte, each.offset, each.is_damage


SIZE = len(batch(0))


@pytest.mark.parametrize("segments", [1, 2], ids=["in a segment", "across segments"])
@pytest.mark.parametrize(
    ("second", "what", "is_damage"),
    [
        ((7, 0, 2), None, False),
        ((7, 0, 0), "producer 7, epoch 0: sequence 0 to 1 again, 1 was written before", True),
        ((7, 0, 1), "producer 7, epoch 0: sequence 1 to 2 again, 1 was written before", True),
        ((7, 0, 4), "producer 7, epoch 0: sequence 2 to 3 is missing before this batch", False),
        ((7, 1, 0), None, False),
        ((8, 0, 0), None, False),
    ],
)
def test_sequences_continue(
    tmp_path: Path,
    segments: int,
    second: tuple[int, int, int],
    what: str | None,
    is_damage: bool,
) -> None:
    one, two = batch(0, producer=(7, 0, 0)), batch(2, producer=second)
    home = stored(tmp_path, [one, two]) if segments == 1 else stored(tmp_path, [one], [two])
    name, byte = (f"{0:020d}.log", SIZE) if segments == 1 else (f"{2:020d}.log", 0)
    expected = [] if what is None else [(what, name, byte, 2, is_damage)]
    assert list(found(home)) == expected


def test_sequences_begin_anew_after_the_largest(tmp_path: Path) -> None:
    last = (1 << 31) - 1
    home = stored(tmp_path, [batch(0, producer=(7, 0, last - 1)), batch(2, producer=(7, 0, 0))])
    assert list(found(home)) == []


def test_an_epoch_does_not_go_back(tmp_path: Path) -> None:
    home = stored(tmp_path, [batch(0, producer=(7, 1, 0)), batch(2, producer=(7, 0, 5))])
    what = "producer 7, epoch 0: written after a batch or marker of epoch 1"
    assert list(found(home)) == [(what, f"{0:020d}.log", SIZE, 2, True)]


def test_leader_epochs_do_not_go_back(tmp_path: Path) -> None:
    home = stored(tmp_path, [batch(0, epoch=3)], [batch(2, epoch=2)])
    what = "leader epoch 3 is out of order: 2 is expected"
    assert list(found(home)) == [(what, f"{0:020d}.log", 0, 0, True)]


def test_times_that_jump_are_remarked_on(tmp_path: Path) -> None:
    hour = 3_600_000
    home = stored(
        tmp_path,
        [batch(0), batch(2, time=NOW - hour), batch(4, time=NOW - 2 * hour), batch(6, time=-5)],
    )
    assert list(found(home)) == [
        ("times go back by 2 h", f"{0:020d}.log", 2 * SIZE, 4, False),
        ("a time before 1970: -5 ms", f"{0:020d}.log", 3 * SIZE, 6, False),
    ]


def test_times_in_the_future_are_remarked_on(tmp_path: Path) -> None:
    home = stored(tmp_path, [batch(0, time=4_000_000_000_000)])
    [(what, *_)] = found(home)
    assert what.startswith("times are ")
    assert what.endswith(" d later than the file's last change")


def test_records_that_cannot_be_read_although_the_checksum_is_right(tmp_path: Path) -> None:
    wrong = bytearray(batch(2))
    wrong[HEADER_SIZE] = 0x7F  # the first record's length
    restamp(wrong, 0, NOW, False)  # makes the checksum right
    home = stored(tmp_path, [batch(0), bytes(wrong), batch(4)])
    [(what, name, byte, offset, is_damage)] = found(home)
    assert what.startswith("its records cannot be read: ")
    assert (name, byte, offset, is_damage) == (f"{0:020d}.log", SIZE, 2, True)


def test_a_skewed_key_and_a_large_record_are_remarked_on(tmp_path: Path) -> None:
    data = [batch(n * 10, count=10, key=b"k%d" % (n % 100 if n % 2 else 7)) for n in range(200)]
    data.append(batch(2_000, count=1, key=b"z", value=bytes(20_000)))
    remarks = [each[:3] for each in audit(stored(tmp_path, data)).findings if not each.is_damage]
    assert remarks == [
        ("orders", "", "skewed: 51% of the records have the key k7"),
        ("orders-0", f"{0:020d}.log", "a record of 20001 bytes, 1488 times the topic's mean"),
    ]


@pytest.mark.spark
def test_both_engines_find_the_same(tmp_path: Path) -> None:
    data = build(tmp_path / "data")
    flip(data / "t-0" / f"{0:020d}.log", 290)
    engine = SparkEngine({})
    assert audit_by(data, engine.run) == audit(data)


def test_any_bytes_are_reported_and_never_crash(tmp_path: Path) -> None:
    built = build(tmp_path / "built")
    for seed in range(60):
        chance = random.Random(seed)
        data = Path(shutil.copytree(built, tmp_path / f"{seed}"))
        files = [path for path in sorted(data.rglob("*")) if path.is_file()]
        for path in chance.sample(files, 4):
            content = bytearray(path.read_bytes())
            for _ in range(chance.randrange(1, 5)):
                at = chance.randrange(len(content) + 1)
                content[at : at + chance.randrange(20)] = chance.randbytes(chance.randrange(20))
            path.write_bytes(content)
        findings = audit(data).findings
        assert findings, seed
        assert all(isinstance(each, Finding) for each in findings)
        shutil.rmtree(data)


def test_topics_of_a_broker(capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator(topics={"orders": 2}) as kafka:
        producer = confluent_kafka.Producer(kafka.client_config("confluent"))
        for number in range(100):
            producer.produce("orders", b"%d" % number, partition=number % 2)
        assert producer.flush(30) == 0
        open_one = confluent_kafka.Producer(
            {**kafka.client_config("confluent"), "transactional.id": "t"}
        )
        open_one.init_transactions()
        open_one.begin_transaction()
        open_one.produce("orders", b"open", partition=0)
        assert open_one.flush(30) == 0
        assert main(["audit", f"{kafka.bootstrap_servers}/orders"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert "an unfinished transaction of producer" in lines[1]
        assert lines[1].split()[:5] == ["remark", "orders-0", "-", "-", "50"]
        assert "1 topic, 2 partitions, " in lines[2]
        assert "101 records" in lines[2]
