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
from typing import Protocol

from ...wire.batch import read_header
from ...wire.errors import Refused
from ...wire.stored.topics import INTERNAL_TOPICS
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
    format_offsets,
    read_meta_properties,
    read_offsets,
    read_partition_metadata,
)
from ..config import LogConfig
from ..damage import Damage, after_gaps, damaged_piece, read_damaged_file, repaired_gaps
from ..disk.directory import Directory, Locked
from ..log import Log
from ..log_directory import MALFORMED, LogDirectoryError
from ..naming import DAMAGED, SNAPSHOT, STRAY, renamed_suffix
from ..naming_detection import naming_in
from ..partition_directory import PartitionDirectory
from ..recovery.unfinished import REPAIRED
from .arranging import Known, Piece, Plan, Planned, arranged
from .faults import with_epoch, wrong_epoch
from .partition_check import WRITTEN_AGAIN, Facts, Finding, PartitionCheck
from .putting_back import finish_or_forget, replace_files

_COPY_BYTES = 1 << 20
_NO_TOPIC = bytes(16)
# How actions begin that a repair does not take: those of a broker, and those by hand.
_NOT_OURS = ("the next start", "to be mended")
_CONFIG = LogConfig()


class Catalogue(Protocol):
    """The topics by a cluster's metadata."""

    def never_compacted(self, topic: str) -> bool:
        """Whether it is sure that no offset of it is missing because of compaction."""
        ...

    def topic_id(self, topic: str) -> bytes | None:
        """Its id; None if it is not known."""
        ...


@dataclass
class Report:
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
    catalogue: Catalogue | None = None,
) -> Report:
    """Check and repair a log directory, or only some topics' partitions in it.

    `config`: its `index.interval.bytes` is that of the indexes that are rebuilt. `now_ms`: the
    time, for what is dated by it. `catalogue`: what the cluster's metadata says of its topics.
    Raises LogDirectoryError if there is no such directory or somebody has it open, OSError.
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
        return _Repair(directory, dry_run, config, now_ms, catalogue).run(topics)
    finally:
        lock.release(remove=not was_locked_before)


class _Repair:
    def __init__(
        self,
        directory: Directory,
        dry_run: bool,
        config: LogConfig,
        now_ms: int,
        catalogue: Catalogue | None,
    ) -> None:
        self.config = config
        self.directory = directory
        self.report = Report(directory.path, dry_run)
        self.now_ms = now_ms
        self.catalogue = catalogue
        self.ends: dict[tuple[str, int], tuple[int, int, int]] = {}
        """First offset and log end of each partition, and where its leader epochs begin."""
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
        self._check_starts(starts)
        self._check_lost(ends, topics)
        return self.report

    def _check_starts(self, starts: dict[tuple[str, int], int]) -> None:
        """Log starts that the logs contradict: one past the end, for which a real Kafka deletes the
        log, and one that is in the leader epochs only."""
        right = dict(starts)
        for (topic, partition), (first, end, known) in self.ends.items():
            name = self.naming.directory(topic, partition)
            start = starts.get((topic, partition), 0)
            if first < 0:
                continue
            if start > end:
                del right[topic, partition]
                problem = f"log start {start} is past the log's end {end}"
                action = "removed from the checkpoint"
            elif first < known and not start and known <= end:
                right[topic, partition] = known
                problem = f"the log start, {known}, is in no checkpoint: deleted ones would return"
                action = "entered in the checkpoint"
            else:
                continue
            finding = Finding(name, LOG_STARTS, problem, action=action)
            self.report.findings.append(finding)
        if right != starts and not self.report.dry_run:
            self.directory.write_atomic(LOG_STARTS, format_offsets(right))

    def _check_lost(self, ends: dict[tuple[str, int], int], topics: Collection[str] | None) -> None:
        """Partitions that a checkpoint names, and that have no directory."""
        for key, end in sorted(ends.items()):
            name = self.naming.directory(*key)
            if end and (topics is None or key[0] in topics) and not self.directory.exists(name):
                offsets = f"offsets 0 to {end - 1}"
                place = name, "", "the partition is missing", None, offsets
                action = "nothing has its records; the next start makes it empty"
                self.report.findings.append(Finding(*place, action, is_left=True))

    def _partition(self, topic: str, partition: int, end: int, start: int, cleaned: int) -> None:
        home = PartitionDirectory(self.directory, topic, partition, self.naming)
        if not self.report.dry_run:
            finish_or_forget(home.files)
        names = home.files.files()
        gaps = repaired_gaps(home.files, list(names))
        if self.is_clean:
            parsed = map(self.naming.parse_file, names)
            snapshots = [found[0] for found in parsed if found and found[1] == SNAPSHOT]
            end = max([end, *snapshots])
        catalogue = self.catalogue
        facts = Facts(
            *(end, self.is_clean, cleaned, start, topic not in INTERNAL_TOPICS),
            never_compacted=lambda: bool(catalogue and catalogue.never_compacted(topic)),
            knows_id=bool(catalogue and catalogue.topic_id(topic)),
        )
        check = PartitionCheck(home, gaps, facts)
        check.run()
        plan, found = self._planned(home, check, facts)
        if plan is not None:
            batches = check.batches
            check = PartitionCheck(home, gaps, facts, plan.segments, plan.bases)
            check.run()
            check.batches = batches
        self.report.partitions += 1
        self.report.batches += check.batches
        self.report.findings += [*found, *check.findings]
        known = check.log_start
        self.ends[topic, partition] = check.first, after_gaps(gaps, check.end), known
        if self.report.dry_run or all(each.is_left for each in (*found, *check.findings)):
            return
        self._write(home, check, plan)
        for name in dict.fromkeys(check.bad_files):
            if home.files.exists(name):
                home.files.rename(name, name + MALFORMED)
        self._rebuild(topic, partition, start if start <= check.end else 0, cleaned)

    def _planned(
        self, home: PartitionDirectory, check: PartitionCheck, facts: Facts
    ) -> tuple[Plan | None, list[Finding]]:
        """The plan of repairs, if there is one, and its findings."""
        mended = {
            (segment.name, position): (fault.mended, fault.problem)
            for segment, position, _, fault in check.faults
            if fault.mended is not None
        }
        for (segment, position, header), epoch, right in check.epochs.wrong:
            batch, _ = mended.get((segment.name, position), (None, ""))
            data = batch or bytes(home.files.file(segment.name).read(position, header.size))
            what = wrong_epoch(epoch, right)
            mended[segment.name, position] = with_epoch(data, right), what
        if not mended and not check.lost_markers and not check.is_disordered:
            return None, []
        written = [(data, read_header(data)) for data in check.lost_markers]
        sizes = home.files.files()
        names = {base: home.naming.log(base) for base in check.bases}
        of_bases = {base: sizes[name] for base, name in names.items()}
        known = Known(mended, written, facts.flushed_to)
        plan = arranged(home.files, of_bases, names, known)
        if not plan.segments:
            return None, []
        lost = [each for each in check.findings if each.action == WRITTEN_AGAIN]
        return plan, [*lost, *self._plan_findings(home, plan)]

    def _plan_findings(self, home: PartitionDirectory, plan: Plan) -> list[Finding]:
        """The actions of a plan, as findings."""
        found = []
        for file, first, last, base in plan.names:
            what = f"it has offsets {first} to {last}, and the name of others"
            action = f"named {home.naming.log(base)}"
            found.append(Finding(home.name, file, what, action=action))
        for entry in plan.moved:
            what = f"the batch of offset {entry.base} is not in its place"
            place = home.name, entry.file, what, entry.start
            found.append(Finding(*place, action="put back"))
        for aside in plan.aside:
            place = home.name, aside.file, aside.problem, aside.position
            found.append(Finding(*place, action=aside.action))
        return found

    def _write(self, home: PartitionDirectory, check: PartitionCheck, plan: Plan | None) -> None:
        """Set aside what is damaged, and write the segments that are to be others."""
        for aside in plan.aside if plan is not None else ():
            offsets = aside.offset, aside.offset
            place = home.name, aside.file, aside.position, len(aside.data)
            damage = Damage(*place, *offsets, f"{aside.problem}; {aside.action}")
            self._keep_aside(home, aside.file, [damaged_piece(damage, aside.data)])
        damages: dict[str, list[Damage]] = {}
        segments = {segment.name: segment for segment, _ in check.damages}
        for segment, damage in check.damages:
            damages.setdefault(segment.name, []).append(damage)
        for name, of_one in damages.items():
            planned = check.planned.get(segments[name].base_offset)
            source = planned or home.files.file(name)
            pieces = [
                damaged_piece(one, bytes(source.read(one.position, one.size)) if one.size else b"")
                for one in of_one
            ]
            self._keep_aside(home, name, pieces)
            source.close()
        written = {}
        for base, planned in (plan.segments if plan is not None else {}).items():
            written[home.naming.log(base)] = planned
        for name, segment in segments.items():
            if name not in written and any(one.size for one in damages[name]):
                written[name] = Planned(home.files, [Piece(name, 0, segment.size)])
        if not written:
            return
        for name, planned in written.items():
            self._copy_without(home.files, name, planned, damages.get(name, []))
        kept = {home.naming.log(base) for base in check.bases}
        is_log = home.naming.log_suffix
        parsed = {name: home.naming.parse_file(name) for name in home.files.files()}
        old = [name for name, found in parsed.items() if found and found[1] == is_log]
        replace_files(home.files, list(written), [name for name in old if name not in kept])

    def _keep_aside(self, home: PartitionDirectory, name: str, pieces: list[bytes]) -> None:
        """Add pieces to a segment's `.damaged` file."""
        aside = name + DAMAGED
        kept = home.files.read_bytes(aside) if home.files.exists(aside) else b""
        list(read_damaged_file(kept))
        more = b"".join(one for one in pieces if one not in kept)
        if more:
            home.files.write_atomic(aside, kept + more)

    def _copy_without(
        self, files: Directory, name: str, source: Planned, damages: list[Damage]
    ) -> None:
        beside = name + REPAIRED
        target, at = files.file(beside), 0
        target.create()
        position = 0
        for damage in [*damages, None]:
            end = source.size if damage is None else damage.position
            while position < end:
                data = source.read(position, min(_COPY_BYTES, end - position))
                target.write(data, at)
                position, at = position + len(data), at + len(data)
            position = end if damage is None else damage.end
        target.sync()
        target.close()
        if files.exists(name):
            files.set_modified_ms(beside, files.modified_ms(name))

    def _rebuild(self, topic: str, partition: int, start: int, cleaned: int) -> None:
        """Open and close the log as after a kill. Its notices repeat what the check has found."""
        home = self.directory.child(self.naming.directory(topic, partition))
        known = self.catalogue.topic_id(topic) if self.catalogue else None
        topic_id = known or _NO_TOPIC
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
        if not has_metadata and not known:  # opening has written one, with an unknown topic id
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
