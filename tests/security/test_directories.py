"""A data directory that goes from an Emulator to a real Kafka and back takes its rules along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from odradek.compat import Unavailable
from odradek.emulator.security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from odradek.wire.api.delete_acls import DeleteAclsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest

from tests.differential.engine.asker import Asker
from tests.requests.offsets import list_offsets_request

from .clients import ADMIN, create_request
from .secured import ALL_ACLS, Secured, SecuredEmulator, SecuredKafka, until

USERS = ("alice", "bob", ADMIN)
TOPICS = ("orders", "orders.eu", "bills")


@pytest.mark.real
@pytest.mark.slow
def test_rules_go_from_one_to_the_other_and_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with SecuredEmulator(USERS, data) as ours:
        kafka = ours.emulator
        for topic in TOPICS:
            kafka.create_topic(topic)
        kafka.allow("alice", "READ", topic_prefix="orders")
        kafka.deny("alice", "DESCRIBE", topic="orders.eu")
        kafka.allow("bob", "ALL", topic="bills", host="127.0.0.1")
        kafka.allow("bob", "READ", topic="orders", host="10.9.8.7")
        kafka.remove_acl(kafka.allow("bob", "DESCRIBE", topic="orders"))
        seen, rules = _seen(ours), _rules(ours)
    assert seen == {"alice": ["orders"], "bob": ["bills"]}
    real = SecuredKafka(USERS, data)
    try:
        real.start()
    except Unavailable as reason:
        pytest.skip(f"unavailable: {reason}")
    with real:
        assert (_seen(real), _rules(real)) == (seen, rules)
        _change(real)
        until(lambda: len(_rules(real)) == len(rules))
        changed = _rules(real)
        assert changed != rules
        now_seen = _seen(real)
    assert now_seen == {"alice": ["orders", "orders.eu"], "bob": ["orders", "bills"]}
    with SecuredEmulator(USERS, data) as ours:
        assert (_seen(ours), _rules(ours)) == (now_seen, changed)


def _change(broker: Secured) -> None:
    """The denial goes, and one more rule comes."""
    admin = broker.log_in(ADMIN)
    denials = DeleteAclsRequest.Filter(
        resource_type_filter=Kind.ANY,
        resource_name_filter=None,
        pattern_type_filter=Pattern.ANY,
        principal_filter=None,
        host_filter=None,
        operation=Operation.ANY,
        permission_type=Permission.DENY,
    )
    (found,) = admin.ask(DeleteAclsRequest(filters=[denials]), 3).filter_results
    assert len(found.matching_acls) == 1
    bob = (Pattern.LITERAL, "User:bob", "*", Operation.DESCRIBE, Permission.ALLOW)
    admin.ask(create_request(Acl(Kind.TOPIC, "orders", *bob)), 3)
    admin.close()


def _seen(broker: Secured) -> dict[str, list[str]]:
    """The topics that each user may describe."""
    found = {}
    for user in USERS[:2]:
        client = broker.log_in(user)
        found[user] = [topic for topic in TOPICS if _may_describe(client, topic)]
        client.close()
    return found


def _may_describe(client: Asker, topic: str) -> bool:
    request: ListOffsetsRequest = list_offsets_request(-1, topic=topic)
    answer = client.ask(request, 7)
    assert answer.topics[0].partitions[0].error_code in (0, 29)
    return bool(answer.topics[0].partitions[0].error_code == 0)


def _rules(broker: Secured) -> set[tuple[Any, ...]]:
    admin = broker.log_in(ADMIN)
    resources = admin.ask(ALL_ACLS, 3).resources
    admin.close()
    return {
        (each.resource_type, each.resource_name, each.pattern_type, *_entry(acl))
        for each in resources
        for acl in each.acls
    }


def _entry(acl: Any) -> tuple[str, str, int, int]:
    return acl.principal, acl.host, acl.operation, acl.permission_type
