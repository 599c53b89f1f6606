"""Repairing a log directory that nobody has open: `odradek repair`, or `repair(path)`.

Every partition is checked in full (partition_check.py), then:

- Damaged bytes are moved from the segment to `<segment>.damaged`, with their position and offsets
  (damage.py has the format). The log then has a gap in its offsets, which readers skip. Lost
  offsets without any bytes are recorded there too, so that they are not reported again.
- The log is opened and closed as after a kill: indexes, transaction indexes, snapshots and leader
  epochs are rebuilt from the batches.
- A malformed checkpoint is kept as `<name>.malformed`. What only the next start can mend
  (`partition.metadata`), and what a program should not decide (unknown directories), is reported.

Nothing readable is lost, and nothing at all is deleted. With `dry_run` nothing is changed. The
damaged bytes are written first and the segment is replaced whole, so a repair that is killed can be
repeated.
Left out: topics that the metadata log has lost (the emulator's repair brings them back).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from ...wire.errors import Refused
from ..checkpoints import (
    CLEAN_SHUTDOWN,
    CLEANED_OFFSETS,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    CheckpointError,
    read_meta_properties,
    read_offsets,
    read_partition_metadata,
)
from ..config import LogConfig
from ..damage import Damage, damaged_piece, read_damaged_file, repaired_gaps
from ..disk.directory import Directory, Locked
from ..log import Log
from ..log_directory import MALFORMED, LogDirectoryError
from ..naming import DAMAGED, SNAPSHOT, STRAY, renamed_suffix
from ..naming_detection import naming_in
from ..partition_directory import PartitionDirectory
from ..segment import Segment
from .partition_check import Finding, PartitionCheck

_COPY_BYTES = 1 << 20
_NO_TOPIC = bytes(16)
# How actions begin that a repair does not take: those of a broker, and those by hand.
_NOT_OURS = ("the next start", "to be mended")
_CONFIG = LogConfig()


@dataclass
class Report:
    """What was found, and what was done about it."""

    path: str
    dry_run: bool
    findings: list[Finding] = field(default_factory=list)
    partitions: int = 0
    batches: int = 0

    @property
    def status(self) -> int:
        """0: nothing is wrong any more; 1: something is (found by a dry run, or left)."""
        return int(any(self.dry_run or finding.is_left for finding in self.findings))

    def lines(self) -> list[str]:
        """The report in aligned columns, and a summary at the end."""
        done = "TO BE DONE" if self.dry_run else "DONE"
        header = ("PARTITION", "FILE", "BYTE", "OFFSETS", "WHAT IS WRONG", done)
        rows = [header, *map(self._row, self.findings)] if self.findings else []
        widths = [max(len(row[column]) for row in rows) for column in range(6)] if rows else []
        lines = [
            "  ".join(t.ljust(w) for t, w in zip(r, widths, strict=True)).rstrip() for r in rows
        ]
        counts = (
            _counted(self.partitions, "partition", "partitions"),
            _counted(self.batches, "batch", "batches"),
            _counted(len(self.findings), "finding", "findings"),
        )
        return [*lines, f"{self.path}: {', '.join(counts)}"]

    def _row(self, finding: Finding) -> tuple[str, ...]:
        place = "" if finding.position is None else str(finding.position)
        action = finding.action
        if self.dry_run and not action.startswith(_NOT_OURS):
            action = f"would be {action}"
        return (
            *(finding.partition or "-", finding.file or "-", place or "-"),
            *(finding.offsets.removeprefix("offsets ").removeprefix("offset ") or "-",),
            *(finding.problem, action),
        )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"


def repair(
    path: str | Path | Directory,
    *,
    dry_run: bool = False,
    topics: Collection[str] | None = None,
    config: LogConfig = _CONFIG,
    now_ms: int = 0,
) -> Report:
    """Check and repair a log directory, or only some topics' partitions in it.

    `config`: its `index.interval.bytes` is that of the indexes that are rebuilt. `now_ms`: the
    time, for what is dated by it. Raises LogDirectoryError if there is no such directory or
    somebody has it open, OSError.
    """
    directory = path if isinstance(path, Directory) else Directory(path)
    if not directory.exists():
        raise LogDirectoryError(f"{directory.path} is not there")
    was_locked_before = directory.exists(LOCK)
    try:
        lock = directory.lock(LOCK)
    except Locked:
        raise LogDirectoryError(f"{directory.path} is in use by another broker") from None
    except OSError as error:
        raise LogDirectoryError(f"{directory.path} cannot be opened: {error}") from error
    try:
        return _Repair(directory, dry_run, config, now_ms).run(topics)
    finally:
        lock.release(remove=not was_locked_before)


class _Repair:
    def __init__(self, directory: Directory, dry_run: bool, config: LogConfig, now_ms: int) -> None:
        self.config = config
        self.directory = directory
        self.report = Report(directory.path, dry_run)
        self.now_ms = now_ms
        self.naming = naming_in(directory)
        self.is_clean = directory.exists(CLEAN_SHUTDOWN)

    def run(self, topics: Collection[str] | None) -> Report:
        if topics is None:
            self._check_properties()
        ends = self._checkpoint(RECOVERY_POINTS)
        starts = self._checkpoint(LOG_STARTS)
        self._checkpoint(HIGH_WATERMARKS)
        cleaned = self._checkpoint(CLEANED_OFFSETS)
        for name in self.directory.directories():
            key = self.naming.parse_directory(name)
            if renamed_suffix(name) is not None or key is None:
                if topics is None:
                    self._report_directory(name)
            elif topics is None or key[0] in topics:
                offsets = ends.get(key, 0), starts.get(key, 0), cleaned.get(key, 0)
                self._partition(*key, *offsets)
        return self.report

    def _partition(self, topic: str, partition: int, end: int, start: int, cleaned: int) -> None:
        home = PartitionDirectory(self.directory, topic, partition, self.naming)
        names = home.files.files()
        gaps = repaired_gaps(home.files, list(names))
        if self.is_clean:
            parsed = map(self.naming.parse_file, names)
            snapshots = [found[0] for found in parsed if found and found[1] == SNAPSHOT]
            end = max([end, *snapshots])
        check = PartitionCheck(home, end, gaps, clean=self.is_clean, cleaned_to=cleaned)
        check.run()
        self.report.partitions += 1
        self.report.batches += check.batches
        self.report.findings += check.findings
        if self.report.dry_run or not check.findings:
            return
        for segment in dict.fromkeys(segment for segment, _ in check.damages):
            self._set_damage_aside(
                home, segment, [one for each, one in check.damages if each is segment]
            )
        for name in check.bad_snapshots:
            home.files.rename(name, name + MALFORMED)
        self._rebuild(topic, partition, start, cleaned)

    def _set_damage_aside(
        self, home: PartitionDirectory, segment: Segment, damages: list[Damage]
    ) -> None:
        """Move the damaged bytes of a segment to its `.damaged` file."""
        source = home.files.file(segment.name)
        aside = segment.name + DAMAGED
        pieces = [damaged_piece(one, bytes(source.read(one.position, one.size))) for one in damages]
        kept = home.files.read_bytes(aside) if home.files.exists(aside) else b""
        list(read_damaged_file(kept))
        home.files.write_atomic(aside, kept + b"".join(one for one in pieces if one not in kept))
        if any(one.size for one in damages):
            self._copy_without(home.files, segment, damages)
        source.close()

    def _copy_without(self, files: Directory, segment: Segment, damages: list[Damage]) -> None:
        source, beside = files.file(segment.name), segment.name + ".repaired"
        target, at = files.file(beside), 0
        target.create()
        position = 0
        for damage in [*damages, None]:
            end = segment.size if damage is None else damage.position
            while position < end:
                data = source.read(position, min(_COPY_BYTES, end - position))
                target.write(data, at)
                position, at = position + len(data), at + len(data)
            position = end if damage is None else damage.end
        target.sync()
        modified = files.modified_ms(segment.name)
        source.close()
        target.close()
        files.rename(beside, segment.name)
        files.set_modified_ms(segment.name, modified)

    def _rebuild(self, topic: str, partition: int, start: int, cleaned: int) -> None:
        """Open and close the log as after a kill. Its notices repeat what the check has found."""
        home = self.directory.child(self.naming.directory(topic, partition))
        topic_id = _NO_TOPIC
        has_metadata = home.exists(PARTITION_METADATA)
        if has_metadata:
            try:
                topic_id = read_partition_metadata(home.read_bytes(PARTITION_METADATA))
            except CheckpointError:
                home.rename(PARTITION_METADATA, PARTITION_METADATA + MALFORMED)
                has_metadata = False
        try:
            log = Log.open(
                *(self.directory, topic, partition),
                topic_id=topic_id,
                config=self.config,
                now_ms=self.now_ms,
                clean=False,
                log_start_offset=start,
                cleaned_offset=cleaned,
                naming=self.naming,
            )
            log.close()
        except Refused as error:
            raise OSError(str(error)) from error
        if not has_metadata:  # opening has written one, with an unknown topic id
            home.remove(PARTITION_METADATA)

    def _checkpoint(self, name: str) -> dict[tuple[str, int], int]:
        if not self.directory.exists(name):
            return {}
        try:
            return read_offsets(self.directory.read_bytes(name), name)
        except CheckpointError as error:
            kept = name + MALFORMED
            self.report.findings.append(
                Finding(
                    "", name, error.problem, action=f"kept as {kept}; the next start does without"
                )
            )
            if not self.report.dry_run:
                self.directory.rename(name, kept)
            return {}

    def _check_properties(self) -> None:
        problem, action = "missing", "the next start generates a cluster id"
        if self.directory.exists(META_PROPERTIES):
            try:
                read_meta_properties(self.directory.read_bytes(META_PROPERTIES))
                return
            except CheckpointError as error:
                problem, action = str(error), "to be mended by hand"
        finding = Finding("", META_PROPERTIES, problem, action=action, is_left=True)
        self.report.findings.append(finding)

    def _report_directory(self, name: str) -> None:
        suffix = renamed_suffix(name)
        if suffix == STRAY:
            problem, action = "renamed when its topic was unknown", "left alone"
        elif suffix is None:
            problem, action = "not a partition's directory", "left alone"
        else:
            problem, action = "half removed", "the next start removes it"
        is_left = action == "left alone"
        self.report.findings.append(Finding(name, "", problem, action=action, is_left=is_left))
