"""The registry itself: what it keeps in `_schemas`, and what it does when that is odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.schema_registry.errors import named
from odradek.compat.schema_registry.store import State
from odradek.compat.schema_registry.subjects import begins, beside, is_valid, subject_of
from odradek.compat.wire_client.blocking_connection import Connection

from .compare import Answer, ask
from .draw import Ask
from .serving import registry

_INT, _STRING = {"schema": '"int"'}, {"schema": '"string"'}


def _post(url: str, path: str, body: Any) -> Answer:
    return ask(url, Ask("POST", path, body))


def _get(url: str, path: str) -> Any:
    return ask(url, Ask("GET", path)).body


def test_its_topic_has_confluents_records_and_is_enough_to_start_from() -> None:
    with Emulator() as kafka:
        with registry(kafka.bootstrap_servers) as first:
            _post(first.url, "/subjects/a/versions", _INT)
            ask(first.url, Ask("PUT", "/config/a", {"compatibility": "NONE"}))
            _post(first.url, "/subjects/a/versions", _STRING)
            ask(first.url, Ask("DELETE", "/subjects/a/versions/1"))
            _post(first.url, "/subjects/:.b:c/versions", _INT)
        topic = kafka["_schemas"]
        assert [(record.key, record.value) for record in topic.records()][:3] == [
            (
                b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}',
                b'{"subject":"a","version":1,"id":1,"schemaType":"AVRO","schema":"\\"int\\"",'
                b'"deleted":false}',
            ),
            (
                b'{"keytype":"CONFIG","subject":"a","magic":0}',
                b'{"subject":"a","compatibilityLevel":"NONE"}',
            ),
            (
                b'{"keytype":"SCHEMA","subject":"a","version":2,"magic":1}',
                b'{"subject":"a","version":2,"id":2,"schemaType":"AVRO","schema":"\\"string\\"",'
                b'"deleted":false}',
            ),
        ]
        topic.compact()
        with registry(kafka.bootstrap_servers) as second:
            assert _get(second.url, "/subjects/a/versions?deleted=true") == [1, 2]
            assert _get(second.url, "/subjects/a/versions") == [2]
            assert _get(second.url, "/config/a") == {"compatibilityLevel": "NONE"}
            assert _get(second.url, "/contexts") == [".", ".b"]
            assert _post(second.url, "/subjects/d/versions", {"schema": '"long"'}).body["id"] == 3


def test_two_registries_over_one_topic_see_each_other() -> None:
    with (
        Emulator() as kafka,
        registry(kafka.bootstrap_servers) as one,
        registry(kafka.bootstrap_servers) as other,
    ):
        assert _post(one.url, "/subjects/a/versions", _INT).body["id"] == 1
        assert _get(other.url, "/subjects/a/versions") == [1]
        assert _post(other.url, "/subjects/a/versions", _INT).body["version"] == 1
        kafka.delete_topic("_schemas")
        assert _get(one.url, "/subjects") == []
        assert _post(other.url, "/subjects/b/versions", _STRING).body["id"] == 1
        assert _get(one.url, "/subjects") == ["b"]


def test_records_of_others_in_the_topic_are_passed_over() -> None:
    state = State()
    odd = ((None, b"{}"), (b"no json", b""), (b'{"keytype":"NEW"}', b"{}"), (b"[]", None))
    for key, value in (*odd, (b'{"keytype":"SCHEMA","subject":"a","version":1}', b'{"id":1}')):
        state.replay(key, value, 0)
    state.replay(b'{"keytype":"NOOP","magic":0}', None, 0)
    assert state.ignored == 5
    assert state.subjects == {}


BODIES = {
    "": (422, 422),
    "{": (400, 400),
    "[]": (400, 400),
    '{"schema": 5}': (400, 400),
    '{"schema": "\\"int\\"", "references": [{}]}': (422, 42201),
    '{"schema": "\\"int\\"", "id": "x"}': (400, 400),
    '{"schema": "\\"int\\"", "metadata": 5}': (400, 400),
    json.dumps({"schema": "[" * 5_000}): (422, 42201),
    json.dumps({"schema": '{"type":"array","items":' * 90 + '"x"' + "}" * 90}): (422, 42201),
    "[" * 100_000: (400, 400),
    json.dumps({"schema": json.dumps({"type": "map", "values": "int", "x": "y" * (2 << 20)})}): (
        422,
        42209,
    ),
}


def test_no_body_makes_it_fail() -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    with registry() as served:
        for body, expected in BODIES.items():
            url = f"{served.url}/subjects/a/versions"
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(url, body.encode(), method="POST"), timeout=30)
            said = json.loads(refused.value.read())
            assert (refused.value.code, said["error_code"]) == expected, body[:80]
        assert _get(served.url, "/subjects") == []


def test_references_in_circles_end() -> None:
    with registry() as served:
        ask(served.url, Ask("PUT", "/config", {"compatibility": "NONE"}))
        for subject, other in (("a", "b"), ("b", "a")) * 2:
            reference = {"name": "N", "subject": other, "version": 1}
            there = _get(served.url, "/subjects")
            body = {**_INT, "references": [reference] if other in there else []}
            answer = _post(served.url, f"/subjects/{subject}/versions", body)
            assert answer.status == 200, answer
        assert ask(served.url, Ask("DELETE", "/subjects/a")).body["error_code"] == 42206


def test_subjects_are_of_contexts() -> None:
    assert subject_of(":.c:a") == (".c", "a")
    assert subject_of("a:b") == (".", "a:b")
    assert beside(":.c:a", "b") == ":.c:b"
    assert beside(":.c:a", ":.:b") == "b"
    assert begins(":.c:orders", ":*:or")
    assert not begins(":.c:orders", "or")
    assert [is_valid(each) for each in ("a", "", " ", "a\n", "__GLOBAL")] == [True, *[False] * 4]


def test_a_url_may_be_of_a_context() -> None:
    with registry() as served:
        of = f"{served.url}/contexts/.staging"
        assert _post(of, "/subjects/a/versions", _INT).body["id"] == 1
        assert _post(served.url, "/subjects/b/versions", _STRING).body["id"] == 1
        assert _get(served.url, "/subjects") == [":.staging:a", "b"]
        assert _get(of, "/subjects") == [":.staging:a"]
        assert _get(of, "/schemas/ids/1")["schema"] == '"int"'
        assert _get(served.url, "/schemas/ids/1")["schema"] == '"string"'
        assert _get(of, "/subjects/a/versions/latest")["subject"] == ":.staging:a"
        assert _get(f"{served.url}/contexts/:.staging:", "/subjects/a/versions") == [1]
        assert ask(of, Ask("PUT", "/config", {"compatibility": "FULL"})).status == 200
        assert _get(of, "/config") == {"compatibilityLevel": "FULL"}
        assert _get(of, "/config/a?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
        assert _get(served.url, "/config") == {"compatibilityLevel": "BACKWARD"}
        assert _get(served.url, "/contexts") == [".", ".staging"]
        client = SchemaRegistryClient({"url": of})
        assert client.get_latest_version("a").version == 1


def test_the_newest_of_some_metadata_is_found() -> None:
    with registry() as served:
        for text, major in (("int", "1"), ("long", "1"), ("double", "2")):
            body = {"schema": f'"{text}"', "metadata": {"properties": {"major": major}}}
            assert _post(served.url, "/subjects/a/versions", body).status == 200
        asked = "/subjects/a/metadata?key=major&value="
        assert _get(served.url, asked + "1")["version"] == 2
        assert _get(served.url, asked + "2")["schema"] == '"double"'
        assert _get(served.url, asked + "3")["error_code"] == 40403
        assert _get(served.url, "/subjects/b/metadata?key=a&value=b")["error_code"] == 40401
        client = SchemaRegistryClient({"url": served.url})
        assert client.get_latest_with_metadata("a", {"major": "1"}).version == 2


def test_a_kafka_that_is_too_old_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Connection, "_ask_versions", lambda _: {3: (0, 1), 18: (0, 0)})
    with Emulator() as kafka:
        assert main(["registry", "--of", kafka.bootstrap_servers, "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("odradek: the Kafka at ")
    assert "does not serve what a registry needs: " in said
    assert "serves Metadata 0 to 1" in said
    assert len(said.splitlines()) == 1


def test_an_error_is_named_as_it_is() -> None:
    assert (named("no_subject").status, named("no_subject").code) == (404, 40401)
    with pytest.raises(ValueError, match="no such error: 'x'; there are no_subject"):
        named("x")


def test_a_stock_consumer_reads_the_topic() -> None:
    with Emulator() as kafka, registry(kafka.bootstrap_servers) as served:
        _post(served.url, "/subjects/a/versions", _INT)
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"})
        consumer.assign([TopicPartition("_schemas", 0, 0)])
        message = consumer.poll(20)
        assert message is not None
        assert json.loads(message.key() or b"")["keytype"] == "SCHEMA"
        consumer.close()


def test_subjects_are_shown_and_checked_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "a.avsc", tmp_path / "b.avsc"
    good.write_text('{"type": "record", "name": "A", "fields": []}')
    bad.write_text('"int"')
    with registry() as served:

        def said(*given: str, status: int = 0) -> str:
            assert main(["schemas", *given, "--registry", served.url]) == status
            out = capsys.readouterr()
            return out.err if status and not out.out else out.out

        assert said("register", "a", str(good)) == "a: id 1\n"
        assert said("list").splitlines()[1].split() == ["a", "1", "1", "AVRO"]
        assert json.loads(said("show", "a")) == json.loads(good.read_text())
        assert said("check", "a", str(good)) == f"{good} may be the next version of a\n"
        why = said("check", "a", str(bad), status=1)
        assert "may not be the next version of a:" in why
        assert "TYPE_MISMATCH" in why
        assert "incompatible with an earlier schema" in said("register", "a", str(bad), status=1)
        assert "Subject 'b' not found." in said("show", "b", status=1)
        assert "a schema is a file of .avsc" in said("check", "a", "x.txt", status=1)
        assert "check needs a schema" in said("check", "a", status=2)
