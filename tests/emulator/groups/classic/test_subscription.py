"""What a classic consumer says of its topics, in bytes of any version, or in none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.groups.classic.consumer_protocol import subscribed_topics


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\0\0",
        b"\0\0\xff\xff\xff\xff\0\0\0\0",
        b"\0\0\0\0\0\1\0\5t",
        b"\0\0\0\0\0\1\xff\xff",
        b"\0\0\0\0\0\1\0\1t",
        b"\0\0\0\0\0\1\0\1t\0\0\0\5",
        b"\0\0\x7f\xff\xff\xff\0\1t",
    ],
)
def test_what_is_no_subscription_is_refused(metadata: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        subscribed_topics(metadata)


def test_a_subscription_of_any_version_names_its_topics() -> None:
    version_0 = b"\0\0\0\0\0\2\0\1t\0\1u\0\0\0\2xx"
    assert subscribed_topics(version_0) == {"t", "u"}
    assert subscribed_topics(b"\0\3" + version_0[2:] + b"owned partitions and more") == {"t", "u"}
    assert subscribed_topics(b"\0\1\0\0\0\0\xff\xff\xff\xff") == frozenset()


def test_a_topic_name_that_is_no_utf_8_is_read_as_java_reads_it() -> None:
    assert subscribed_topics(b"\0\0\0\0\0\1\0\1\xff\0\0\0\0") == {"\N{REPLACEMENT CHARACTER}"}


@given(st.binary(max_size=40))
def test_any_bytes_are_a_subscription_or_refused(metadata: bytes) -> None:
    try:
        topics = subscribed_topics(metadata)
    except ValueError:
        return
    assert sum(map(len, topics)) <= len(metadata)
