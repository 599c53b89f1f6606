"""Section I1-I4: topics are created, listed, given more partitions and deleted."""

from __future__ import annotations

from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.metadata import MetadataRequest

from ..ask.groups import commit
from ..ask.topics import create, topic
from ..engine.steps import Ask, Steps, seen
from . import case

UNKNOWN = bytes(15) + b"\7"
Topic = CreateTopicsRequest.Topic


def assigned(
    name: str, *replicas: tuple[int, list[int]], partitions: int = -1, rf: int = -1
) -> Topic:
    """A topic with given replicas: (partition, brokers) each."""
    made = topic(name, partitions, rf)
    made.assignments = [
        Topic.Assignment(partition_index=index, broker_ids=brokers) for index, brokers in replicas
    ]
    return made


def make(*topics: Topic, **more: object) -> Ask:
    return Ask(CreateTopicsRequest(topics=list(topics), **more))  # type: ignore[arg-type]


@case("I1", each=CreateTopicsRequest)
def names_of_topics() -> Steps:
    bad = ("", ".", "..", "a b", "ü", "x" * 250, "a/b", "__cluster_metadata")
    return [
        *(make(topic(name)) for name in bad),
        make(topic("~a.b"), topic("~a_b")),
        make(topic("~a-b"), topic("~a.b")),
        make(topic("~x.y")),
        make(topic("~x_y")),
        make(topic("~x.y")),
        make(topic("~d"), topic("~e"), topic("~d")),
        make(topic("."), topic(".")),
        make(),
    ]


@case("I1", each=CreateTopicsRequest)
def numbers_and_assignments() -> Steps:
    return [
        make(topic("~1", 0)),
        make(topic("~2", -2)),
        make(topic("~3", 1, 0)),
        make(topic("~4", 1, -2)),
        make(topic("~5", 1, 2)),
        make(topic("~6", -1, -1)),
        make(topic("~7", 0, 0)),
        make(topic("~8", 20000)),
        make(topic("~9", 9000), topic("~10", 2000)),
        make(assigned("~11", (0, [1]), (1, [1]))),
        make(assigned("~12", (0, [1]), partitions=1)),
        make(assigned("~13", (0, [1]), rf=1)),
        make(assigned("~14", (1, [1]))),
        make(assigned("~15", (0, [1]), (0, [1]))),
        make(assigned("~16", (0, []))),
        make(assigned("~17", (0, [9]))),
        make(assigned("~18", (0, [1, 1]))),
        make(assigned("~19", (0, [1]), (1, [1, 1]))),
        make(topic("~20"), timeout_ms=0),
        make(topic("~21"), timeout_ms=-1),
        make(topic("~22", 3), validate_only=True),
        make(topic("~22", 1, 5), topic("~6"), validate_only=True),
    ]


@case("I1, I13, I14", each=CreateTopicsRequest)
def configs_of_topics() -> Steps:
    values = [
        ("nonsense", "1"),
        ("retention.ms", "abc"),
        ("retention.ms", "-2"),
        ("retention.ms", "-1"),
        ("retention.bytes", "-5"),
        ("cleanup.policy", "delet"),
        ("cleanup.policy", ""),
        ("cleanup.policy", "compact,"),
        ("cleanup.policy", "delete,delete"),
        ("cleanup.policy", " compact , delete "),
        ("compression.type", "none"),
        ("compression.type", "ZSTD"),
        ("compression.gzip.level", "0"),
        ("compression.lz4.level", "18"),
        ("compression.zstd.level", "23"),
        ("segment.bytes", "1048575"),
        ("segment.bytes", " 1048576 "),
        ("min.cleanable.dirty.ratio", "1.1"),
        ("min.cleanable.dirty.ratio", "1e-1"),
        ("min.insync.replicas", "0"),
        ("message.timestamp.type", "logappendtime"),
        ("message.timestamp.after.max.ms", "-1"),
        ("preallocate", "TRUE"),
        ("preallocate", "yes"),
        ("remote.storage.enable", "true"),
        ("flush.messages", "0"),
        ("flush.messages", "99999999999999999999"),
        ("max.message.bytes", "2147483648"),
        ("index.interval.bytes", "-1"),
        ("leader.replication.throttled.replicas", "x"),
        ("leader.replication.throttled.replicas", "0:1,1:2"),
        ("message.format.version", "3.0"),
        ("", "x"),
        ("retention.ms", None),
    ]
    steps: Steps = []
    for number, (name, value) in enumerate(values):
        made = topic(f"~{number}")
        made.configs = [Topic.Config(name=name, value=value)]
        steps.append(make(made))
    twice = topic("~twice")
    twice.configs = [Topic.Config(name="retention.ms", value=value) for value in ("x", "5")]
    pair = topic("~pair", min_compaction_lag_ms="10", max_compaction_lag_ms="5")
    return [*steps, make(twice), make(pair)]


@case("I2", each=MetadataRequest)
def metadata() -> Steps:
    def ask(*names: str, **more: bool) -> Ask:
        more.setdefault("allow_auto_topic_creation", False)
        wanted = [MetadataRequest.Topic(name=name) for name in names]
        return Ask(MetadataRequest(topics=wanted, **more))

    return [
        create("~b", partitions=3),
        create("~a"),
        ask("~b", "~a"),
        ask("~a", "~b", "~a"),
        ask("~a", "", "a b", ".", "x" * 250),
        ask("__consumer_offsets"),
        Ask(MetadataRequest(topics=[])),
        Ask(MetadataRequest(topics=None), 9),
        ask("~a", include_topic_authorized_operations=True),
        ask("~a", include_cluster_authorized_operations=True),
        ask("~none", include_topic_authorized_operations=True, allow_auto_topic_creation=False),
    ]


@case("I2", each=MetadataRequest)
def metadata_creates_topics() -> Steps:
    wanted = [MetadataRequest.Topic(name="~auto"), MetadataRequest.Topic(name="a b")]
    request = MetadataRequest(topics=wanted, allow_auto_topic_creation=True)
    collides = MetadataRequest.Topic(name="~x_y")
    return [
        Ask(request),
        Ask(request),
        create("~x.y"),
        Ask(MetadataRequest(topics=[collides])),
        Ask(MetadataRequest(topics=[collides], allow_auto_topic_creation=False), 9),
    ]


@case("I2")
def metadata_by_id() -> Steps:
    def ask(*entries: tuple[str | None, object], version: int = 13) -> Ask:
        wanted = [MetadataRequest.Topic(name=n, topic_id=i) for n, i in entries]  # type: ignore[arg-type]
        return Ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False), version)

    steps: Steps = [create("~a"), create("~b")]
    for version in (10, 11, 12, 13):
        steps += [
            ask((None, seen("~a")), version=version),
            ask((None, seen("~a")), (None, UNKNOWN), (None, seen("~a")), version=version),
            ask((None, UNKNOWN), (None, seen("~b")), version=version),
            ask(("~b", seen("~a")), version=version),
            ask(("~b", bytes(16)), (None, seen("~a")), version=version),
            ask((None, bytes(16)), version=version),
            ask(("~none", bytes(16)), ("~a", bytes(16)), version=version),
        ]
    return steps


@case("I3", each=DeleteTopicsRequest)
def deleting_topics() -> Steps:
    def delete(*names: str, timeout_ms: int = 5000) -> Ask:
        entries = [DeleteTopicsRequest.Topic(name=name, topic_id=bytes(16)) for name in names]
        return Ask(
            DeleteTopicsRequest(topic_names=list(names), topics=entries, timeout_ms=timeout_ms)
        )

    return [
        create("~a"),
        create("~b"),
        create("~c"),
        delete("~none", "", "a b"),
        delete("~a", "~b", "~a"),
        delete("~a", "~none"),
        delete("~a"),
        delete("~b", timeout_ms=0),
        delete("~c", timeout_ms=-1),
        delete(),
        create("~a"),
        Ask(commit(("~a", 0, 1)), 8),
    ]


@case("I3")
def deleting_topics_by_id() -> Steps:
    def delete(*entries: tuple[str | None, object]) -> Ask:
        topics = [DeleteTopicsRequest.Topic(name=n, topic_id=i) for n, i in entries]  # type: ignore[arg-type]
        return Ask(DeleteTopicsRequest(topics=topics, timeout_ms=5000), 6)

    none = bytes(16)
    return [
        *(create(name) for name in ("~a", "~b", "~c", "~d", "~e")),
        delete((None, UNKNOWN)),
        delete((None, none)),
        delete(("~a", seen("~a"))),
        delete(("~b", seen("~a"))),
        delete((None, seen("~a")), (None, seen("~a"))),
        delete(("~a", none), (None, seen("~a"))),
        delete((None, seen("~a")), ("~b", none), (None, UNKNOWN)),
        delete((None, seen("~a"))),
        delete(("~c", none), ("~d", UNKNOWN), ("~none", none)),
    ]


@case("I4", each=CreatePartitionsRequest)
def more_partitions() -> Steps:
    def grow(*entries: tuple[str, int, list[list[int]] | None], only: bool = False) -> Ask:
        part = CreatePartitionsRequest.Topic
        topics = [
            part(
                name=name,
                count=count,
                assignments=None
                if replicas is None
                else [part.Assignment(broker_ids=brokers) for brokers in replicas],
            )
            for name, count, replicas in entries
        ]
        return Ask(CreatePartitionsRequest(topics=topics, timeout_ms=5000, validate_only=only))

    return [
        create("~t", partitions=2),
        *(grow(("~t", count, None)) for count in (2, 1, 0, -1)),
        grow(("~t", 4, [[1]])),
        grow(("~t", 3, [])),
        grow(("~t", 3, [[1], [1]])),
        grow(("~t", 3, [[9]])),
        grow(("~t", 3, [[1, 1]])),
        grow(("~t", 3, [[]])),
        grow(("~none", 3, None), ("", 3, None), ("a b", 3, None)),
        grow(("~t", 3, None), ("~t", 4, None)),
        grow(("~t", 3, None), only=True),
        grow(("~t", 20_000, None), only=True),
        grow(("~t", 3, [[1]])),
        grow(("~t", 5, None)),
        grow(),
        Ask(
            MetadataRequest(
                topics=[MetadataRequest.Topic(name="~t")], allow_auto_topic_creation=False
            ),
            9,
        ),
    ]
