"""allow, deny, remove_acl and acls: rules from Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator
from odradek.emulator.base.client import Principal
from odradek.emulator.security.authorizer.terms import Kind, Operation

from tests.support.cluster import client_of


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with Emulator(acls=True, topics={"orders": 1}) as kafka:
        yield kafka


@pytest.fixture
def kafka(running: Emulator) -> Emulator:
    running.remove_acl(running.acls())
    return running


def _may(kafka: Emulator, user: str, operation: str, kind: str, name: str) -> bool:
    """Whether a user may do this."""

    def found(cluster: object) -> bool:
        authorizer = kafka.cluster.authorizer
        assert authorizer is not None
        who = Principal("User", user)
        return authorizer.may(who, "127.0.0.1", Operation[operation], Kind[kind], name)

    return kafka.run(found)


def test_what_is_allowed_is_allowed_and_nothing_else(kafka: Emulator) -> None:
    kafka.allow("alice", "READ", topic="orders", group="billing")
    assert _may(kafka, "alice", "READ", "TOPIC", "orders")
    assert _may(kafka, "alice", "DESCRIBE", "TOPIC", "orders")
    assert _may(kafka, "alice", "READ", "GROUP", "billing")
    assert not _may(kafka, "alice", "WRITE", "TOPIC", "orders")
    assert not _may(kafka, "bob", "READ", "TOPIC", "orders")


def test_a_prefix_everybody_and_a_denial(kafka: Emulator) -> None:
    kafka.allow("*", ["read", "Write"], topic_prefix="pay.")
    kafka.deny("User:bob", "write", topic="pay.in")
    assert _may(kafka, "bob", "READ", "TOPIC", "pay.in")
    assert not _may(kafka, "bob", "WRITE", "TOPIC", "pay.in")
    assert _may(kafka, "bob", "WRITE", "TOPIC", "pay.out")
    assert not _may(kafka, "bob", "READ", "TOPIC", "pa")


def test_rules_print_as_kafka_acls_prints_them(kafka: Emulator) -> None:
    kafka.allow("alice", "READ", topic="orders")
    kafka.deny("bob", "ALL", topic="orders", host="10.0.0.7")
    kafka.allow("alice", "IDEMPOTENT_WRITE", cluster=True)
    assert str(kafka.acls()) == (
        "Current ACLs for resource "
        "`ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:\n"
        "\t(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)\n"
        "\t(principal=User:bob, host=10.0.0.7, operation=ALL, permissionType=DENY)\n"
        "Current ACLs for resource "
        "`ResourcePattern(resourceType=CLUSTER, name=kafka-cluster, patternType=LITERAL)`:\n"
        "\t(principal=User:alice, host=*, operation=IDEMPOTENT_WRITE, permissionType=ALLOW)"
    )


def test_rules_are_found_by_whom_and_what_they_concern(kafka: Emulator) -> None:
    orders = kafka.allow("alice", "READ", topic="orders")
    prefix = kafka.allow("bob", "READ", topic_prefix="ord")
    group = kafka.allow("alice", "READ", group="g")
    cluster = kafka.allow("alice", "ALTER", cluster=True)
    assert kafka.acls("alice") == [*orders, *group, *cluster]
    assert kafka.acls(topic="orders") == [*orders, *prefix]
    assert kafka.acls("bob", topic="orders") == prefix
    assert kafka.acls(cluster=True) == cluster
    assert kafka.acls("nobody") == []


def test_rules_are_removed_as_they_were_made_and_as_they_are_found(kafka: Emulator) -> None:
    made = kafka.allow("alice", ["READ", "WRITE"], topic="orders")
    kafka.allow("alice", "READ", group="g")
    assert kafka.remove_acl(made[0]) == made[:1]
    assert kafka.acls(topic="orders") == made[1:]
    assert kafka.remove_acl(principal="alice", topic="orders") == made[1:]
    assert len(kafka.acls()) == 1
    with pytest.raises(ValueError, match=r"there is no such rule; there are:\nCurrent ACLs"):
        kafka.remove_acl(made)
    with pytest.raises(ValueError, match="takes rules, or a principal or resource"):
        kafka.remove_acl()


@pytest.mark.parametrize(
    ("given", "what", "sentence"),
    [
        ({"operation": "produce"}, {"topic": "t"}, "no operation 'produce'; do you mean WRITE"),
        ({"operation": "REED"}, {"topic": "t"}, "no operation 'REED'; do you mean READ"),
        ({"operation": "WRITE"}, {"group": "g"}, "a group has no operation WRITE; it has READ"),
        ({"operation": "READ"}, {"cluster": True}, "a cluster has no operation READ; it has CREA"),
        ({"operation": "READ"}, {}, "say what it is about: topic=, topic_prefix="),
        ({"operation": "READ"}, {"topic": ""}, "topic is a name, or"),
        ({"operation": "READ", "principal": " "}, {"topic": "t"}, "principal is a name, or"),
        ({"operation": "READ"}, {"topic": "ord*"}, r"'ord\*'; do you mean topic_prefix='ord'"),
        ({"operation": "READ"}, {"topic_prefix": "ord*"}, "do you mean topic_prefix='ord'"),
        ({"operation": "READ"}, {"topic_prefix": "*"}, r'all topics are topic="\*"'),
        ({"operation": "READ"}, {"topic": ["a", "b c"]}, "no topic can be called 'b c'$"),
        ({"operation": "READ", "host": "localhost"}, {"topic": "t"}, "host is an IP address, or"),
        ({"operation": "READ", "host": "10.0.0.0/8"}, {"topic": "t"}, "networks are not looked"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    kafka: Emulator, given: dict[str, str], what: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        kafka.allow(**{"principal": "alice", **given}, **what)  # type: ignore[arg-type]
    assert kafka.acls() == []


def test_wrong_types_are_refused(kafka: Emulator) -> None:
    with pytest.raises(TypeError, match='principal is a str, "alice" or "User:alice", not 5'):
        kafka.allow(5, "READ", topic="t")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="topic is a str, or several of them, not 5"):
        kafka.allow("alice", "READ", topic=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cluster is True or False, not 'yes'"):
        kafka.allow("alice", "ALTER", cluster="yes")  # type: ignore[arg-type]


def test_without_an_authorizer_it_is_said_how_to_have_one() -> None:
    with Emulator() as kafka:
        for verb in (
            lambda: kafka.allow("alice", "READ", topic="t"),
            lambda: kafka.deny("alice", "READ", topic="t"),
            lambda: kafka.acls(),
            lambda: kafka.remove_acl(principal="alice"),
        ):
            with pytest.raises(RuntimeError, match=r"write Emulator\(acls=True\)"):
                verb()


def test_rules_stay_over_a_restart(tmp_path: object) -> None:
    with Emulator(acls=True, data_dir=str(tmp_path)) as kafka:
        made = kafka.allow("alice", "READ", topic="orders")
    with Emulator(acls=True, data_dir=str(tmp_path)) as kafka:
        assert kafka.acls() == made


def test_the_test_itself_is_not_subject_to_them(kafka: Emulator) -> None:
    kafka.create_topic("its-own")
    kafka.delete_topic("its-own")


def test_a_denial_is_told_with_the_rule_that_comes_closest(kafka: Emulator) -> None:
    from odradek.wire.api.metadata import MetadataRequest

    kafka.allow("alice", "DESCRIBE", topic="orders")
    kafka.allow("alice", "READ", topic="invoices")

    def ask(cluster: object) -> None:
        client = client_of(kafka.cluster)
        client.connection.principal = Principal("User", "alice")
        client.send(MetadataRequest(topics=[MetadataRequest.Topic(name="invoice")]), 9)

    kafka.run(ask)
    told = [event.sentence for event in kafka.events if event.kind == "denied"]
    assert told[-1] == (
        "test was denied: alice may not DESCRIBE topic invoice: no ACL allows it; "
        "closest: User:alice may READ topic invoices"
    )
