"""Sessions, limits and odd requests at a Keeper without sockets."""

from __future__ import annotations

import pytest
from odradek.emulator.zookeeper import jute
from odradek.emulator.zookeeper.errors import Code, KeeperError
from odradek.emulator.zookeeper.keeper import EXISTS, GET
from odradek.emulator.zookeeper.tree import (
    Create,
    Delete,
    Event,
    Limits,
    Mode,
    SetData,
    Tree,
    check_path,
)

from tests.emulator.zookeeper import raw
from tests.emulator.zookeeper.raw import Asked, InProcess, hello, new_keeper


def _code(client: InProcess, asked: Asked) -> int:
    return raw.header(client.ask(asked)[-1])[2]


def _session(client: InProcess) -> tuple[int, int, bytes]:
    """Timeout, id and password."""
    assert client.answer is not None
    client.answer.i32()
    return client.answer.i32(), client.answer.i64(), client.answer.buffer() or b""


def test_a_session_expires_by_the_clock_and_its_nodes_go() -> None:
    keeper, time = new_keeper()
    one, other = InProcess(keeper), InProcess(keeper)
    one.ask(raw.create("/mine", mode=Mode.EPHEMERAL))
    other.ask(raw.read(EXISTS, "/mine", watch=True))
    time.advance(8_000)
    assert not other.pending()  # it was heard of, and the other one is within its 10 s
    time.advance(6_000)
    assert one.is_closed
    assert not other.is_closed
    [event] = other.pending()
    assert event.endswith(jute.i32(Event.DELETED, 3) + jute.text("/mine"))
    assert "/mine" not in keeper.tree.nodes


def test_a_session_goes_on_over_another_connection_with_its_password() -> None:
    keeper, _ = new_keeper()
    first = InProcess(keeper)
    _, session, password = _session(first)
    first.ask(raw.create("/mine", mode=Mode.EPHEMERAL))
    first.client.lost()

    wrong = InProcess(keeper, session, bytes(16))
    assert _session(wrong)[:2] == (0, 0)
    assert wrong.is_closed
    again = InProcess(keeper, session, password)
    assert _session(again) == (10_000, session, password)
    assert "/mine" in keeper.tree.nodes


def test_who_has_a_wrong_password_does_not_cut_the_session_off() -> None:
    keeper, _ = new_keeper()
    first = InProcess(keeper)
    InProcess(keeper, _session(first)[1], b"guess")
    assert not first.is_closed


def test_the_timeout_is_negotiated() -> None:
    keeper, _ = new_keeper()
    assert (keeper.sessions.least_ms, keeper.sessions.most_ms) == (6_000, 60_000)
    session = keeper.sessions.begin(1)
    assert session is not None
    assert session.timeout_ms == 6_000
    session = keeper.sessions.begin(1 << 30)
    assert session is not None
    assert session.timeout_ms == 60_000


def test_who_knows_a_later_transaction_is_cut_off() -> None:
    keeper, _ = new_keeper()
    client = InProcess.__new__(InProcess)
    client.frames, client.is_closed = [], False
    from odradek.emulator.zookeeper.keeper import Client

    client.client = Client(keeper, ("127.0.0.1", 1), client.frames.append, client._close)
    client.client.received(hello(seen=5))
    assert client.is_closed
    assert not client.frames


@pytest.mark.parametrize("frame", [b"", b"\0" * 7, b"\xff" * 40])
def test_what_is_no_session_request_closes_the_connection(frame: bytes) -> None:
    from odradek.emulator.zookeeper.keeper import Client

    keeper, _ = new_keeper()
    closed: list[bool] = []
    client = Client(keeper, ("127.0.0.1", 1), lambda _: None, lambda: closed.append(True))
    client.received(frame)
    assert closed
    assert not keeper.clients
    assert not keeper.sessions.alive


def test_an_unknown_request_is_answered_and_closes_the_connection() -> None:
    keeper, _ = new_keeper()
    client = InProcess(keeper)
    assert _code(client, Asked(107, b"")) == Code.UNIMPLEMENTED
    assert client.is_closed


def test_a_container_goes_after_its_last_child() -> None:
    keeper, time = new_keeper()
    client = InProcess(keeper)
    client.ask(raw.create("/box", kind=19))
    client.ask(raw.create("/box/a"))
    client.ask(raw.delete("/box/a"))
    time.advance(59_000)
    assert "/box" in keeper.tree.nodes
    time.advance(1_000)
    assert "/box" not in keeper.tree.nodes


def test_nodes_and_bytes_are_limited() -> None:
    keeper, _ = new_keeper(Limits(nodes=6, bytes=100))
    client = InProcess(keeper)
    assert _code(client, raw.create("/a", b"x" * 90)) == 0
    assert _code(client, raw.create("/b", b"x" * 90)) == Code.API_ERROR
    assert _code(client, raw.set_data("/a", b"x" * 200)) == Code.API_ERROR
    assert _code(client, raw.create("/b")) == 0
    assert _code(client, raw.create("/c")) == Code.API_ERROR
    assert _code(client, raw.delete("/a")) == 0
    assert _code(client, raw.create("/c", b"x" * 90)) == 0


def test_watches_of_a_connection_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.zookeeper.watches.MOST", 2)
    keeper, _ = new_keeper()
    client = InProcess(keeper)
    for name in ("/a", "/b"):
        client.ask(raw.read(EXISTS, name, watch=True))
    assert not client.is_closed
    client.client.received(jute.i32(1, GET) + jute.text("/") + jute.flag(True))
    assert client.is_closed
    assert not keeper.watches.data


def test_sessions_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.zookeeper.sessions.MOST", 1)
    keeper, _ = new_keeper()
    assert not InProcess(keeper).is_closed
    assert InProcess(keeper).is_closed


def test_a_refused_transaction_leaves_everything_as_it_was() -> None:
    tree = Tree(lambda: 0)
    tree.apply(Create("/a", b"1"))
    before = {path: node.stat for path, node in tree.nodes.items()}, tree.size
    results = tree.transact(
        [
            Create("/a/b", b"x", Mode.EPHEMERAL),
            SetData("/a", b"22"),
            Delete("/a/b"),
            Create("/c"),
            Delete("/none"),
            Create("/d"),
        ]
    )
    assert results == [Code.OK] * 4 + [Code.NO_NODE, Code.RUNTIME_INCONSISTENCY]
    assert ({path: node.stat for path, node in tree.nodes.items()}, tree.size) == before
    assert not any(tree.owned.values())


@pytest.mark.parametrize(
    "path",
    ["", "a", "/a/", "//", "/a//b", "/.", "/a/..", "/a\0", "/\x7f", "/\ue000", "/\U0001f600"],
)
def test_paths_that_no_node_has(path: str) -> None:
    with pytest.raises(KeeperError):
        check_path(path)


@pytest.mark.parametrize("path", ["/", "/a", "/a.b/..c", "/é/漢", "/a b"])
def test_paths_that_a_node_may_have(path: str) -> None:
    check_path(path)
