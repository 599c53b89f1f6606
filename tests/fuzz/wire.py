"""Feeds the wire package bytes of any kind, and says so when anything but WireError comes out.

    python -m tests.fuzz.wire -runs=10000000        every option of libFuzzer will do
    python -m tests.fuzz.wire --only records,frames -max_total_time=60

Guided by coverage, by way of atheris (`pip install atheris`), which is wanted for nothing else. An
input is two bytes that choose a target and the bytes for it; every target begins with seeds, bytes
in good order. What a target found does not stop the run: it is printed, once for each place in the
source, and the input is kept in build/fuzz. A process may use 3 GiB, so whoever sets aside what a
length claims is found out by a MemoryError.

Targets do more than decode: what was read is written and read again and must be the same bytes; the
two scanners must agree; frames must be the same whatever the pieces they came in.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import atheris

with atheris.instrument_imports(include=["odradek"], enable_loader_override=False):
    from odradek.wire.batch import HEADER, batches, checksum
    from odradek.wire.codec import messages as codec
    from odradek.wire.compression import Codec, compress, decompress
    from odradek.wire.errors import Refused, WireError
    from odradek.wire.frames import Frames
    from odradek.wire.headers import (
        RequestHeader,
        read_request_header,
        read_response_header,
        write_request_header,
    )
    from odradek.wire.legacy.down_conversion import down_convert
    from odradek.wire.legacy.message_sets import build_set, entries, read_messages
    from odradek.wire.legacy.up_conversion import Rules, up_convert
    from odradek.wire.records import build_batch, end_transaction_batch, read_marker, read_records
    from odradek.wire.scan import Fault, scan, scan_python
    from odradek.wire.schema import Message
    from odradek.wire.stored.cluster import frame_record, read_record
    from odradek.wire.stored.consumer_protocol import ConsumerProtocolSubscription
    from odradek.wire.stored.control import control_record, read_control_record
    from odradek.wire.stored.groups import GroupMetadataKey
    from odradek.wire.stored.keyed import keyed, read_key, read_value
    from odradek.wire.stored.offsets import OffsetCommitKey

from tests.wire.support.messages import CLUSTER, CONTROL, MESSAGES, REQUESTS, full, versions

LIMIT = 1 << 20
MEMORY_MAX = 3 << 30
FOUND = Path("build/fuzz")


class Target(NamedTuple):
    """What is given bytes, and bytes in good order to begin with."""

    group: str
    run: Callable[[bytes], object]
    seeds: list[bytes]


def message_target(cls: type[Message], version: int) -> Target:
    """Reading one version; what was read is written, and that once more."""
    for reader in (codec.reader(cls, version), codec.reader(cls, version, "replace")):
        atheris.instrument_func(reader)

    def run(data: bytes) -> None:
        message = cls.decode(data, version)
        try:
            encoded = message.encode(version)
        except WireError as error:
            # Replacement characters are longer than what they stand for.
            if "text of" in str(error):
                return
            raise AssertionError(f"read but not writable: {error}") from error
        again = cls.decode(encoded, version).encode(version)
        assert again == encoded, "written twice, and not the same"

    return Target("messages", run, [full(cls, version).encode(version), cls().encode(version)])


def header_targets() -> list[Target]:
    """Request and response headers, old and flexible."""
    headers = [
        write_request_header(RequestHeader(cls.api_key, version, 7, "client"))
        for cls in REQUESTS
        for version in (cls.first_version, cls.last_version)
    ]

    def response(data: bytes) -> object:
        if len(data) < 2:
            return None
        return read_response_header(data[2:], data[0], data[1])

    answers = [b"\x03\x0c" + bytes(4) + b"\x01\x05\x02ab", b"\x03\x00" + bytes(4)]
    return [
        Target("headers", read_request_header, headers),
        Target("headers", response, answers),
    ]


def batch_targets() -> list[Target]:
    """Batches whole, records behind a header in good order, and scanning."""
    records = [
        (1000 + n, b"key" if n % 2 else None, b"value" * n or None, (("h", b"x"), ("n", None)))
        for n in range(5)
    ]
    whole = [bytes(build_batch(records, codec=codec)) for codec in Codec]
    place = {"producer_id": 3, "producer_epoch": 1, "coordinator_epoch": 2, "leader_epoch": 0}
    marker = bytes(end_transaction_batch(True, base_offset=0, timestamp=5, **place))

    def read_all(data: bytes) -> None:
        for pos, header in batches(data):
            assert 0 <= pos < pos + header.size <= len(data)
            read_records(data, pos, LIMIT)

    def read_payload(data: bytes) -> None:
        count, payload = (data[0], data[1:]) if data else (0, b"")
        found, reference = scan(payload, count, 1000), scan_python(payload, count, 1000)
        assert found == reference, f"{found} is not {reference}"
        head = HEADER.pack(0, 49 + len(payload), 0, 2, 0, 0, count, 1000, 0, -1, -1, -1, count)
        read_records(head + payload)
        assert found.fault is Fault.OK, f"read, but {found.fault!r}"

    return [
        Target("records", read_all, [*whole, whole[0] + whole[2], marker]),
        Target("records", lambda data: read_records(data, 0, LIMIT), whole),
        Target("records", read_marker, [marker]),
        Target("records", read_payload, [bytes([5]) + whole[0][HEADER.size :]]),
    ]


def set_targets() -> list[Target]:
    """Message sets of magic 0 and 1: read, and converted both ways with their CRCs put right."""
    messages = [(n, 1000 + n, b"key" if n % 2 else None, b"value" * n or None) for n in range(4)]
    sets = [
        build_set(messages, magic, codec=codec)
        for magic in (0, 1)
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
    ]
    new = [bytes(build_batch([(*message[1:], ()) for message in messages], codec=c)) for c in Codec]
    rules = Rules(max_message_bytes=LIMIT, segment_bytes=LIMIT)

    def up(data: bytes) -> None:
        converted = up_convert(mended(data), rules, 5000, LIMIT)
        if converted:
            read_records(converted)

    def down(data: bytes) -> None:
        magic, stored = (data[0] & 1, mended(data[1:])) if data else (0, bytearray())
        read_messages(down_convert(stored, magic, 0, LIMIT), LIMIT)

    return [
        Target("sets", lambda data: read_messages(data, LIMIT), sets),
        Target("sets", up, sets),
        Target("sets", down, [b"\0" + data for data in (*new, *sets)]),
    ]


def mended(data: bytes) -> bytearray:
    """The entries of a set with the CRCs that they ought to have."""
    out = bytearray(data)
    try:
        for entry in entries(data):
            if entry.magic == 2:
                out[entry.pos + 17 : entry.pos + 21] = checksum(
                    out, entry.pos, entry.size
                ).to_bytes(4, "big")
            else:
                crc = crc32(out[entry.pos + 16 : entry.pos + entry.size])
                out[entry.pos + 12 : entry.pos + 16] = crc.to_bytes(4, "big")
    except WireError:
        return out
    return out


def compression_target(codec: Codec) -> Target:
    """Unpacking; and packing, which may not fail."""

    def run(data: bytes) -> None:
        assert decompress(codec, compress(codec, data), len(data)) == data
        assert len(decompress(codec, data, LIMIT)) <= LIMIT

    text = b"".join(b"line %d of a text\n" % n for n in range(50))
    return Target("compression", run, [compress(codec, text), compress(codec, bytes(100_000))])


def frames_target() -> Target:
    """A stream whole, and in pieces as long as its first byte says."""

    def fed(data: bytes, step: int) -> tuple[list[bytes], bool]:
        frames, found = Frames(max_bytes=100_000), []
        try:
            for i in range(0, len(data), step):
                found += [bytes(frame) for frame in frames.feed(data[i : i + step])]
        except WireError:
            return found, False
        return found, True

    def run(data: bytes) -> None:
        step, stream = (data[0] + 1, data[1:]) if data else (1, b"")
        whole, fine = fed(stream, len(stream) or 1)
        pieces, also_fine = fed(stream, step)
        assert fine == also_fine
        assert not fine or whole == pieces

    return Target("frames", run, [b"\x04" + b"\0\0\0\x03abc\0\0\0\0\0\0\0\x01d", b"\0\0\1\0\0"])


def stored_targets() -> list[Target]:
    """The framing of the records of internal topics."""

    def control(data: bytes) -> object:
        return read_control_record(data[:4], data[4:])

    keys = (OffsetCommitKey, GroupMetadataKey)
    return [
        Target("stored", read_record, [frame_record(full(cls, 0), 0) for cls in CLUSTER]),
        Target("stored", control, [b"".join(control_record(_version_0(cls))) for cls in CONTROL]),
        Target("stored", lambda data: read_key(keys, data), [keyed(full(keys[0], 0), 1)]),
        Target(
            "stored",
            lambda data: read_value(ConsumerProtocolSubscription, data, newer=True),
            [keyed(full(ConsumerProtocolSubscription, 3), 3)],
        ),
    ]


def _version_0(cls: Any) -> Any:
    message = full(cls, 0)
    message.version = 0
    return message


def targets(groups: set[str]) -> list[Target]:
    found = [
        *header_targets(),
        *batch_targets(),
        *set_targets(),
        *map(compression_target, Codec),
        frames_target(),
        *stored_targets(),
    ]
    if not groups or "messages" in groups:
        found += [message_target(cls, version) for cls in MESSAGES for version in versions(cls)]
    return [target for target in found if not groups or target.group in groups]


class Runner:
    """Gives inputs to targets and keeps what they find."""

    def __init__(self, chosen: list[Target]) -> None:
        self.targets = chosen
        self.found: set[tuple[str, ...]] = set()

    def __call__(self, data: bytes) -> None:
        number = int.from_bytes(data[:2], "big") % len(self.targets)
        try:
            self.targets[number].run(data[2:])
        except (WireError, Refused):
            return
        except Exception as error:
            self.keep(error, data)

    def keep(self, error: Exception, data: bytes) -> None:
        """Say it and save the input, if it is the first of its kind."""
        places = traceback.extract_tb(error.__traceback__)[-3:]
        kind = (type(error).__name__, *(f"{p.filename}:{p.lineno}" for p in places))
        if kind in self.found:
            return
        self.found.add(kind)
        path = FOUND / sha256(data).hexdigest()[:16]
        FOUND.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"FOUND {path}: target {int.from_bytes(data[:2], 'big') % len(self.targets)}")
        print("".join(traceback.format_exception(error)), flush=True)

    def write_seeds(self, directory: Path) -> None:
        """One file for each seed."""
        for number, target in enumerate(self.targets):
            for seed in target.seeds:
                data = number.to_bytes(2, "big") + seed
                (directory / sha256(data).hexdigest()[:16]).write_bytes(data)


def main() -> None:
    arguments = sys.argv[1:]
    groups: set[str] = set()
    if arguments[:1] == ["--only"]:
        groups, arguments = set(arguments[1].split(",")), arguments[2:]
    runner = Runner(targets(groups))
    print(f"{len(runner.targets)} targets", flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    with tempfile.TemporaryDirectory() as corpus:
        runner.write_seeds(Path(corpus))
        atheris.Setup([sys.argv[0], corpus, *arguments], runner, enable_python_coverage=True)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
