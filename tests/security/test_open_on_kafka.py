"""`allow.everyone.if.no.acl.found`, at a real Kafka and at an Emulator: what no rule is about is
open to everybody."""

from __future__ import annotations

from odradek.emulator.security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from odradek.wire import Error
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.differential.engine.asker import Asker
from tests.requests.offsets import list_offsets_request
from tests.requests.topics import create_topics, new_topic

from .clients import create_request
from .secured import Secured, Started, on_both

USERS = ("alice", "bob", "admin")
TOPICS = ("free", "of.alice", "of.nobody", "elsewhere", "denied")
OPEN = {"allow.everyone.if.no.acl.found": "true"}
ANYBODY = "User:*"
RULES = (
    ("of.alice", Pattern.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW),
    ("of.", Pattern.PREFIXED, ANYBODY, "10.0.0.1", Operation.ALTER, Permission.ALLOW),
    ("elsewhere", Pattern.LITERAL, "User:bob", "10.0.0.1", Operation.ALL, Permission.ALLOW),
    ("denied", Pattern.LITERAL, "User:bob", "127.0.0.1", Operation.DESCRIBE, Permission.DENY),
)
REFUSED = Error.TOPIC_AUTHORIZATION_FAILED
MAY = {
    "alice": {"free": (0, 0), "of.alice": (0, REFUSED)},
    "bob": {"free": (0, 0)},
    "admin": dict.fromkeys(TOPICS, (0, 0)),
}
"""Errors of ListOffsets (DESCRIBE) and DeleteRecords (DELETE); of all others both are refused."""


@on_both(USERS, OPEN)
def test_what_no_rule_is_about_is_open(started: Started) -> None:
    with started() as broker:
        admin = broker.log_in("admin")
        create_topics(admin, *(new_topic(topic) for topic in TOPICS))
        admin.ask(create_request(*(Acl(Kind.TOPIC, *rule) for rule in RULES)), 3)
        broker.wait_for_acls(len(RULES))
        admin.close()
        found = {user: seen(broker, user) for user in USERS}
    refused = (REFUSED, REFUSED)
    assert found == {
        user: {topic: may.get(topic, refused) for topic in TOPICS} for user, may in MAY.items()
    }


def seen(broker: Secured, user: str) -> dict[str, tuple[int, int]]:
    client = broker.log_in(user)
    found = {topic: (listed(client, topic), deleted(client, topic)) for topic in TOPICS}
    client.close()
    return found


def listed(client: Asker, topic: str) -> int:
    request: ListOffsetsRequest = list_offsets_request(-1, topic=topic)
    error: int = client.ask(request, 7).topics[0].partitions[0].error_code
    return error


def deleted(client: Asker, topic: str) -> int:
    of_topic = DeleteRecordsRequest.Topic
    asked = of_topic(name=topic, partitions=[of_topic.Partition(partition_index=0, offset=0)])
    answer = client.ask(DeleteRecordsRequest(topics=[asked], timeout_ms=9000), 2)
    error: int = answer.topics[0].partitions[0].error_code
    return error
