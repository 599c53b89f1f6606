"""Leader epochs over restarts: in the metadata log, in the logs, and in what clients are told."""

from __future__ import annotations

import pytest
from odradek.emulator.base.clock import ManualClock
from odradek.emulator.base.node import Node
from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.metadata.topic_repair import resign
from odradek.storage import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.batch import batches, read_header
from odradek.wire.records import read_records
from odradek.wire.stored.cluster import MetadataRecord, PartitionChangeRecord, read_record

from tests.requests.fetch import asked, fetch_request
from tests.requests.offsets import epoch_end
from tests.requests.produce import batch, produce
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of
from tests.support.releases import KAFKA_3_9

ELR = "eligible.leader.replicas.version"


class World:
    """A directory, and one broker after another on it."""

    def __init__(self, release: Release = KAFKA_4_3, elr: int | None = None) -> None:
        self.disk = MemoryDisk()
        self.release = release
        self.features = {} if elr is None else {ELR: elr}
        self.cluster = self._open()

    def _open(self) -> Cluster:
        return Cluster(
            BrokerConfig({"offsets.topic.num.partitions": "2"}, self.release),
            data_dir=self.disk.directory(),
            brokers=[Node(1, "localhost", 9092)],
            clock=ManualClock(NOW),
            features=self.features,
        )

    @property
    def client(self) -> Client:
        return client_of(self.cluster)

    def restart(self) -> None:
        self.cluster.close()
        self.cluster = self._open()

    def kill(self) -> None:
        self.disk = self.disk.kill()
        self.cluster = self._open()

    def epochs(self) -> dict[str, set[int]]:
        """What Metadata says of each topic's partitions."""
        answer = self.client.ask(MetadataRequest(topics=None), 9)
        return {t.name: {p.leader_epoch for p in t.partitions} for t in answer.topics}

    def partition_epochs(self) -> set[int]:
        """What the metadata log says of all partitions."""
        topics = self.cluster.metadata.image.topics.values()
        return {each.partition_epoch for topic in topics for each in topic.partitions.values()}

    def stored(self, name: str) -> str | None:
        """The lines of a partition's leader-epoch-checkpoint."""
        home = self.disk.directory().child(name)
        if not home.exists("leader-epoch-checkpoint"):
            return None
        return home.read_bytes("leader-epoch-checkpoint").decode()

    def changes(self) -> list[list[MetadataRecord]]:
        """The batches of the metadata log that change partitions."""
        data = self.disk.directory().child("__cluster_metadata-0").read_bytes(f"{0:020}.log")
        found = [
            [read_record(record.value or b"")[0] for record in read_records(data, pos)]
            for pos, header in batches(data)
            if not header.is_control
        ]
        return [each for each in found if isinstance(each[0], PartitionChangeRecord)]


def end_of(client: Client, epoch: int, current: int = -1) -> tuple[int, int, int]:
    """The error, epoch and end offset that OffsetForLeaderEpoch answers for t-0."""
    found = epoch_end(client, epoch, current=current)
    return found.error_code, found.leader_epoch, found.end_offset


def last_epochs(cluster: Cluster, name: str) -> list[int]:
    """The leader epochs of the batches of a topic's first partition."""
    data = cluster.partition(name, 0).log.read(0, 1 << 20)
    return [read_header(data, pos).leader_epoch for pos, _ in batches(data)]


# What rises


@pytest.mark.parametrize("how", ["restart", "kill"])
@pytest.mark.parametrize("elr", [None, 0])
def test_a_restart_adds_two_epochs_to_every_partition(how: str, elr: int | None) -> None:
    world = World(elr=elr)
    world.cluster.create_topic("t", 3, {})
    world.cluster.create_topic("gone", 1, {})
    world.client.ask(FindCoordinatorRequest(key="g"), 2)
    produce(world.client, batch(b"x"))
    world.cluster.topics.delete(world.cluster.topic("gone"))

    for epoch in (2, 4):
        getattr(world, how)()
        assert world.epochs() == {"t": {epoch}, "__consumer_offsets": {epoch}}
        assert world.partition_epochs() == {epoch}
    world.cluster.create_topic("new", 1, {})
    assert world.epochs()["new"] == {0}


def test_a_stop_after_a_kill_adds_two_more() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    for epoch, how in enumerate(("kill", "restart", "kill", "kill", "restart"), 1):
        getattr(world, how)()
        assert world.epochs() == {"t": {2 * epoch}}


def test_up_to_3_9_a_kill_leaves_the_epochs() -> None:
    world = World(KAFKA_3_9)
    world.cluster.create_topic("t", 2, {})
    world.restart()
    assert world.epochs() == {"t": {2}}
    world.kill()
    assert world.epochs() == {"t": {2}}
    world.restart()
    assert world.epochs() == {"t": {4}}


def test_a_directory_without_topics_gets_no_records() -> None:
    world = World()
    before = world.cluster.metadata.end_offset
    world.restart()
    world.kill()
    assert world.cluster.metadata.end_offset == before


# The records


def change(world: World, **fields: object) -> PartitionChangeRecord:
    topic = world.cluster.topic("t")
    return PartitionChangeRecord(partition_id=0, topic_id=topic.id, **fields)  # type: ignore[arg-type]


def without_leader(world: World) -> list[PartitionChangeRecord]:
    eligible = {"eligible_leader_replicas": [1], "last_known_elr": [1]}
    return [change(world, leader=-1, isr=[], **eligible)]


def led_again(world: World) -> list[PartitionChangeRecord]:
    eligible: dict[str, list[int]] = {"eligible_leader_replicas": [], "last_known_elr": []}
    return [change(world, leader=1, isr=[1], **eligible)]


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_with_eligible_leaders_the_leader_is_one_meanwhile(how: str) -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    getattr(world, how)()
    assert world.changes() == [without_leader(world), led_again(world)]


def test_without_eligible_leaders_the_last_in_sync_stays_so() -> None:
    world = World(elr=0)
    world.cluster.create_topic("t", 1, {})
    world.restart()
    assert world.changes() == [[change(world, leader=-1)], [change(world, leader=1)]]


def test_a_stop_writes_one_batch_and_a_start_another() -> None:
    world = World()
    world.cluster.create_topic("t", 200, {})
    world.cluster.create_topic("u", 300, {})
    world.restart()
    assert [len(each) for each in world.changes()] == [500, 500]


def test_a_kill_between_a_stop_and_its_start_adds_nothing() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    world.cluster.close()
    world.kill()
    assert world.epochs() == {"t": {2}}


def test_what_a_full_disk_did_not_take_is_made_up_for() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    world.disk.fill()
    assert not resign(world.cluster.metadata)
    world.disk.heal()
    assert world.changes() == []
    world.kill()
    assert world.changes() == [without_leader(world), led_again(world)]


# The logs


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_an_epoch_begins_where_the_log_ended(how: str) -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    produce(world.client, batch(b"a", b"b"))
    getattr(world, how)()

    assert end_of(world.client, 0) == (0, 0, 2)
    assert end_of(world.client, 2, current=2) == (0, 2, 2)
    assert [end_of(world.client, 2, current=now)[0] for now in (0, 3)] == [74, 75]
    produce(world.client, batch(b"c"))
    assert end_of(world.client, 2) == (0, 2, 3)
    assert last_epochs(world.cluster, "t") == [0, 2]

    getattr(world, how)()
    getattr(world, how)()
    assert end_of(world.client, 0) == (0, 0, 2)
    assert end_of(world.client, 2) == (0, 2, 3)
    assert end_of(world.client, 4) == (0, 2, 3)
    assert end_of(world.client, 6) == (0, 6, 3)


def test_who_fetches_in_an_epoch_of_before_learns_the_leader() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    world.restart()
    for version, expected in ((15, []), (16, [(1, "localhost", 9092)])):
        answer = world.client.ask(
            fetch_request(
                asked(current_leader_epoch=0),
                topic_id=world.cluster.topic("t").id,
                session_epoch=-1,
            ),
            version,
        )
        (found,) = answer.responses[0].partitions
        assert found.error_code == 74
        assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == expected
        leader = (1, 2) if expected else (-1, -1)
        assert (found.current_leader.leader_id, found.current_leader.leader_epoch) == leader


def test_the_checkpoint_of_epochs_is_written_with_the_next_batch() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    produce(world.client, batch(b"a"))
    world.restart()
    world.cluster.checkpoint()
    assert world.stored("t-0") == "0\n1\n0 0\n"
    produce(world.client, batch(b"b"))
    assert world.stored("t-0") == "0\n2\n0 0\n2 1\n"
    world.restart()
    world.restart()
    assert world.stored("t-0") == "0\n2\n0 0\n2 1\n"


def test_a_topic_without_data_gets_no_directory() -> None:
    world = World()
    world.cluster.create_topic("t", 5, {})
    world.restart()
    world.cluster.checkpoint()
    world.restart()
    assert world.disk.directory().directories() == ["__cluster_metadata-0"]
    assert end_of(world.client, 4) == (0, 4, 0)
    produce(world.client, batch(b"a"))
    assert world.stored("t-0") == "0\n1\n4 0\n"


def test_a_log_whose_records_were_deleted_goes_on_in_the_next_epoch() -> None:
    world = World()
    world.cluster.create_topic("t", 1, {})
    produce(world.client, batch(b"a", b"b"))
    world.cluster.partition("t", 0).delete_records(-1)
    for _ in range(2):
        world.restart()
    assert end_of(world.client, 4) == (0, 4, 2)
    produce(world.client, batch(b"c"))
    assert world.stored("t-0") == "0\n1\n4 2\n"
    assert world.cluster.partition("t", 0).log_start_offset == 2
