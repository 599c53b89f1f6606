"""Kafka's own Java classes read our bytes and write the same ones; and the other way round.

Both ways, for every message and version that we and a Kafka have: Java makes messages up by its own
schemas, we read them, find the fields that Kafka's JSON converters show, and write the very same
bytes; we make messages up by our tables, and Java does the same. Two versions of Kafka are asked,
since the newer has forgotten the oldest versions of most messages.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from odradek.compat.java.wire import JavaWire
from odradek.wire.codec.source import default_of
from odradek.wire.primitives import id_text
from odradek.wire.schema import Field, Kind, Message, Struct, Type

from tests.support.looped import for_each
from tests.wire.support.messages import MESSAGES, REQUESTS, full, may_be_null, say, versions

pytestmark = pytest.mark.real

NEWEST, OLDER = "4.3.1", "3.9.2"

SEEDS = range(4)
"""Of messages made up for each version, on each side. Java's seed 0 leaves nothing out."""

# Names of ours that are not Kafka's.
KAFKA_NAMES = {
    "LeaderChange": "LeaderChangeMessage",
    "SnapshotHeader": "SnapshotHeaderRecord",
    "SnapshotFooter": "SnapshotFooterRecord",
    "KRaftVersion": "KRaftVersionRecord",
    "KRaftVoters": "VotersRecord",
}

# Share groups were a preview in 3.9, and some of their messages changed before they were done.
DRAFTS = {"ReadShareGroupStateSummaryResponse", "ShareGroupMetadataValue"}

LETTERS = "abc xyz0é\u0416€世\U0001f600"

each_message = for_each("cls", MESSAGES)


class Asked:
    """A Java process and what it was asked about."""

    def __init__(self, java: JavaWire) -> None:
        self.java = java
        self.counts: Counter[str] = Counter()
        self.messages: set[str] = set()

    def both(self, cls: type[Message]) -> tuple[str, list[int]]:
        """Kafka's name of a message, and the versions that it and we have."""
        name = KAFKA_NAMES.get(cls.__name__, cls.__name__)
        theirs = self.java.versions(name)
        if not theirs or (self.java.version == OLDER and cls.__name__ in DRAFTS):
            return name, []
        both = [version for version in versions(cls) if version in theirs]
        self.messages.add(cls.__name__)
        self.counts["versions"] += len(both)
        return name, both

    def assert_shows(self, struct: Struct, shown: dict[str, Any], version: int) -> None:
        """Every field of the version is shown with its value, unless it is tagged and a default."""
        left = {name.lower(): value for name, value in shown.items()}
        for field, t in type(struct).fields():
            if not field.is_in(version):
                continue
            value = getattr(struct, field.name)
            key = field.name.replace("_", "")
            if t.kind is not None and t.kind.name == "records" and value is not None:
                key, value = key + "sizeinbytes", len(value)
            if key not in left and field.is_tagged(version):
                # An older release may not know a tag that was added to versions it has.
                known = self.java.version == NEWEST
                assert not known or value == default_of(field, t), f"{field.name} is not shown"
                continue
            self.assert_is(value, left.pop(key), t, version)
        assert left == {}, "fields that we do not have"

    def assert_is(self, value: Any, shown: Any, t: Type, version: int) -> None:
        """A value is what Kafka's JSON says."""
        if value is None or shown is None:
            assert value is shown
        elif t.is_list:
            assert len(value) == len(shown)
            for ours, theirs in zip(value, shown, strict=True):
                self.assert_is(ours, theirs, t._replace(is_list=False), version)
        elif t.struct is not None:
            self.assert_shows(value, shown, version)
        elif t.kind is not None and t.kind.name == "bytes":
            assert b64encode(value).decode() == shown
        elif t.kind is not None and t.kind.name == "uuid":
            assert id_text(value) == shown
        else:
            assert value == shown


@pytest.fixture(scope="module", params=[NEWEST, OLDER])
def asked(request: pytest.FixtureRequest) -> Iterator[Asked]:
    """Each Kafka in turn; at the end it is said what was compared."""
    java = JavaWire(request.param).start()
    asked = Asked(java)
    yield asked
    java.close()
    counts = ", ".join(f"{n} {what}" for what, n in sorted(asked.counts.items()))
    missing = sorted({cls.__name__ for cls in MESSAGES} - asked.messages)
    text = f"agree with the Java classes of Kafka {request.param}: {len(asked.messages)} messages"
    say(request.config, f"{text}, {counts}; not compared: {', '.join(missing) or 'none'}")


@each_message
def test_we_and_java_read_and_write_the_same_bytes(cls: type[Message], asked: Asked) -> None:
    name, both = asked.both(cls)
    for version in both:
        for seed in SEEDS:
            filled = asked.java.fill(name, version, seed)
            message = cls.decode(filled.plain, version)
            assert message.encode(version) == filled.plain
            assert cls.decode(filled.tagged, version) == message
            asked.assert_shows(message, filled.values, version)
            asked.counts["messages of Java's read"] += 1
        random = Random(f"{cls.__name__} {version}")
        made_up = [_made_up(cls, version, random) for _ in SEEDS]
        for message in (cls(), full(cls, version), *made_up):
            encoded = message.encode(version)
            read = asked.java.read(name, version, encoded)
            assert read.again == encoded
            assert read.left == 0
            asked.assert_shows(message, read.values, version)
            asked.counts["messages of ours read"] += 1


def test_every_version_is_known_to_a_kafka(request: pytest.FixtureRequest) -> None:
    with JavaWire(NEWEST) as newest, JavaWire(OLDER) as older:
        known = {
            (cls.__name__, version)
            for java in (newest, older)
            for cls in MESSAGES
            for version in Asked(java).both(cls)[1]
        }

    ours = {(cls.__name__, version) for cls in MESSAGES for version in versions(cls)}
    say(request.config, f"{len(known)} of {len(ours)} versions are known to one of the two Kafkas")
    assert ours - known == set()


def test_every_api_that_a_broker_serves_is_compared(asked: Asked) -> None:
    of_brokers = {key for key, (_, kinds) in asked.java.apis().items() if "BROKER" in kinds}
    assert of_brokers - {cls.api_key for cls in REQUESTS} == set()


def _made_up(cls: type[Struct], version: int, random: Random) -> Any:
    """A struct with anything in the fields of the version, null where that may be."""
    given = {
        field.name: _value(field, t, version, random)
        for field, t in cls.fields()
        if field.is_in(version)
    }
    return cls(**given)


def _value(field: Field, t: Type, version: int, random: Random) -> Any:
    if may_be_null(field, t, version) and random.random() < 0.25:
        return None
    items = [
        _made_up(t.struct, version, random) if t.struct else _scalar(t.kind, random)
        for _ in range(random.randrange(4) if t.is_list else 1)
    ]
    return items if t.is_list else items[0]


def _scalar(kind: Kind | None, random: Random) -> Any:
    assert kind is not None
    length = random.randrange(300) if random.random() < 0.1 else random.randrange(12)
    if kind.name == "string":
        return "".join(random.choices(LETTERS, k=length))
    if kind.name in ("bytes", "records", "uuid"):
        return random.randbytes(kind.size or length)
    if kind.name == "bool":
        return random.random() < 0.5
    if kind.name == "float64":
        return random.gauss(0, 1e9)
    bits = kind.size * 8
    least = 0 if kind.name.startswith("u") else -(1 << bits - 1)
    # Small numbers as often as any others: defaults are among them.
    return random.randrange(2) if random.random() < 0.5 else least + random.getrandbits(bits)
