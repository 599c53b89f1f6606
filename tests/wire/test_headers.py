"""Headers of requests and responses: which form, and which bytes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.wire.api import API_MODULES, request_class
from odradek.wire.errors import WireError
from odradek.wire.headers import (
    RequestHeader,
    is_flexible,
    read_request_header,
    read_response_header,
    write_request_header,
    write_response_header,
)

METADATA, API_VERSIONS = 3, 18
FIRST_FLEXIBLE_METADATA = 9


def test_a_plain_request_header() -> None:
    header = RequestHeader(METADATA, 8, 77, "me")
    encoded = bytes.fromhex("0003 0008 0000004d 0002 6d65")
    assert write_request_header(header) == encoded
    assert read_request_header(encoded + b"body") == (header, len(encoded))


def test_a_flexible_one_keeps_the_old_client_id_and_ends_with_tags() -> None:
    header = RequestHeader(METADATA, FIRST_FLEXIBLE_METADATA, 77, "me")
    encoded = bytes.fromhex("0003 0009 0000004d 0002 6d65 00")
    assert write_request_header(header) == encoded
    assert read_request_header(memoryview(encoded)) == (header, len(encoded))


def test_tagged_fields_of_a_request_header_are_skipped() -> None:
    encoded = bytes.fromhex("0003 0009 0000004d 0002 6d65 02 00 01 aa 81 01 02 bbbb")
    assert read_request_header(encoded + b"body")[1] == len(encoded)


def test_no_client_id_is_read_as_an_empty_one() -> None:
    header, size = read_request_header(bytes.fromhex("0003 0001 0000004d ffff"))
    assert (header.client_id, size) == ("", 10)


def test_a_client_id_that_is_not_utf_8_is_read_all_the_same() -> None:
    header, _ = read_request_header(bytes.fromhex("0003 0001 0000004d 0001 ff"))
    assert header.client_id == "\ufffd"


def test_a_plain_response_header_is_the_correlation_id() -> None:
    assert write_response_header(77, METADATA, 8) == bytes.fromhex("0000004d")
    assert read_response_header(bytes.fromhex("0000004d"), METADATA, 8) == (77, 4)


def test_a_flexible_response_header_has_tags() -> None:
    assert write_response_header(77, METADATA, 9) == bytes.fromhex("0000004d 00")
    assert read_response_header(bytes.fromhex("0000004d 01 00 01 aa"), METADATA, 9) == (77, 8)


@pytest.mark.parametrize("version", range(5))
def test_the_answer_to_api_versions_always_has_the_plain_header(version: int) -> None:
    assert write_response_header(77, API_VERSIONS, version) == bytes.fromhex("0000004d")
    assert read_response_header(bytes.fromhex("0000004d"), API_VERSIONS, version) == (77, 4)


def test_its_request_has_tags_from_version_3_on() -> None:
    assert [is_flexible(API_VERSIONS, version) for version in range(5)] == [False] * 3 + [True] * 2


def test_an_api_that_there_is_not_has_the_plain_header() -> None:
    header = RequestHeader(999, 5, 77, "me")
    assert read_request_header(write_request_header(header))[0] == header
    with pytest.raises(WireError, match="no API has the key 999"):
        request_class(999)


@pytest.mark.parametrize("api_key", sorted(API_MODULES))
def test_any_request_header_reads_as_it_was_written(api_key: int) -> None:
    request = request_class(api_key)
    for version in range(request.first_version, request.last_version + 1):
        header = RequestHeader(api_key, version, -1, "client é")
        encoded = write_request_header(header)
        assert read_request_header(encoded) == (header, len(encoded))
        for size in range(len(encoded)):
            with pytest.raises(WireError):
                read_request_header(encoded[:size])


@given(st.binary(max_size=60))
def test_any_bytes_are_a_header_or_are_refused(noise: bytes) -> None:
    for frame in (noise, b"\x00\x03\x00\x0c" + noise):
        try:
            _, pos = read_request_header(frame)
        except WireError:
            continue
        assert 10 <= pos <= len(frame)


@given(st.binary(max_size=20), st.sampled_from([8, 9]))
def test_any_bytes_are_a_response_header_or_are_refused(noise: bytes, version: int) -> None:
    try:
        _, pos = read_response_header(noise, METADATA, version)
    except WireError:
        return
    assert 4 <= pos <= len(noise)


def test_a_negative_length_other_than_minus_one_is_refused() -> None:
    with pytest.raises(WireError, match="negative length"):
        read_request_header(bytes.fromhex("0003 0001 0000004d fffe"))


def test_reading_a_header_imports_the_api_it_is_of_and_no_other() -> None:
    code = (
        "import sys; from odradek.wire.headers import *;"
        "read_request_header(bytes.fromhex('0003 0009 0000004d ffff 00'));"
        "print(*(name for name in sys.modules if name.startswith('odradek.wire.api.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["odradek.wire.api.metadata"]
