"""Messages and record batches beside other Python codecs: `python -m tests.bench.bench_wire`.

The same messages, in the newest version that all know, are written and read by Odradek, by kio
(whose decoder is native code) and by kafka-python's protocol module; `old` is the table-driven
module that kafka-python had before and still carries, in the newest version that it has. Record
batches also by aiokafka's compiled classes (for which there is no aim).

Each time is CPU time, the least of several rounds in which all take turns; a ratio is how many
times as long a peer takes. The garbage collector is off meanwhile. Aims: 5 times as fast as kafka-
python in both directions, 5 times as fast as kio at encoding, within twice kio's time at decoding,
and 60 ms to import `odradek.wire` with the modules of all APIs. What misses its aim has a `!`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version as release
from io import BytesIO
from time import process_time
from timeit import Timer
from typing import Any, NamedTuple

from aiokafka.record import default_records as aiokafka_records
from kafka.record import default_records as kafka_python_records
from kio.index import load_request_schema, load_response_schema
from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record, RecordHeader
from kio.records.writers import write_new_batch
from kio.serial import entity_reader, entity_writer
from odradek.wire.explain.tables import aligned
from odradek.wire.records import NewRecord, build_batch, read_records
from odradek.wire.schema import Message, Request

from .wire_messages import MESSAGES

ROUNDS = 7
ROUND_S = 0.02
IMPORT_AIM_MS = 60.0
# A peer's time, at least so many times ours.
ENCODING_AIMS = {"kio": 5.0, "kafka-python": 5.0}
DECODING_AIMS = {"kio": 0.5, "kafka-python": 5.0}
PEERS = ["kio", "kafka-python", "old", "aiokafka"]
PACKAGES = ("admin", "consumer", "metadata", "producer", "sasl")

Work = Callable[[], object]


class Line(NamedTuple):
    """A row of the table: our work, that of each peer, and the ratios aimed at."""

    what: str
    ours: Work
    peers: dict[str, Work]
    aims: dict[str, float]


def best_us(works: dict[str, Work]) -> dict[str, float]:
    """The least CPU time (microseconds) of each, all taking turns."""
    timers = {name: Timer(work, timer=process_time) for name, work in works.items()}
    loops = {name: _loops(timer) for name, timer in timers.items()}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(loops[name]) / loops[name] * 1e6)
    return best


def _loops(timer: Timer) -> int:
    loops = 1
    while timer.timeit(loops) < ROUND_S:
        loops *= 2
    return loops


def message_lines(message: Message) -> Iterator[Line]:
    """Encoding and decoding of one message."""
    cls = type(message)
    theirs = kafka_python_class(cls)
    version = min(cls.last_version, theirs.max_version)
    while (kio := kio_class(cls, version)) is None:
        version -= 1
    encoded = message.encode(version)
    entity, _ = entity_reader(kio)(encoded, 0)
    same = theirs.decode(encoded, version=version)
    same._header = None  # which it looks for when it writes
    read_kio, write_kio = entity_reader(kio), entity_writer(kio)

    def kio_encode() -> bytes:
        with BytesIO() as out:
            write_kio(out, entity)
            return out.getvalue()

    assert kio_encode() == encoded
    assert bytes(same.encode(version=version)) == encoded
    what = f"{cls.__name__} v{version}, {len(encoded)} bytes"
    encoders: dict[str, Work] = {
        "kio": kio_encode,
        "kafka-python": lambda: same.encode(version=version),
    }
    decoders: dict[str, Work] = {
        "kio": lambda: read_kio(encoded, 0),
        "kafka-python": lambda: theirs.decode(encoded, version=version),
    }
    yield Line(f"encode {what}", lambda: message.encode(version), encoders, ENCODING_AIMS)
    yield Line(f"decode {what}", lambda: cls.decode(encoded, version), decoders, DECODING_AIMS)
    yield from old_lines(message)


def old_lines(message: Message) -> Iterator[Line]:
    """The same against kafka-python's older module, in the newest version that it has."""
    cls = type(message)
    version, theirs = old_class(cls)
    encoded = message.encode(version)
    same = theirs.decode(encoded)
    assert same.encode() == encoded
    what = f"{cls.__name__} v{version}, {len(encoded)} bytes"
    yield Line(f"encode {what}", lambda: message.encode(version), {"old": same.encode}, {})
    yield Line(
        f"decode {what}",
        lambda: cls.decode(encoded, version),
        {"old": lambda: theirs.decode(encoded)},
        {},
    )


def kio_class(cls: type[Message], version: int) -> Any:
    """Kio's class for a version of a message, if it has one."""
    load = load_request_schema if issubclass(cls, Request) else load_response_schema
    try:
        return load(cls.api_key, version)  # type: ignore[attr-defined]
    except LookupError:
        return None


def kafka_python_class(cls: type[Message]) -> Any:
    """kafka-python's class for a message."""
    modules = (import_module(f"kafka.protocol.{package}") for package in PACKAGES)
    return next(vars(module)[cls.__name__] for module in modules if cls.__name__ in vars(module))


def old_class(cls: type[Message]) -> tuple[int, Any]:
    """The newest version and class of a message in kafka-python's older module."""
    for version in range(cls.last_version, -1, -1):
        for name in ("metadata", "fetch", "produce", "group"):
            module = import_module(f"kafka.protocol.old.{name}")
            found = vars(module).get(f"{cls.__name__}_v{version}")
            if found is not None:
                return version, found
    raise LookupError(cls.__name__)


def record_lines() -> Iterator[Line]:
    """Building and reading a batch of 1,000 records."""
    records = [
        NewRecord(1000 + n, b"key%05d" % n, b"value" * 17, [("h", b"1")]) for n in range(1000)
    ]
    batch = bytes(build_batch(records))
    kio = NewRecordBatch(
        producer_id=-1,  # type: ignore[arg-type]
        producer_epoch=-1,  # type: ignore[arg-type]
        base_sequence=-1,  # type: ignore[arg-type]
        attributes=0,  # type: ignore[arg-type]
        records=tuple(_kio_record(n, record) for n, record in enumerate(records)),
    )

    def kio_builds() -> bytes:
        with BytesIO() as out:
            write_new_batch(out, kio)
            return out.getvalue()

    modules = {"kafka-python": kafka_python_records, "aiokafka": aiokafka_records}
    builders: dict[str, Work] = {"kio": kio_builds}
    readers: dict[str, Work] = {"kio": lambda: read_batch(batch, 0)}
    for name, module in modules.items():
        builders[name] = lambda module=module: _build(module, records)  # type: ignore[misc]
        readers[name] = lambda module=module: list(module.DefaultRecordBatch(batch))  # type: ignore[misc]
        assert _build(module, records)[61:] == batch[61:]
    what = f"batch of {len(records)} records, {len(batch)} bytes"
    yield Line(f"build {what}", lambda: build_batch(records), builders, ENCODING_AIMS)
    yield Line(f"read {what}", lambda: read_records(batch), readers, DECODING_AIMS)


def _kio_record(offset: int, record: NewRecord) -> Any:
    time = datetime.fromtimestamp(record.timestamp / 1000, UTC)
    headers = tuple(RecordHeader(key=key.encode(), value=value) for key, value in record.headers)  # type: ignore[arg-type]
    key, value = record.key, record.value
    return Record(
        attributes=0,  # type: ignore[arg-type]
        timestamp=time,  # type: ignore[arg-type]
        offset=offset,  # type: ignore[arg-type]
        key=key,  # type: ignore[arg-type]
        value=value,  # type: ignore[arg-type]
        headers=headers,
    )


def _build(module: Any, records: list[NewRecord]) -> bytes:
    builder = module.DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for offset, (timestamp, key, value, headers) in enumerate(records):
        builder.append(offset, timestamp=timestamp, key=key, value=value, headers=headers)
    return bytes(builder.build())


def import_ms() -> float:
    """CPU time to import the package and the modules of all APIs, the least of five."""
    program = (
        "from time import process_time; begin = process_time(); import odradek.wire; "
        "from odradek.wire.api import API_MODULES, request_class; "
        "[request_class(key) for key in API_MODULES]; print(process_time() - begin)"
    )
    command = [sys.executable, "-c", program]
    runs = (subprocess.run(command, capture_output=True, check=True).stdout for _ in range(5))
    return min(map(float, runs)) * 1000


def row(line: Line) -> tuple[list[str], bool]:
    """Measure a line; return its cells, and whether its aims are met."""
    found = best_us({"ours": line.ours, **line.peers})
    cells, met = [line.what, f"{found['ours']:.2f}"], True
    for peer in PEERS:
        if peer not in found:
            cells.append("")
            continue
        ratio = found[peer] / found["ours"]
        missed = ratio < line.aims.get(peer, 0.0)
        met = met and not missed
        cells.append(f"{ratio:.2f}x{'!' if missed else ' '}")
    return cells, met


def main() -> None:
    """Measure everything and print the table."""
    installed = ", ".join(f"{peer} {release(peer)}" for peer in ("kio", "kafka-python", "aiokafka"))
    print(f"Python {sys.version.split()[0]}, {installed}")
    took = import_ms()
    met = "met" if took < IMPORT_AIM_MS else "missed"
    print(f"import of odradek.wire and all APIs: {took:.1f} ms (aim {IMPORT_AIM_MS:.0f} ms: {met})")
    print("a peer's ratio is its time divided by ours; aims: encoding 5x, 5x; decoding 0.5x, 5x\n")
    lines = [line for message in MESSAGES for line in message_lines(message)]
    rows = [row(line) for line in [*lines, *record_lines()]]
    head = ["", "us", *PEERS]
    print("\n".join(aligned([head, *(cells for cells, _ in rows)], right=range(1, len(head)))))
    aimed = sum(bool(line.aims) for line in lines) + 2
    print(f"\naims met in {aimed - sum(not met for _, met in rows)} of {aimed} lines; ! is a miss")


if __name__ == "__main__":
    main()
