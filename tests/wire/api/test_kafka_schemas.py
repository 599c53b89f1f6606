"""Kafka's own schemas say whether the tables are right.

They lie in Kafka's jars, as JSON: those of the newest release, and those of the last one that still
had the versions Kafka 4 dropped. For every message and version, both sides are turned into the same
kind of rows (name, type, nullability, tag, default; nested structs as rows in turn), and the rows
must be equal: so no field may be missing, and none be too many, in any version of any release. What
is not modelled is listed here by name, with the reason.

What the JSON of 3.9 had already lost, nothing here can check: the framing of 0.7, and the records
of KRaft's preview before 3.3. ODRADEK_JARS may name a directory with a directory of jars for each
release, instead of letting Maven find them.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from odradek.compat.java.jars import jars
from odradek.emulator.control.traffic.jsonl import kafkas_name
from odradek.wire.api import API_MODULES
from odradek.wire.codec.source import default_of
from odradek.wire.schema import ALWAYS, NEVER, Message, Request, Response, Struct, Type
from odradek.wire.stored.cluster import MetadataRecord
from odradek.wire.stored.topics import INTERNAL_TOPICS

from tests.support.looped import for_each
from tests.wire.support.messages import MESSAGES, REQUESTS, may_be_null, say, versions

pytestmark = pytest.mark.real

# The oldest first. Where both have a version, the newer one decides; ADDED says where they differ.
RELEASES = ("3.9.2", "4.3.1")

# Kafka's names for what has another one here.
OUR_NAMES = {
    "LeaderChangeMessage": "LeaderChange",
    "SnapshotHeaderRecord": "SnapshotHeader",
    "SnapshotFooterRecord": "SnapshotFooter",
    "KRaftVersionRecord": "KRaftVersion",
    "VotersRecord": "KRaftVoters",
    # It has taken over the older API's key and version 0, with other names in it.
    "ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",
    "ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
    # Also the fields of types 1's key and value, of which it is the first version.
    "LegacyOffsetCommitKey": "OffsetCommitKey",
    "LegacyOffsetCommitValue": "OffsetCommitValue",
}

# Fields that have another name here too.
OUR_FIELDS = {
    "ListClientMetricsResourcesResponse": {
        "client_metrics_resources": "config_resources",
        "name": "resource_name",
    }
}

# Fields that a later release added to versions there already were: tagged ones, which older readers
# skip, and one of a draft.
ADDED = {
    "OffsetCommitValue": {"topic_id"},
    "TransactionLogValue": {
        "previous_producer_id",
        "next_producer_id",
        "next_producer_epoch",
        "client_transaction_version",
    },
    "ConsumerGroupMetadataValue": {"metadata_hash"},
    "ConsumerGroupTargetAssignmentMetadataValue": {"assignment_timestamp"},
    "ConsumerGroupCurrentMemberAssignmentValue": {"assignment_epochs"},
    "ShareGroupMetadataValue": {"metadata_hash"},
}

# Requests (and their responses) that no client sends, but brokers and controllers each other.
BROKERS_OWN = {
    "LeaderAndIsr": "the controller to brokers, with ZooKeeper; gone in 4.0",
    "StopReplica": "the controller to brokers, with ZooKeeper; gone in 4.0",
    "UpdateMetadata": "the controller to brokers, with ZooKeeper; gone in 4.0",
    "ControlledShutdown": "a broker to the controller, with ZooKeeper; gone in 4.0",
    "AlterPartition": "a leader to the controller",
    "AllocateProducerIds": "a broker to the controller",
    "Envelope": "a broker passes a client's request on to the controller",
    "BrokerRegistration": "a broker to the controller",
    "BrokerHeartbeat": "a broker to the controller",
    "AssignReplicasToDirs": "a broker to the controller",
    "ControllerRegistration": "a controller to the active one",
    "Vote": "a voter of the metadata quorum to another",
    "BeginQuorumEpoch": "a voter of the metadata quorum to another",
    "EndQuorumEpoch": "a voter of the metadata quorum to another",
    "UpdateRaftVoter": "a voter of the metadata quorum to its leader",
    "FetchSnapshot": "a voter or observer of the metadata quorum to its leader",
}

NOT_MODELLED = {
    **{f"{name}Request": reason for name, reason in BROKERS_OWN.items()},
    **{f"{name}Response": reason for name, reason in BROKERS_OWN.items()},
    "RequestHeader": "written by hand in headers.py",
    "ResponseHeader": "written by hand in headers.py",
    "ControlRecordTypeSchema": "the key of markers, written by hand in wire/records.py",
    "EndTxnMarker": "the value of markers, written by hand in wire/records.py",
    "DefaultPrincipalData": "a part of Envelope",
    "QuorumStateData": "a file of controllers, in JSON",
    "ProducerSnapshot": "a file of logs, written by hand in the storage package",
    "RemoteLogSegmentMetadataRecord": "tiered storage, which is not emulated",
    "RemoteLogSegmentMetadataSnapshotRecord": "tiered storage, which is not emulated",
    "RemoteLogSegmentMetadataUpdateRecord": "tiered storage, which is not emulated",
    "RemotePartitionDeleteMetadataRecord": "tiered storage, which is not emulated",
    "ShareGroupPartitionMetadataKey": "a draft that never was released (3.9)",
    "ShareGroupPartitionMetadataValue": "a draft that never was released (3.9)",
}

# What a field is when neither JSON nor table say so. Kafka's records are null; ours are empty,
# since clients expect that of a fetch.
NATURAL = {"bool": False, "string": "", "bytes": b"", "records": b"", "float64": 0.0}
NATURAL["uuid"] = bytes(16)

OURS = {cls.__name__: cls for cls in MESSAGES}

Json = dict[str, Any]


@cache
def schemas(release: str) -> dict[str, Json]:
    """Every message schema in the jars of a release, by name. Skips the test without them."""
    directory = (
        Path(os.environ["ODRADEK_JARS"], release) if "ODRADEK_JARS" in os.environ else jars(release)
    )
    found: dict[str, Json] = {}
    for path in directory.glob(f"kafka-*-{release}.jar"):
        with zipfile.ZipFile(path) as jar:
            for name in jar.namelist():
                if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", name):
                    schema = json.loads(re.sub(r"(?m)^\s*//.*$", "", jar.read(name).decode()))
                    assert schema["name"] not in found
                    found[schema["name"]] = _as_since_4(schema)
    return found


def _as_since_4(schema: Json) -> Json:
    """Before 4.0, the schemas of coordinators' keys gave the record types as versions."""
    if schema["type"] != "data" or not schema["name"].endswith("Key"):
        return schema
    fields = [{**field, "versions": "0"} for field in schema["fields"]]
    types = _range(schema["validVersions"])
    return {**schema, "validVersions": "0", "fields": fields, "types": _between(types)}


def schemas_of(cls: type[Message]) -> Iterator[tuple[str, Json]]:
    """Each release that has the message, the newest first, with the schema."""
    for release in reversed(RELEASES):
        for name, schema in schemas(release).items():
            if OUR_NAMES.get(name, name) == cls.__name__ and _valid(schema) != NEVER:
                yield release, schema


@pytest.fixture(scope="module")
def compared(request: pytest.FixtureRequest) -> Iterator[Counter[tuple[str, str]]]:
    """Counts what was compared, and says so at the end."""
    counts: Counter[tuple[str, str]] = Counter()
    yield counts
    for release in RELEASES:
        of_it = (f"{n} {what}" for (where, what), n in counts.items() if where == release)
        say(request.config, f"equal to Kafka {release}'s schemas: {', '.join(of_it)}")


each_message = for_each("cls", MESSAGES)
each_release = pytest.mark.parametrize("release", RELEASES)


@each_message
def test_a_message_is_the_same_as_kafkas(
    cls: type[Message], compared: Counter[tuple[str, str]]
) -> None:
    seen: set[int] = set()
    for release, schema in schemas_of(cls):
        shared = {s["name"]: s["fields"] for s in schema.get("commonStructs", [])}
        flexible = _range(schema["flexibleVersions"])
        unstable = _unstable(schema["name"], release)
        without = ADDED.get(cls.__name__, set()) if release != RELEASES[-1] else set()
        names = OUR_FIELDS.get(schema["name"], {})
        for version in _between(_valid(schema)):
            if version in unstable and version in seen:
                compared[release, "drafts that a later release changed or kept"] += 1
                continue
            assert cls.is_flexible(version) == _is_in(version, flexible)
            rows = list(_our_rows(cls, version, without))
            kafkas = _kafkas_rows(schema["fields"], shared, version, flexible)
            assert rows == [_renamed(row, names) for row in kafkas]
            seen.add(version)
            compared[release, "versions"] += 1
            compared[release, "fields"] += str(rows).count("Row(")
        compared[release, "messages"] += 1
    assert seen == set(versions(cls))


@each_message
def test_a_message_has_kafkas_number(cls: type[Message]) -> None:
    numbers: set[int] = set()
    for _, schema in schemas_of(cls):
        numbers |= {schema["apiKey"]} if "apiKey" in schema else set(schema.get("types", ()))
    assert numbers == _numbers(cls)


@for_each("cls", REQUESTS)
def test_versions_are_unstable_where_kafka_says_so(cls: type[Message]) -> None:
    known: set[int] = set()
    unstable: set[int] = set()
    for release, schema in schemas_of(cls):
        unstable |= _unstable(schema["name"], release) - known
        known |= set(_between(_valid(schema)))
    assert unstable == set(_between(cls.unstable))  # type: ignore[attr-defined]


@each_message
def test_every_field_is_in_some_version(cls: type[Message]) -> None:
    assert list(_fields_of_no_version(cls, set(versions(cls)))) == []


@for_each("cls", REQUESTS)
def test_no_version_that_ever_was_is_missing(cls: type[Message]) -> None:
    assert cls.first_version == 0


@each_release
def test_nothing_is_left_out_silently(release: str, request: pytest.FixtureRequest) -> None:
    names = {name for name, schema in schemas(release).items() if _valid(schema) != NEVER}
    left_out = names & set(NOT_MODELLED)

    assert {OUR_NAMES.get(name, name) for name in names - left_out} <= set(OURS)
    say(
        request.config,
        f"Kafka {release} has {len(names)} schemas: {len(names - left_out)} are modelled,"
        f" {len(left_out)} are not, for reasons given by name",
    )


def test_what_is_left_out_is_there_and_is_no_clients() -> None:
    every = {name: schema for release in RELEASES for name, schema in schemas(release).items()}

    assert set(NOT_MODELLED) - set(every) == set()
    assert set(NOT_MODELLED) & set(OURS) == set()
    assert [name for name in NOT_MODELLED if "broker" in every[name].get("listeners", [])] == []


def test_nothing_is_modelled_that_kafka_does_not_have() -> None:
    assert [cls.__name__ for cls in MESSAGES if not list(schemas_of(cls))] == []


def test_every_field_said_to_be_added_was() -> None:
    oldest, newest = RELEASES
    for name, added in ADDED.items():
        assert added <= _names(schemas(newest)[name])
        assert added & _names(schemas(oldest)[name]) == set()


class Row(tuple[Any, ...]):
    """One field of one version: name, type, nullable, tag, default."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Row" + super().__repr__()


def _range(text: str) -> tuple[int, int]:
    if text == "none":
        return NEVER
    first, _, last = text.removesuffix("+").partition("-")
    return int(first), ALWAYS[1] if text.endswith("+") else int(last or first)


def _is_in(version: int, versions: tuple[int, int]) -> bool:
    return versions[0] <= version <= versions[1]


def _between(versions: tuple[int, int]) -> range:
    return range(versions[0], versions[1] + 1)


def _valid(schema: Json) -> tuple[int, int]:
    return _range(schema["validVersions"])


def _unstable(name: str, release: str) -> set[int]:
    """The versions of a message that the release calls unstable; it says so at the request."""
    schema = schemas(release)[name.replace("Response", "Request")]
    return {_valid(schema)[1]} if schema.get("latestVersionUnstable") else set()


def _numbers(cls: type[Message]) -> set[int]:
    """API key or record types of a message."""
    if issubclass(cls, Request | Response):
        return {cls.api_key}
    if issubclass(cls, MetadataRecord):
        return {cls.record_type}
    topics = INTERNAL_TOPICS.values()
    return {number for records in topics for number, pair in records.items() if cls in pair}


def _names(schema: Json) -> set[str]:
    """The names of all fields of a schema."""
    inner = [*schema.get("fields", []), *schema.get("commonStructs", [])]
    return {_snake(schema["name"])}.union(*map(_names, inner))


def _renamed(row: Row, names: dict[str, str]) -> Row:
    name, is_list, inner, *rest = row
    if isinstance(inner, tuple):
        inner = tuple(_renamed(each, names) for each in inner)
    return Row((names.get(name, name), is_list, inner, *rest))


def _snake(name: str) -> str:
    name = name.replace("KRaft", "Kraft")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def _our_rows(cls: type[Struct], version: int, without: set[str]) -> Iterator[Row]:
    for field, t in cls.fields():
        if field.is_in(version) and field.name not in without:
            tag = field.tag if field.is_tagged(version) else None
            null = may_be_null(field, t, version)
            inner: Any = t.kind.name if t.kind is not None else None
            if t.struct is not None:
                inner = tuple(_our_rows(t.struct, version, without))
            default = default_of(field, t)
            if isinstance(default, Struct):
                assert default == type(default)()
                default = "struct"
            yield Row((field.name, t.is_list, inner, null, tag, default))


def _kafkas_rows(
    fields: list[Json], shared: dict[str, list[Json]], version: int, flexible: tuple[int, int]
) -> Iterator[Row]:
    for field in fields:
        tagged = _range(field.get("taggedVersions", "none"))
        if not _is_in(version, _range(field["versions"]) if "versions" in field else tagged):
            continue
        tag = int(field["tag"]) if _is_in(version, tagged) and _is_in(version, flexible) else None
        null = _is_in(version, _range(field.get("nullableVersions", "none")))
        is_list = field["type"].startswith("[]")
        kind = field["type"].removeprefix("[]")
        inner: Any = kind
        if kind[0].isupper():
            of_struct = field.get("fields") or shared[kind]
            inner = tuple(_kafkas_rows(of_struct, shared, version, flexible))
        default = _kafkas_default(field, kind, is_list)
        yield Row((_snake(field["name"]), is_list, inner, null, tag, default))


def _kafkas_default(field: Json, kind: str, is_list: bool) -> Any:
    given = field.get("default")
    if given is None:  # JSON's null, too, means that there is none
        given = ""
    if given == "null":
        return None
    if is_list:
        return []
    if kind[0].isupper():
        return "struct"
    if given == "":
        return NATURAL.get(kind, 0)
    if kind == "bool":
        return str(given).lower() == "true"
    if kind == "string":
        return given
    return float(given) if kind == "float64" else int(str(given), 0)


def _fields_of_no_version(cls: type[Struct], around: set[int]) -> Iterator[str]:
    for field, t in cls.fields():
        here = {version for version in around if field.is_in(version)}
        if not here:
            yield f"{cls.__qualname__}.{field.name}"
        yield from _of_struct(t, here)


def _of_struct(t: Type, here: set[int]) -> Iterator[str]:
    return _fields_of_no_version(t.struct, here) if t.struct is not None else iter(())


def _raw_names(schema: Json) -> set[str]:
    inner = [*schema.get("fields", []), *schema.get("commonStructs", [])]
    return {each["name"] for each in schema.get("fields", [])}.union(*map(_raw_names, inner))


@pytest.mark.parametrize("release", RELEASES)
def test_a_journal_s_json_has_the_names_of_kafka_s(release: str) -> None:
    """Kafka's own converters make the first letter of a field's name small, and no other."""
    apis = [each for each in schemas(release).values() if each.get("apiKey") in API_MODULES]
    names = set().union(*map(_raw_names, apis))
    wrong = {name: kafkas_name(_snake(name)) for name in names}
    assert {name: ours for name, ours in wrong.items() if ours != name[0].lower() + name[1:]} == {}
