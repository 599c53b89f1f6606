"""The names of partition directories and of the files in them.

Kafka's: `my_topic-0/00000000000000000042.log`, the number being the first offset that the segment
may hold, in 20 digits; beside it `.index`, `.timeindex` and, once a transaction was aborted,
`.txnindex`, and producer snapshots `<offset>.snapshot`. The documentation's chapter has it as
`my_topic_0/00000000042.kafka`, which is `DOCUMENTED` here. Everything else follows Kafka in both:
the other files in the directory, their suffixes, and what the number means. (In the chapter it is a
byte position, as offsets were in Kafka 0.7; batches of magic 2 have logical offsets, so here it is
the first offset. Offsets of more than 11 digits make longer names.)

A directory's name is parsed from its end: after the last separator come the digits of the partition
and nothing else, so `a_1_0` is partition 0 of `a_1`, and `a_1` is partition 1 of `a`. No two
partitions have the same name; but a directory cannot be read with both namings (log_directory.py).

A suffix after a file's name says what the next start does with it: `.deleted` and `.cleaned` files
are removed, `.swap` files get the name without the suffix, `.damaged` files, which a repair has set
aside, stay. A directory that is being deleted is called `<directory>.<32 hex digits>-delete`, one
of an unknown topic `...-stray`, one that Kafka copies from another disk `...-future`.

Source: the documentation's chapter "Log"; directories of Kafka 4.3.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"

DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
DAMAGED = ".damaged"

DELETE = "-delete"
STRAY = "-stray"
FUTURE = "-future"

CLUSTER_METADATA = "__cluster_metadata"
"""The topic that holds the cluster's metadata: in no checkpoint, and always checked."""

_NAME_MAX = 255
_RENAMED = re.compile(r".+\.[0-9a-f]{32}(-delete|-stray)")
_FUTURE = re.compile(r".+\.[0-9a-f]{32}-future")


@dataclass(frozen=True)
class Naming:
    """One way to name directories and files. Pure text: nothing is looked up on disk."""

    separator: str
    """Between topic and partition."""
    digits: int
    """Of an offset in a file's name; larger offsets take as many as they need."""
    log_suffix: str

    def directory(self, topic: str, partition: int) -> str:
        return f"{topic}{self.separator}{partition}"

    def parse_directory(self, name: str) -> tuple[str, int] | None:
        """Topic and partition of a directory's name, or None for another name."""
        topic, separator, partition = name.rpartition(self.separator)
        if not (topic and separator and partition.isascii() and partition.isdigit()):
            return None
        return (topic, int(partition)) if str(int(partition)) == partition else None

    def renamed_directory(self, topic: str, partition: int, unique: bytes, suffix: str) -> str:
        """The new name of a removed directory; `unique`: 16 bytes, `suffix`: DELETE or STRAY.

        Long topic names are shortened so that file systems accept the name.
        """
        tail = f"{self.separator}{partition}.{unique.hex()}{suffix}"
        return topic[: _NAME_MAX - len(tail)] + tail

    def file(self, offset: int, suffix: str) -> str:
        """The name of a segment's file, or of a snapshot."""
        return f"{offset:0{self.digits}d}{suffix}"

    def log(self, base_offset: int) -> str:
        """The name of the file that holds a segment's batches."""
        return self.file(base_offset, self.log_suffix)

    def parse_file(self, name: str) -> tuple[int, str] | None:
        """Offset and suffixes of a file's name, or None for another name."""
        digits, dot, suffix = name.partition(".")
        if len(digits) < self.digits or not (digits.isascii() and digits.isdigit() and dot):
            return None
        return int(digits), dot + suffix


KAFKA = Naming(separator="-", digits=20, log_suffix=".log")
DOCUMENTED = Naming(separator="_", digits=11, log_suffix=".kafka")
NAMINGS = {"kafka": KAFKA, "documented": DOCUMENTED}
"""The namings by the names that options use."""


def naming_of(text: str) -> Naming:
    """A naming by its name. Raises ValueError, which lists the choices."""
    if text not in NAMINGS:
        raise ValueError(f"there is no naming {text!r}, but {' and '.join(NAMINGS)}")
    return NAMINGS[text]


def name_of(naming: Naming) -> str:
    return next(name for name, each in NAMINGS.items() if each == naming)


def renamed_suffix(name: str) -> str | None:
    """DELETE or STRAY if a directory was renamed like this, else None."""
    match = _RENAMED.fullmatch(name)
    return match[1] if match else None


def is_future(name: str) -> bool:
    """Whether a directory is a replica that was being copied here from another disk."""
    return _FUTURE.fullmatch(name) is not None
