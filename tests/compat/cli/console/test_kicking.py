"""`odradek groups kick`: members are removed by their ids or their clients'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from odradek import Emulator

from tests.compat.cli.console.support import Shell, commit
from tests.requests.groups import joined as as_member
from tests.support.connection import Connection


@pytest.fixture
def joined(kafka: Emulator) -> Iterator[Callable[..., str]]:
    """Has the client "by hand" become the only member of a group; returns its member id."""
    with ExitStack() as stack:

        def become(group: str, instance_id: str | None = None) -> str:
            commit(kafka, group, 0, 0)  # so that there is a coordinator
            client = stack.enter_context(Connection(kafka.bootstrap_servers))
            fields: dict[str, Any] = {"group_instance_id": instance_id} if instance_id else {}
            answer = as_member(client, group_id=group, **fields)
            return str(answer.member_id)

        yield become


def test_a_member_of_a_client(shell: Shell, joined: Callable[..., str]) -> None:
    member = joined("billing")
    (line,) = shell("groups", "kick", "billing", "--client", "by hand")
    assert " ".join(line) == f"removed by hand ({member}) from billing"
    assert shell("groups")[1][2:4] == ["Empty", "0"]


def test_a_static_member_by_its_instance(shell: Shell, joined: Callable[..., str]) -> None:
    joined("billing", "blue")
    shell("groups", "kick", "billing", "--member", "blue")
    assert shell("groups")[1][2:4] == ["Empty", "0"]


def test_who_is_not_there_is_named_with_those_that_are(
    shell: Shell, joined: Callable[..., str]
) -> None:
    joined("billing")
    (line,) = shell("groups", "kick", "billing", "--client", "app-8", status=1)
    assert " ".join(line) == "odradek: --client: group billing has no app-8; it has by hand"
    (line,) = shell("groups", "kick", "billing", status=1)
    assert "which members?" in " ".join(line)
    assert shell("groups")[1][3] == "1"
