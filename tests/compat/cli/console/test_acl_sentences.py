"""ACLs as sentences: what is printed is read again."""

from __future__ import annotations

import pytest
from odradek.compat.cli.console.acls import Acl, read_sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "alice may READ topic orders",
        "everyone may not ALL every group from 10.0.0.7",
        "ServiceAccount:app may DESCRIBE_CONFIGS topics orders-*",
        "CN=alice, O=a team may READ transactional-id t",
        "alice may CREATE_TOKENS user User:bob",
        "alice may ALTER the cluster",
    ],
)
def test_what_is_printed_is_read(sentence: str) -> None:
    (acl,) = read_sentence(sentence)
    assert str(acl) == sentence


def test_several_operations_are_several_entries() -> None:
    assert list(map(str, read_sentence("alice may Read, describeConfigs and write topic a"))) == [
        "alice may READ topic a",
        "alice may DESCRIBE_CONFIGS topic a",
        "alice may WRITE topic a",
    ]


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("alice READ topic orders", "is not like: alice may READ topic orders"),
        ("alice may RAED topic orders", "no operation 'RAED': is READ meant"),
        ("alice may READ topics orders", r"as topics orders\*"),
        ("alice may READ table orders", "is not like"),
    ],
)
def test_what_is_no_sentence_is_refused(sentence: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_sentence(sentence)


def test_an_entry_that_is_not_known_is_shown_all_the_same() -> None:
    assert str(Acl("User:a", 3, 99, 77, 3, "x")) == "a may operation 99 resource 77 x"
