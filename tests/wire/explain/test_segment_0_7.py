"""Files of Kafka 0.7, as they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from odradek.wire.__main__ import main
from odradek.wire.compression import Codec
from odradek.wire.explain.segment_0_7 import segment_lines
from odradek.wire.legacy.kafka_0_7 import build_old_message, build_old_set

ONE = build_old_message(b"hello")


def test_each_message_is_a_line_with_its_position() -> None:
    data = ONE + build_old_message(b"x", magic=0) + build_old_set([b"a", b"bc"], codec=Codec.GZIP)
    shown = segment_lines(data, 100)
    assert shown.is_whole
    assert shown.lines[:2] == [
        "100: magic 1, crc 3610a686, 5 bytes b'hello'",
        "115: magic 0, crc 8cdc1683, 1 bytes b'x'",
    ]
    assert shown.lines[2].startswith("125: magic 1, crc ")
    assert "gzip of" in shown.lines[2]
    assert shown.lines[3:] == ["    1 bytes b'a'", "    2 bytes b'bc'"]


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (ONE[:7], "15: a message that is not whole; 7 bytes from here on are not valid"),
        (
            ONE[:-1] + b"!",
            "15: the checksum of this one is wrong; 15 bytes from here on are not valid",
        ),
        (bytes(9), "15: message of 0 bytes at byte 15; 9 bytes from here on are not valid"),
    ],
)
def test_where_the_last_valid_one_ends_is_said(tail: bytes, why: str) -> None:
    shown = segment_lines(ONE + tail)
    assert not shown.is_whole
    assert shown.lines[-1] == why


def test_a_file_is_named_by_its_first_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "00000000030.kafka"
    path.write_bytes(ONE)
    assert main(["segment-0.7", str(path)]) == 0
    assert capsys.readouterr().out == "30: magic 1, crc 3610a686, 5 bytes b'hello'\n"
    path.write_bytes(ONE[:9])
    assert main(["segment-0.7", str(path)]) == 1
    assert main(["segment-0.7", str(tmp_path / "none")]) == 2
