"""reset, snapshot, restore and fork: what each brings back, and what it leaves as it is."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from odradek import Emulator, ManualClock, Refused
from odradek.emulator.snapshots.archive import StateError
from odradek.storage import MemoryDisk

from tests.emulator.snapshots.everything import everything


@pytest.fixture(params=["temporary", "data_dir", "memory"])
def kafka(request: pytest.FixtureRequest, tmp_path: Path):  # type: ignore[no-untyped-def]
    places: dict[str, dict[str, Any]] = {
        "temporary": {},
        "data_dir": {"data_dir": tmp_path / "data"},
        "memory": {"disk": MemoryDisk()},
    }
    clock = ManualClock()
    with Emulator(topics={"orders": 2}, clock=clock, **places[request.param]) as kafka:
        yield kafka


def test_reset_is_as_new(kafka: Emulator) -> None:
    address, began = kafka.bootstrap_servers, kafka.run(lambda cluster: cluster.clock.now())
    kafka.topic("orders").produce("x")
    kafka.create_topic("more")
    kafka.run(lambda cluster: cluster.groups.ensure_topic())
    kafka.advance(minutes=1)

    kafka.reset()

    assert kafka.topics() == ["orders"]
    assert kafka.topic("orders").values() == []
    assert len(kafka.topic("orders")) == 2
    assert kafka.bootstrap_servers == address
    assert kafka.run(lambda cluster: cluster.clock.now()) == began
    assert kafka.notices == []
    kafka.topic("orders").produce("y")
    assert kafka.topic("orders").values() == [b"y"]


def test_configs_set_at_run_time_are_part_of_the_state(kafka: Emulator) -> None:
    def set_to(text: str) -> None:
        from odradek.wire.stored.cluster import ConfigRecord

        record = ConfigRecord(
            resource_type=4, resource_name="", name="log.retention.ms", value=text
        )
        kafka.run(lambda cluster: cluster.metadata.append([record]))

    def now() -> int:
        return kafka.run(lambda cluster: cluster.config.get("log.retention.ms"))

    unset = now()
    set_to("1000000")
    state = kafka.snapshot()
    set_to("2000000")
    kafka.restore(state)
    assert now() == 1_000_000
    kafka.reset()
    assert now() == unset


def test_a_restored_broker_is_what_a_restart_finds(kafka: Emulator) -> None:
    kafka.topic("orders").produce("x")
    state = kafka.snapshot()
    kafka.topic("orders").produce("y")
    kafka.restore(state)
    kafka.topic("orders").produce("z")
    before = everything(kafka)
    given = kafka._given_dir or kafka._disk

    kafka.stop()
    kafka.start()

    if given is None:
        assert kafka.topic("orders").values() == []  # as ever
    else:
        assert everything(kafka) == before
        assert kafka.topic("orders").values() == [b"x", b"z"]
    assert kafka.notices == []


def test_a_fork_has_a_place_of_its_own(kafka: Emulator) -> None:
    kafka.topic("orders").produce("x")
    with kafka.fork() as other:
        assert other.bootstrap_servers != kafka.bootstrap_servers
        other.topic("orders").produce("y")
        kafka.advance(seconds=1)
        other.create_topic("more")
        kafka.topic("orders").produce("z")
        assert other.topic("orders").values() == [b"x", b"y"]
        other.reset()  # to where it began
        assert other.topic("orders").values() == [b"x"]
        with other.fork() as third:
            assert third.topic("orders").values() == [b"x"]
    assert kafka.topics() == ["orders"]
    assert kafka.topic("orders").values() == [b"x", b"z"]
    with pytest.raises(RuntimeError, match="not running"):
        other.topics()
    with other:  # a fork can be started again, as any other
        assert other.topic("orders").values() == [b"x"]


def test_the_clock_goes_back(kafka: Emulator) -> None:
    kafka.advance(seconds=5)
    state = kafka.snapshot()
    kafka.advance(minutes=1)
    kafka.restore(state)
    assert kafka.run(lambda cluster: cluster.clock.now()) == state.time_ms


def test_what_was_given_to_clients_is_not_given_again(kafka: Emulator) -> None:
    """Leader epochs and producer ids, which clients that live on compare."""

    def epochs_and_id() -> tuple[list[int], int]:
        return kafka.run(
            lambda cluster: (
                [each.leader_epoch for each in cluster.topic("orders").partitions],
                cluster.brokers[cluster.controller_id].next_producer_id(),
            )
        )

    kafka.topic("orders").produce("x")
    first, last = kafka.snapshot(), epochs_and_id()
    for state in (first, first, kafka.snapshot(), first):
        kafka.restore(state)
        now = epochs_and_id()
        assert all(each >= before for each, before in zip(now[0], last[0], strict=True))
        assert now[1] > last[1]
        last = now
        kafka.topic("orders").produce("y")
        assert kafka.topic("orders")[0].log_end_offset <= 2


def test_segments_are_shared_until_they_are_written_to() -> None:
    with Emulator(topics={"a": 1, "b": 1}) as kafka:
        for name in ("a", "b"):
            kafka.topic(name).produce(bytes(100_000))
        segments = {name: kafka.data_dir / f"{name}-0" / f"{0:020}.log" for name in ("a", "b")}
        inodes = {name: path.stat().st_ino for name, path in segments.items()}
        seen = [repr(kafka.topic(name)[0].segments()) for name in ("a", "b")]

        state = kafka.snapshot()
        assert {path.stat().st_nlink for path in segments.values()} == {2}
        assert [repr(kafka.topic(name)[0].segments()) for name in ("a", "b")] == seen
        kafka.topic("a").produce("x")

        assert segments["a"].stat().st_ino != inodes["a"]
        assert segments["b"].stat().st_ino == inodes["b"]
        kafka.restore(state)
        assert {n: path.stat().st_ino for n, path in segments.items()} == inodes


def test_a_snapshot_goes_with_the_last_who_holds_it() -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        kafka.topic("orders").produce("x")
        state = kafka.snapshot()
        assert state.size > 0
        folder = state.image.folder()
        assert folder.exists()
        del state
        gc.collect()
        assert not folder.exists()

        with kafka.snapshot() as state:
            folder = state.image.folder()
            assert folder.exists()
        assert not folder.exists()
        with pytest.raises(StateError, match="was closed"):
            kafka.restore(state)
        assert kafka.topic("orders").values() == [b"x"]  # nothing has happened
        assert repr(state) == "<Snapshot, closed>"


def test_a_topic_given_at_the_start_is_not_made_again_by_restore() -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        kafka.delete_topic("orders")
        state = kafka.snapshot()
        kafka.reset()
        assert kafka.topics() == ["orders"]
        kafka.restore(state)
        assert kafka.topics() == []


def test_wrong_arguments_are_reported() -> None:
    with Emulator() as kafka:
        state = kafka.snapshot()
        with pytest.raises(ValueError, match="clients is 'cut' or 'keep', not 'kill'"):
            kafka.restore(state, clients="kill")
        with pytest.raises(TypeError, match="state is a Snapshot, or the path of a file that"):
            kafka.restore(7)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="not killed, restarted or put back from"):
            kafka.run(lambda _: kafka.restore(state))
        assert kafka.topics() == []
    with (
        pytest.raises(StateError, match=r"Emulator with version='4\.3', this one has '3\.9'"),
        Emulator(version="3.9") as old,
    ):
        old.restore(state)
    with pytest.raises(RuntimeError, match="the broker is not running"):
        kafka.snapshot()


def test_a_broker_that_cannot_be_put_back_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    kafka = Emulator(topics={"orders": 1}).start()
    state = kafka.snapshot()
    monkeypatch.setattr("odradek.emulator.snapshots.images.place_in", fails)
    with pytest.raises(OSError, match="No space left"):
        kafka.restore(state)
    kafka.stop()
    with pytest.raises(RuntimeError, match="not running"):
        kafka.topics()
    with kafka:
        assert kafka.topics() == ["orders"]


def test_a_full_disk_is_reported_and_leaves_no_half_snapshot() -> None:
    disk = MemoryDisk()
    with Emulator(topics={"orders": 1}, disk=disk) as kafka:
        kafka.topic("orders").produce("x")
        disk.fill()
        with pytest.raises(Refused):
            kafka.topic("orders").produce("y")
        state = kafka.snapshot()  # it needs no room
        disk.heal()
        kafka.topic("orders").produce("z")
        kafka.restore(state)
        assert kafka.topic("orders").values() == [b"x"]
