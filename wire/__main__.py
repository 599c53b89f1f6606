"""Looking up the protocol, and decoding bytes of it: `python -m odradek.wire`.

    python -m odradek.wire                       every API and every stored record
    python -m odradek.wire fetch 12              request and response of Fetch v12, as tables
    python -m odradek.wire OffsetCommitValue     a record of an internal topic, newest version
    python -m odradek.wire decode 00000013...    a request, field by field
    python -m odradek.wire decode --response fetch 12 < frame.hex
    python -m odradek.wire segment-0.7 FILE      the messages of a file of Kafka 0.7

Exit status: 0; 1 for bytes that cannot be decoded; 2 for an unknown name or version, or text that
is not hexadecimal.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .errors import WireError
from .explain.frames import explain_request, explain_response
from .explain.printed import lines
from .explain.segment_0_7 import segment_lines
from .explain.tables import Unknown, catalogue, check_version, find, find_api, table


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        verb = _VERBS.get(given[0]) if given else None
        status = _look_up(given) if verb is None else verb(given[1:])
        sys.stdout.flush()
    except WireError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has closed the pipe; what is still buffered is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _look_up(given: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m odradek.wire",
        description="Kafka's messages as tables.",
        epilog="`python -m odradek.wire decode --help`: a frame of bytes, field by field.",
    )
    parser.add_argument("name", nargs="?", help="an API's name or key, or a stored record (all)")
    parser.add_argument("version", nargs="?", type=int, help="the newest, unless given")
    asked = parser.parse_args(given)
    if asked.name is None:
        _print(catalogue())
        return 0
    messages = find(asked.name)
    for cls in messages:
        check_version(cls, cls.last_version if asked.version is None else asked.version)
    for number, cls in enumerate(messages):
        if number:
            print()
        _print(table(cls, cls.last_version if asked.version is None else asked.version))
    return 0


def _decode(given: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m odradek.wire decode",
        description="Show a frame of bytes, a request unless said otherwise, field by field.",
    )
    parser.add_argument("hex", nargs="*", help="hexadecimal text (standard input)")
    parser.add_argument(
        "--response", nargs=2, metavar=("API", "VERSION"), help="it answers this request"
    )
    asked = parser.parse_args(given)
    answers = None
    if asked.response is not None:
        name, version = asked.response
        if not re.fullmatch("[0-9]{1,5}", version):
            raise Unknown(f"{version!r} is not a version: versions are numbers.")
        answers = find_api(name), int(version)
        check_version(find(str(answers[0]))[1], answers[1])
    frame = _parse_hex(
        " ".join(asked.hex) if asked.hex else sys.stdin.buffer.read().decode("latin")
    )
    explanation = explain_response(frame, *answers) if answers else explain_request(frame)
    _print(lines(explanation, len(frame)))
    return 1 if explanation.misfits else 0


def _segment(given: list[str]) -> int:
    """The messages of a file of Kafka 0.7, with their positions, which its name begins."""
    parser = argparse.ArgumentParser(
        prog="python -m odradek.wire segment-0.7",
        description="Show the messages of a file of Kafka 0.7, and where the last valid one ends.",
    )
    parser.add_argument("file", help="<position>.kafka")
    path = Path(parser.parse_args(given).file)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unknown(f"{path}: {error.strerror}") from None
    shown = segment_lines(data, int(path.stem) if path.stem.isdecimal() else 0)
    _print(iter(shown.lines))
    return 0 if shown.is_whole else 1


_VERBS: dict[str, Callable[[list[str]], int]] = {"decode": _decode, "segment-0.7": _segment}


def _parse_hex(text: str) -> bytes:
    """Turn hexadecimal text into bytes; it may contain white space and 0x. Raises WireError."""
    digits = re.sub(r"0[xX]|\s", "", text)
    odd = re.search("[^0-9a-fA-F]", digits)
    if odd:
        raise WireError(f"This is not hexadecimal text: there is {odd[0]!r} in it.")
    if not digits:
        raise WireError("There are no bytes to decode.")
    if len(digits) % 2:
        raise WireError(f"{len(digits)} hexadecimal digits are not a whole number of bytes.")
    return bytes.fromhex(digits)


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        # Characters that a terminal's encoding lacks are escaped instead of failing.
        encoding = sys.stdout.encoding or "utf-8"
        print(line.encode(encoding, "backslashreplace").decode(encoding))


if __name__ == "__main__":
    sys.exit(main())
