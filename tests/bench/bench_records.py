"""How long record batches take: `python tests/bench/bench_records.py`.

Each line is the best of several runs, and how many times as long a peer took in the same process:
aiokafka's compiled record classes, or the Python twin of the scan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from timeit import Timer

from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from odradek.wire.compression import Codec, compress, decompress
from odradek.wire.records import (
    HEADER_SIZE,
    NewRecord,
    build_batch,
    checksum,
    read_header,
    read_records,
)
from odradek.wire.scan import HAVE_C, scan, scan_python

THOUSAND = [NewRecord(1000 + n, b"key%05d" % n, b"value" * 17) for n in range(1000)]
BATCH = bytes(build_batch(THOUSAND))
MEGABYTE = [NewRecord(1000 + n, b"key%05d" % n, b"value" * 17) for n in range(10_000)]
RECORDS = bytes(build_batch(MEGABYTE)[HEADER_SIZE:])


def best_us(work: Callable[[], object]) -> float:
    timer = Timer(work, timer=process_time)  # others may be busy on this machine
    loops, _ = timer.autorange()
    return min(timer.repeat(5, max(1, loops // 5))) / max(1, loops // 5) * 1e6


def line(name: str, work: Callable[[], object], peer: Callable[[], object] | None = None) -> None:
    took = best_us(work)
    ratio = f"{best_us(peer) / took:8.2f}x" if peer else ""
    print(f"{name:44}{took:12.2f} us{ratio}")


def peer_builds() -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for offset, record in enumerate(THOUSAND):
        builder.append(
            offset, timestamp=record.timestamp, key=record.key, value=record.value, headers=[]
        )
    return bytes(builder.build())


def peer_reads() -> list[object]:
    return [(r.offset, r.key, r.value) for r in DefaultRecordBatch(BATCH)]


def main() -> None:
    print(f"scan in C: {HAVE_C}; {len(RECORDS)} bytes in {len(MEGABYTE)} records; peer's time last")
    line(
        "scan of 1 MB in records of 100 bytes",
        lambda: scan(RECORDS, len(MEGABYTE), 1000),
        lambda: scan_python(RECORDS, len(MEGABYTE), 1000),
    )
    small = bytes(build_batch(THOUSAND[:1])[HEADER_SIZE:])
    line("scan of one record", lambda: scan(small, 1, 0), lambda: scan_python(small, 1, 0))
    line("read_header", lambda: read_header(BATCH), lambda: DefaultRecordBatch(BATCH))
    line("checksum of 100 kB", lambda: checksum(BATCH, 0, len(BATCH)))
    line("build_batch of 1000 records", lambda: build_batch(THOUSAND), peer_builds)
    line("read_records of 1000", lambda: read_records(BATCH), peer_reads)
    for codec in list(Codec)[1:]:
        packed = compress(codec, RECORDS)
        line(f"decompress 1 MB of {codec.name.lower()}", partial(decompress, codec, packed))


if __name__ == "__main__":
    main()
