"""Records to begin a test with: given as a dict, or read from a file or directory.

A file of JSON Lines (.jsonl, .ndjson) has one record a line, an object with the fields

    topic, value, key, headers (an object), timestamp (ms since 1970), partition

and a CSV file (.csv) the same as columns of its first line; a header is a column `headers.NAME`
there. Only topic and value are required, topic not where the caller names one. What is no str or
null in JSON is stored as JSON. In CSV everything is text, and an empty key, timestamp or partition
counts as none.

Or the records of a data directory that a broker has left, a real Kafka's too. The directory stays
as it is: a copy is opened, as a broker opens its own after a crash, and read. Indexes are not
copied, but built anew: a real Kafka preallocates megabytes for each."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...emulator.base.node import Node
from ...emulator.base.temporary import TemporaryDirectory
from ...emulator.cluster import Cluster
from ...emulator.config.configs import BrokerConfig
from ...emulator.partitions.partition import Topic
from ...storage.checkpoints import META_PROPERTIES, CheckpointError, read_meta_properties
from .in_process import InProcessCluster
from .produced import NewRecord, TopicSeeds, listed, new_record
from .reading import READ_COMMITTED
from .record import Raw
from .span import Span

_NOT_COPIED = ("*.index", "*.timeindex", ".lock", ".kafka_cleanshutdown")


def read_directory(path: Path) -> dict[str, TopicSeeds]:
    """The committed records of each topic, with its configs; internal topics are left out. Raises
    ValueError for a directory that is no broker's; LogDirectoryError."""
    try:
        node_id = read_meta_properties((path / META_PROPERTIES).read_bytes()).node_id
    except (FileNotFoundError, CheckpointError) as error:
        raise ValueError(f"{path} is not the data directory of a broker: {error}") from None
    with _opened(path, node_id) as cluster:
        source = InProcessCluster(lambda action: action(cluster), _no_server)
        return {
            topic.name: TopicSeeds(
                _records(source, topic),
                len(topic.partitions),
                topic.config.overrides,
            )
            for topic in cluster.topics
            if not topic.is_internal
        }


@contextmanager
def _opened(path: Path, node_id: int) -> Iterator[Cluster]:
    with TemporaryDirectory() as place:
        copy = place / "data"
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        cluster = Cluster(BrokerConfig({}), data_dir=copy, brokers=[Node(node_id, "", 0)])
        try:
            yield cluster
        finally:
            cluster.close()


def _records(source: InProcessCluster, topic: Topic) -> list[NewRecord]:
    indexes = list(range(len(topic.partitions)))
    span = Span(source, topic.name, lambda: indexes)
    return [_again(record) for record in span.records(READ_COMMITTED)]


def _again(record: Raw) -> NewRecord:
    headers = tuple(record.headers)
    return NewRecord(record.value, record.key, headers, record.timestamp, record.partition)


def _no_server() -> Any:
    raise RuntimeError("a directory has no clients")


_FIELDS = ("topic", "value", "key", "headers", "timestamp", "partition")
_HEADER = "headers."
_NUMBERS = ("timestamp", "partition")


def read_seeds(
    given: Mapping[str, Iterable[Any]] | str | Path, topic: str | None = None
) -> dict[str, TopicSeeds]:
    """The records of each topic. Raises ValueError that names the line, OSError, TypeError."""
    if isinstance(given, str | Path) and Path(given).is_dir():
        return read_directory(Path(given))
    if isinstance(given, Mapping):
        found = {name: _seed_records(name, records) for name, records in given.items()}
    elif isinstance(given, str | Path):
        found = _of_file(Path(given), topic)
    else:
        kinds = "a dict of topics, or the path of a .jsonl, .ndjson or .csv file or of a directory"
        raise TypeError(f"seed takes {kinds}, not {given!r}")
    return {name: TopicSeeds(those, _partitions_for(those)) for name, those in found.items()}


def _of_file(path: Path, topic: str | None) -> dict[str, list[NewRecord]]:
    if path.suffix in (".jsonl", ".ndjson"):
        rows = _json_lines(path)
    elif path.suffix == ".csv":
        rows = _csv_rows(path)
    else:
        raise ValueError(f"{path} is no .jsonl, .ndjson or .csv file")
    seeds: dict[str, list[NewRecord]] = {}
    for where, row in rows:
        _check(where, row, topic)
        name = row.pop("topic", topic)
        seeds.setdefault(name, []).append(NewRecord(**row))
    return seeds


def _partitions_for(records: Iterable[NewRecord]) -> int:
    return 1 + max((each.partition or 0 for each in records), default=0)


def _seed_records(name: str, given: Iterable[Any]) -> list[NewRecord]:
    return [new_record(each) for each in listed(f"the seed of topic {name!r}", given)]


def _check(where: str, row: Mapping[str, Any], topic: str | None) -> None:
    unknown = [name for name in row if name not in _FIELDS]
    if unknown:
        raise ValueError(f"{where}: no field {unknown[0]!r}; there are {', '.join(_FIELDS)}")
    missing = [name for name in ("topic", "value") if name not in row]
    if missing and not (missing == ["topic"] and topic is not None):
        raise ValueError(f"{where}: the field {missing[0]!r} is missing")
    for name in _NUMBERS:
        number = row.get(name)
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            raise ValueError(f"{where}: {name} is a whole number, not {number!r}")


def _json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}:{number}"
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{where}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise ValueError(f"{where}: a record is an object, not {line.strip()}")
            yield where, row


def _csv_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, restkey="a column without a name")
        for found in reader:
            where = f"{path}:{reader.line_num}"
            row: dict[str, Any] = {}
            headers: dict[str, str] = {}
            for name, text in found.items():
                if name.startswith(_HEADER):
                    headers[name.removeprefix(_HEADER)] = text
                elif name in _NUMBERS:
                    row[name] = _number(where, name, text)
                elif text or name != "key":
                    row[name] = text
            yield where, row | ({"headers": headers} if headers else {})


def _number(where: str, name: str, text: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        raise ValueError(f"{where}: {name} is a whole number, not {text!r}") from None
