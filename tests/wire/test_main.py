"""`python -m odradek.wire`: what it prints, and what it exits with."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire import Request
from odradek.wire.__main__ import main
from odradek.wire.api import API_MODULES, api_name
from odradek.wire.explain.tables import catalogue, find, table
from odradek.wire.schema import Message, Struct

from tests.support.drawn import examples
from tests.wire.support.messages import MESSAGES, REQUESTS, versions

API_VERSIONS_3 = "00120003 00000001 0002 6d65 00 0466 6f6f 0431 2e30 00"


class Console:
    """Runs the command in this process and keeps what it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        self.out = ""
        self.err = ""

    def run(self, *arguments: str, given: str = "") -> int:
        stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
        self.monkeypatch.setattr(sys, "stdin", stdin)
        status = main(arguments)
        self.out, self.err = self.capsys.readouterr()
        return status


@pytest.fixture
def console(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Console:
    return Console(capsys, monkeypatch)


class TestTheList:
    def test_every_api_is_in_it_with_its_versions(self, console: Console) -> None:
        assert console.run() == 0
        lines = [line.split() for line in console.out.splitlines()]
        assert lines[0] == ["key", "api", "request", "response", "flexible", "unstable"]
        assert ["11", "JoinGroup", "0-9", "0-9", "6+"] in lines
        assert [line[:2] for line in lines[1 : len(API_MODULES) + 1]] == [
            [str(key), api_name(key)] for key in sorted(API_MODULES)
        ]

    def test_every_stored_record_is_in_it(self) -> None:
        words = {word for line in catalogue() for word in line.split()}
        stored = [cls for cls in MESSAGES if not hasattr(cls, "api_key")]
        assert {cls.__name__ for cls in stored} <= words

    def test_columns_are_aligned(self) -> None:
        apis = list(catalogue())[: len(API_MODULES) + 1]
        at = apis[0].index("request")
        assert all(line[at - 1] == " " != line[at] for line in apis)


class TestTables:
    def test_a_small_one(self, console: Console) -> None:
        assert console.run("heartbeat", "4") == 0
        assert console.out.splitlines()[:8] == [
            "HeartbeatRequest v4 (key 12, versions 0-4, flexible 4+)",
            (find("HeartbeatRequest")[0].__doc__ or "").splitlines()[0],
            "",
            "field              type    nullable  default  tag  versions",
            'group_id           string            ""            0+',
            "generation_id      int32             0             0+",
            'member_id          string            ""            0+',
            "group_instance_id  string  yes       null          3+",
        ]
        assert "HeartbeatResponse v4" in console.out

    def test_nested_fields_tags_and_versions(self, console: Console) -> None:
        assert console.run("fetch", "12") == 0
        lines = [line.split() for line in console.out.splitlines()]
        assert ["cluster_id", "string", "yes", "null", "0", "12+"] in lines
        assert ["topics", "[]Topic", "[]", "0+"] in lines
        assert "    partition             int32" in console.out
        assert "topic_id" not in console.out

    def test_the_newest_version_unless_one_is_given(self, console: Console) -> None:
        assert console.run("OffsetCommitValue") == 0
        assert console.out.startswith("OffsetCommitValue v4 (versions 0-4, flexible 4+)")

    @pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
    def test_every_field_of_every_version_has_its_row(self, cls: type[Message]) -> None:
        for version in versions(cls):
            names = list(_names(cls, version, 0))
            lines = list(table(cls, version))[4:] if names else []
            assert [line[: len(name)] for line, name in zip(lines, names, strict=True)] == names

    @pytest.mark.parametrize(
        "name", ["list_offsets", "ListOffsets", "LISTOFFSETS", "list-offsets", "2"]
    )
    def test_a_name_in_any_spelling(self, name: str) -> None:
        assert [cls.__name__ for cls in find(name)] == ["ListOffsetsRequest", "ListOffsetsResponse"]

    def test_half_of_an_api(self) -> None:
        assert [cls.__name__ for cls in find("fetch_response")] == ["FetchResponse"]


def _names(cls: type[Struct], version: int, depth: int) -> Iterator[str]:
    for field, t in cls.fields():
        if field.is_in(version):
            yield "  " * depth + field.name
            if t.struct is not None:
                yield from _names(t.struct, version, depth + 1)


class TestWhatThereIsNot:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["fetchh"], "no message called 'fetchh': did you mean Fetch"),
            (["offset"], "did you mean OffsetFetch, ListOffsets"),
            (["???"], "`python -m odradek.wire` lists those there are"),
            (["30000"], "No API has the key 30000"),
            (["9" * 5000], "No API has the key 9"),
            (["fetch", "99"], "FetchRequest has versions 0-18, and not 99."),
            (["decode", "--response", "fetchh", "1", "00"], "did you mean Fetch"),
            (["decode", "--response", "fetch", "99", "00"], "versions 0-18, and not 99"),
            (["decode", "--response", "fetch", "new", "00"], "'new' is not a version"),
            (["decode", "--response", "OffsetCommitValue", "1", "00"], "is a stored record"),
            (["decode", "00g0"], "there is 'g' in it"),
            (["decode", "000"], "3 hexadecimal digits"),
            (["decode"], "no bytes to decode"),
        ],
    )
    def test_is_said_in_a_sentence(self, console: Console, arguments: list[str], said: str) -> None:
        assert console.run(*arguments) == 2
        assert said in console.err
        assert console.out == ""

    def test_a_version_that_is_no_number_is_a_matter_of_usage(self, console: Console) -> None:
        with pytest.raises(SystemExit) as caught:
            console.run("fetch", "x")
        assert caught.value.code == 2


class TestDecode:
    def test_a_request_field_by_field(self, console: Console) -> None:
        assert console.run("decode", API_VERSIONS_3) == 0
        assert console.out.splitlines() == [
            "ApiVersionsRequest v3, 22 bytes",
            "",
            "byte  bytes      field                    value",
            "   0  0012       api_key                  18 (ApiVersions)",
            "   2  0003       api_version              3",
            "   4  0000 0001  correlation_id           1",
            "   8  0002 6d65  client_id                'me'",
            "  12  00         tagged fields            none",
            "  13  0466 6f6f  client_software_name     'foo'",
            "  17  0431 2e30  client_software_version  '1.0'",
            "  21  00         tagged fields            none",
        ]

    @pytest.mark.parametrize(
        "text",
        [
            API_VERSIONS_3,
            API_VERSIONS_3.replace(" ", ""),
            API_VERSIONS_3.replace(" ", "\n") + "\n",
            "0x" + API_VERSIONS_3.replace(" ", " 0x"),
            "00000016" + API_VERSIONS_3.upper(),
        ],
    )
    def test_however_it_is_written_and_wherever_it_comes_from(
        self, console: Console, text: str
    ) -> None:
        for status in (console.run("decode", text), console.run("decode", given=text)):
            assert status == 0
            assert "client_software_version" in console.out

    def test_a_response(self, console: Console) -> None:
        frame = "00000007 00000000 0003 00000000"
        assert console.run("decode", "--response", "list_groups", "1", frame) == 0
        assert "error_code        3 (UNKNOWN_TOPIC_OR_PARTITION)" in console.out

    def test_the_byte_that_does_not_fit_is_named(self, console: Console) -> None:
        assert console.run("decode", API_VERSIONS_3.replace("0431", "4431")) == 1
        shown, _, last = console.out.rstrip().rpartition("\n")
        assert last == (
            "client_software_version does not fit at byte 18: 67 bytes are needed, 4 are left"
        )
        assert "client_software_name" in shown

    def test_what_is_left_over_is_reported(self, console: Console) -> None:
        assert console.run("decode", API_VERSIONS_3 + "ffff") == 1
        assert "what follows the message does not fit at byte 22: 2 bytes" in console.out

    def test_a_wrong_size_is_reported_and_the_rest_is_read(self, console: Console) -> None:
        assert console.run("decode", "00000017" + API_VERSIONS_3) == 1
        assert "size does not fit at byte 0: it is 23, 22 bytes follow" in console.out
        assert "client_software_version" in console.out

    @pytest.mark.parametrize(
        ("frame", "said"),
        [
            ("7fff0000", "api_key does not fit at byte 0: no API has the key 32767"),
            ("00010063 00000000", "api_version does not fit at byte 2: Fetch has versions 0-18"),
            ("0001", "api_version does not fit at byte 2: 2 bytes are needed, 0 are left"),
        ],
    )
    def test_a_header_that_means_nothing(self, console: Console, frame: str, said: str) -> None:
        assert console.run("decode", frame) == 1
        assert said in console.out

    @examples(300)
    @given(st.sampled_from(REQUESTS), st.integers(0, 15), st.binary(max_size=80))
    def test_any_bytes_are_shown(self, cls: type[Request], version: int, noise: bytes) -> None:
        frame = cls.api_key.to_bytes(2, "big") + bytes([0, version]) + noise
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
            assert main(["decode", frame.hex()]) in (0, 1)


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m odradek.wire | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("key")
    assert done.stderr == ""
