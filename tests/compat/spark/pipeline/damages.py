"""Kinds of damage of a data directory (audited.py): what is done for one, and what an audit finds.

`DAMAGE` has those of files, damaged_batches.py those of batches and records.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from odradek.compat.spark.pipeline.audit.findings import Finding
from odradek.storage.checkpoints import CLEAN_SHUTDOWN

from tests.storage.support.known_log import END, SIZE
from tests.storage.support.logs import cut, flip

T, TX, META = "t-0", "tx-0", "__cluster_metadata-0"
CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
)


def log(path: Path, base: int, suffix: str = ".log", partition: str = T) -> Path:
    return path / partition / f"{base:020d}{suffix}"


def of(path: Path, base: int) -> list[Path]:
    return list((path / T).glob(f"{base:020d}.*"))


def remove(*paths: Path) -> None:
    for path in paths:
        path.unlink()


def killed(path: Path) -> None:
    (path / CLEAN_SHUTDOWN).unlink()


def newest(path: Path, suffix: str, partition: str = T) -> Path:
    return sorted((path / partition).glob(f"*{suffix}"))[-1]


class Expected(NamedTuple):
    partition: str
    file: str
    what: str
    byte: int | None = None
    offset: int | None = None
    next_offset: int | None = None
    is_damage: bool = True


def in_log(
    base: int,
    what: str,
    byte: int | None = None,
    offset: int | None = None,
    next_offset: int | None = None,
    partition: str = T,
) -> Expected:
    return Expected(partition, f"{base:020d}.log", what, byte, offset, next_offset)


def torn(path: Path) -> None:
    cut(log(path, 10), 30)


TORN = in_log(10, "the batch at byte 400 is cut short (170 bytes)", 400, 12, 13)
FLIPPED = in_log(10, "the batch at byte 200 has a wrong checksum (200 bytes)", 200, 11, 12)
OLDER_FLIPPED = in_log(0, "the batch at byte 200 has a wrong checksum (200 bytes)", 200, 1, 2)


def wrong_entry(path: Path) -> None:
    flip(log(path, 0, ".index"), 7)


def garbage_times(path: Path) -> None:
    log(path, 5, ".timeindex").write_bytes(struct.pack(">qi", 99_999, 3) * 4)


def empty_indexes(path: Path, base: int) -> None:
    for suffix in (".index", ".timeindex"):
        log(path, base, suffix).write_bytes(b"")


def as_swap(path: Path) -> None:
    for each in of(path, 5):
        if each.suffix != ".snapshot":
            each.rename(each.with_name(each.name + ".swap"))


def another_topic_id(path: Path) -> None:
    (path / T / "partition.metadata").write_text("version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw")


def raise_log_start(path: Path) -> None:
    """As DeleteRecords up to 7 leaves it, with the checkpoint gone."""
    (path / T / "leader-epoch-checkpoint").write_text("0\n3\n1 7\n2 8\n3 12\n")


def ahead_of_log(path: Path) -> None:
    killed(path)
    (path / CHECKPOINTS[0]).write_text("0\n1\nt 0 99\n")


def metadata_epoch(path: Path) -> None:
    """The leader epoch of the second batch, which no checksum covers."""
    file = log(path, 0, partition=META)
    data = bytearray(file.read_bytes())
    second = 12 + struct.unpack_from(">i", data, 8)[0]
    data[second + 13] = 0xFF
    file.write_bytes(data)


def metadata_bit(path: Path) -> None:
    flip(log(path, 0, partition=META), 90)


def left_over(path: Path) -> None:
    for suffix in ("-delete", "-stray", "-future"):
        shutil.copytree(path / T, path / f"{T}.{'0f' * 16}{suffix}")
    for suffix in ("-delete", "-stray"):
        shutil.copytree(path / T, path / f"{T}.{'1f' * 16}{suffix}" / T)


def left(name: str, what: str) -> Expected:
    return Expected("", f"{T}.{name}", what, is_damage=False)


# The kinds of damage, what is done for one, and what must be told of it.
Damage = tuple[str, Callable[[Path], object], list[Expected]]
DAMAGE: list[Damage] = [
    ("last segment torn, killed", lambda p: [torn(p), killed(p)], [TORN]),
    ("last segment torn, clean", torn, [TORN]),
    ("bit flip, last segment, killed", lambda p: [flip(log(p, 10), 290), killed(p)], [FLIPPED]),
    ("bit flip, last segment, clean", lambda p: flip(log(p, 10), 290), [FLIPPED]),
    ("bit flip, older, killed", lambda p: [flip(log(p, 0), 290), killed(p)], [OLDER_FLIPPED]),
    (
        "bit flip, older, no recovery point",
        lambda p: [flip(log(p, 0), 290), killed(p), remove(p / CHECKPOINTS[0])],
        [OLDER_FLIPPED, Expected("", CHECKPOINTS[0], "missing", is_damage=False)],
    ),
    ("bit flip, older, clean", lambda p: flip(log(p, 0), 290), [OLDER_FLIPPED]),
    (
        "older segment torn",
        lambda p: cut(log(p, 0), 250),
        [in_log(0, "the batch at byte 600 is cut short (150 bytes)", 600, 3, 5)],
    ),
    (
        "older segment torn between batches",
        lambda p: cut(log(p, 0), 2 * SIZE),
        [in_log(0, "offsets are missing before the next segment", 600, 3, 5)],
    ),
    (
        "zeros after the last batch, killed",
        lambda p: [log(p, 10).open("ab").write(bytes(500)), killed(p)],
        [in_log(10, "no batch at byte 600 (500 bytes)", 600, 13, 13)],
    ),
    (
        "zeros after the last batch, clean",
        lambda p: log(p, 10).open("ab").write(bytes(500)),
        [in_log(10, "no batch at byte 600 (500 bytes)", 600, 13, 13)],
    ),
    (
        ".log missing",
        lambda p: remove(log(p, 5)),
        [
            in_log(0, "offsets are missing before the next segment", 1000, 5, 10),
            Expected(T, f"{5:020d}.index", "its segment is missing"),
            Expected(T, f"{5:020d}.timeindex", "its segment is missing"),
        ],
    ),
    (
        "middle segment missing",
        lambda p: remove(*of(p, 5)),
        [in_log(0, "offsets are missing before the next segment", 1000, 5, 10)],
    ),
    (
        "newest segment missing",
        lambda p: remove(*of(p, 10)),
        [Expected(T, "", "the log ends before its recovery point, 13", None, 10, 13)],
    ),
    (
        "all segments missing",
        lambda p: remove(*[one for base in (0, 5, 10) for one in of(p, base)]),
        [Expected(T, "", "no segment is left", None, 0, 13)],
    ),
    (
        "both indexes missing",
        lambda p: remove(log(p, 10, ".index"), log(p, 10, ".timeindex")),
        [
            Expected(T, f"{10:020d}.index", "missing"),
            Expected(T, f"{10:020d}.timeindex", "missing"),
        ],
    ),
    (
        ".timeindex missing",
        lambda p: remove(log(p, 0, ".timeindex")),
        [Expected(T, f"{0:020d}.timeindex", "missing")],
    ),
    (
        "a wrong entry in .index",
        wrong_entry,
        [
            Expected(
                *(T, f"{0:020d}.index", "a wrong entry: no batch begins at byte 401 of the log", 0)
            )
        ],
    ),
    (
        "an index of odd size",
        lambda p: log(p, 5, ".index").open("ab").write(b"abc"),
        [Expected(T, f"{5:020d}.index", "its size, 19 bytes, is no multiple of 8", 16)],
    ),
    (
        "garbage in .timeindex",
        garbage_times,
        [
            Expected(
                *(T, f"{5:020d}.timeindex"),
                *("a wrong entry: 99999 is not the latest time up to offset 8", 0),
            )
        ],
    ),
    (
        "indexes of length 0, older segment",
        lambda p: empty_indexes(p, 0),
        [
            Expected(
                *(T, f"{0:020d}.timeindex", "a wrong entry: it ends before the latest time, 40", 0)
            )
        ],
    ),
    (
        "indexes of length 0, newest segment",
        lambda p: empty_indexes(p, 10),
        [
            Expected(
                *(T, f"{10:020d}.timeindex", "a wrong entry: it ends before the latest time, "),
                0,
            )
        ],
    ),
    (
        ".index alone of length 0",
        lambda p: log(p, 5, ".index").write_bytes(b""),
        [Expected(T, f"{5:020d}.index", "it is empty, the time index is not", 0)],
    ),
    (
        "files left over",
        lambda p: [log(p, 3, ".log.deleted").touch(), log(p, 3, ".log.cleaned").touch()],
        [
            Expected(
                *(T, f"{3:020d}.log.cleaned"),
                "left over, as 1 more: the next start removes them",
                is_damage=False,
            )
        ],
    ),
    (
        "directories left over",
        left_over,
        [
            left("0f" * 16 + "-delete", "a deleted partition: the next start removes it"),
            left("0f" * 16 + "-stray", "a partition whose topic was unknown at a start"),
            left("0f" * 16 + "-future", "a replica that was being copied from another disk"),
            left("1f" * 16 + "-delete", "what an interrupted load has staged: the next start"),
            left("1f" * 16 + "-stray", "what a sink's interrupted commit has staged"),
        ],
    ),
    (
        "a segment only as .swap",
        as_swap,
        [
            Expected(
                *(T, f"{5:020d}.log.swap"),
                "a segment that has only this name: the next start gives it its own",
            )
        ],
    ),
    (
        "partition.metadata missing",
        lambda p: remove(p / T / "partition.metadata"),
        [Expected(T, "partition.metadata", "missing")],
    ),
    (
        "partition.metadata of another topic",
        another_topic_id,
        [Expected("", f"{T}/partition.metadata", "of another topic: id AAECAwQFBgcICQoLDA0ODw,")],
    ),
    (
        "partition.metadata malformed",
        lambda p: (p / T / "partition.metadata").write_text("version: 0\nx"),
        [Expected(T, "partition.metadata", "malformed: line 2:")],
    ),
    (
        "all checkpoints missing",
        lambda p: [remove(p / name) for name in CHECKPOINTS],
        [Expected("", name, "missing", is_damage=False) for name in CHECKPOINTS],
    ),
    (
        "all checkpoints missing, killed",
        lambda p: [*(remove(p / name) for name in CHECKPOINTS), killed(p)],
        [Expected("", name, "missing", is_damage=False) for name in CHECKPOINTS],
    ),
    (
        "checkpoints of 0 bytes",
        lambda p: [(p / name).write_bytes(b"") for name in CHECKPOINTS],
        [],
    ),
    (
        "the log start lost",
        raise_log_start,
        [
            Expected(
                *(T, "", "the log start, 7, is in no checkpoint: deleted records would return"),
                *(None, 4, 7),
            )
        ],
    ),
    (
        "leader epochs missing",
        lambda p: remove(p / T / "leader-epoch-checkpoint"),
        [Expected(T, "leader-epoch-checkpoint", "missing")],
    ),
    (
        "leader epochs begin anew",
        lambda p: (p / T / "leader-epoch-checkpoint").write_text("0\n1\n4 13\n"),
        [Expected(T, "leader-epoch-checkpoint", "leader epoch 0 is not in it", None, 0)],
    ),
    (
        "leader epochs malformed",
        lambda p: (p / T / "leader-epoch-checkpoint").write_text("0\n1\nx y\n"),
        [Expected(T, "leader-epoch-checkpoint", "malformed: line 3:")],
    ),
    *(
        (
            f"{name} malformed",
            lambda p, name=name: (p / name).write_text("0\n1\nt zero\n"),
            [Expected("", name, "malformed: line 3:")],
        )
        for name in (*CHECKPOINTS, "cleaner-offset-checkpoint")
    ),
    (
        "recovery point beyond the log end",
        ahead_of_log,
        [Expected(T, "", "the log ends before its recovery point, 99", None, 13, 99)],
    ),
    (
        "snapshots missing, clean",
        lambda p: remove(*(p / T).glob("*.snapshot")),
        [Expected(T, "", "the snapshots of its producers are missing")],
    ),
    (
        "snapshots missing, killed",
        lambda p: [remove(*(p / T).glob("*.snapshot")), killed(p)],
        [Expected(T, "", "the snapshots of its producers are missing")],
    ),
    (
        "newest snapshot damaged",
        lambda p: flip(newest(p, ".snapshot"), 20),
        [Expected(T, f"{END:020d}.snapshot", "producer snapshot with a wrong checksum", 0)],
    ),
    (
        "an older snapshot in the place of the newest",
        lambda p: shutil.copy(log(p, 5, ".snapshot"), log(p, END, ".snapshot")),
        [Expected(T, f"{END:020d}.snapshot", "producer 7: epoch, sequence and offset are (0, 2")],
    ),
    (
        ".txnindex missing",
        lambda p: remove(*(p / TX).glob("*.txnindex")),
        [
            Expected(
                *(TX, f"{0:020d}.txnindex", "missing: the log has an aborted transaction", None, 5)
            )
        ],
    ),
    (
        ".txnindex, indexes and snapshots missing, killed",
        lambda p: [
            *(remove(*(p / TX).glob(f"*{end}")) for end in ("index", "snapshot")),
            killed(p),
        ],
        [
            Expected(TX, f"{0:020d}.txnindex", "missing", None, 5),
            Expected(TX, f"{0:020d}.index", "missing"),
            Expected(TX, f"{0:020d}.timeindex", "missing"),
            Expected(TX, "", "the snapshots of its producers are missing"),
        ],
    ),
    (
        ".txnindex with a wrong byte",
        lambda p: flip(log(p, 0, ".txnindex", TX), 9),
        [Expected(TX, f"{0:020d}.txnindex", "has a wrong entry of the aborted", 0, 5)],
    ),
    (
        "marker empty",
        lambda p: (p / CLEAN_SHUTDOWN).write_bytes(b""),
        [Expected("", CLEAN_SHUTDOWN, "it has no broker epoch", is_damage=False)],
    ),
    (
        "partition missing",
        lambda p: shutil.rmtree(p / T),
        [Expected("", T, "the partition is missing", None, 0, END)],
    ),
    (
        "directory of an unknown topic",
        lambda p: shutil.copytree(p / T, p / "unknown-0"),
        [Expected("", "unknown-0", "of a topic that the metadata log does not know")],
    ),
    (
        "plain files and a directory inside a partition",
        lambda p: [(p / "a").touch(), (p / T / "b").touch(), (p / T / "c").mkdir()],
        [
            Expected("", "a", "a file that no broker knows", is_damage=False),
            Expected(T, "b", "a file that no broker knows", is_damage=False),
            Expected(T, "c", "a directory that no broker knows", is_damage=False),
        ],
    ),
    (
        "directory of no partition",
        lambda p: (p / "lost+found").mkdir(),
        [Expected("", "lost+found", "no partition's directory: Kafka does not start with it")],
    ),
    (
        "metadata log torn",
        lambda p: cut(log(p, 0, partition=META), 5),
        [in_log(0, "the batch at byte", partition=META)],
    ),
    (
        "metadata log, bit flip",
        metadata_bit,
        [in_log(0, "the batch at byte 0 has a wrong checksum", 0, 0, partition=META)],
    ),
    (
        "metadata log, bit flip in a leader epoch",
        metadata_epoch,
        [in_log(0, "leader epoch 16711681 is out of order", partition=META)],
    ),
    (
        "metadata log torn, killed",
        lambda p: [cut(log(p, 0, partition=META), 5), killed(p)],
        [in_log(0, "the batch at byte", partition=META)],
    ),
    (
        "bootstrap.checkpoint missing",
        lambda p: (p / "bootstrap.checkpoint").unlink(missing_ok=True),
        [],
    ),
    (
        "quorum-state missing",
        lambda p: remove(p / META / "quorum-state"),
        [Expected("", f"{META}/quorum-state", "missing: the next start", is_damage=False)],
    ),
    (
        "quorum-state malformed",
        lambda p: (p / META / "quorum-state").write_text("{"),
        [Expected("", f"{META}/quorum-state", "malformed:")],
    ),
    (
        "meta.properties missing",
        lambda p: remove(p / "meta.properties"),
        [Expected("", "meta.properties", "missing")],
    ),
    (
        "meta.properties malformed",
        lambda p: (p / "meta.properties").write_text("version=2\n"),
        [Expected("", "meta.properties", "malformed:")],
    ),
]


def matches(found: Finding, expected: Expected) -> bool:
    """Whether this is the finding; what the expectation leaves open may be anything."""
    numbers = zip(found[3:6], expected[3:6], strict=True)
    return (
        (found.partition, found.file, found.is_damage)
        == (expected.partition, expected.file, expected.is_damage)
        and found.what.startswith(expected.what)
        and all(wanted is None or wanted == number for number, wanted in numbers)
    )
