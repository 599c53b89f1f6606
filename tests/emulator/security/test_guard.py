"""What a guard takes out of requests, where the table of operations does not tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from odradek.emulator.base.release import KAFKA_4_3
from odradek.emulator.cluster import Cluster
from odradek.emulator.groups import runtime
from odradek.emulator.guards.guard import RULES, Guard
from odradek.emulator.security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from odradek.storage import MemoryDisk
from odradek.wire import Error, primitives
from odradek.wire.api import request_class
from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.requests.committed_offsets import commit_all
from tests.requests.consumer_groups import beat_request
from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce_request
from tests.requests.transactions import init_request
from tests.security.clients import ADMIN, client_as, make, open_secured
from tests.support.cluster import Client
from tests.wire.support.messages import full

Users = Callable[[str], Client]


def rule(
    operation: Operation,
    kind: Kind,
    name: str,
    user: str = "alice",
    pattern: Pattern = Pattern.LITERAL,
    host: str = "*",
) -> Acl:
    return Acl(kind, name, pattern, f"User:{user}", host, operation, Permission.ALLOW)


def ready(user: Users) -> Client:
    """The super user, once groups and transactions have their coordinators."""
    admin = user("admin")
    for kind in (0, 1):
        admin.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=["g"]), 4)
    return admin


def test_answers_of_one_user_are_not_given_to_another(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    make(cluster, rule(Operation.DESCRIBE, Kind.TOPIC, "t"))
    request = MetadataRequest(topics=None)
    for name, topics in (("admin", ["t"]), ("alice", ["t"]), ("bob", []), ("alice", ["t"])):
        assert [topic.name for topic in user(name).ask(request, 9).topics] == topics


def test_a_super_user_is_answered_without_a_guard_as_with_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers(*, is_exempt: bool) -> Iterator[Any]:
        monkeypatch.setattr(runtime, "uuid4", lambda: UUID(int=1))
        monkeypatch.setattr(primitives, "urandom", Random(1).randbytes)
        monkeypatch.setattr(Guard, "exempts", lambda *_: is_exempt)
        cluster = open_secured(MemoryDisk().directory(), offsets_topic_num_partitions="1")
        cluster.create_topic("t", 1, {})
        cluster.groups.ensure_topic()
        for key in sorted(RULES.keys() & KAFKA_4_3.advertised.keys()):
            api, (_, version) = request_class(key), cluster.release.advertised[key]
            for request in (api(), full(api, version)):
                admin = client_as(cluster, ADMIN)
                admin.send(request, version)
                yield request, admin.is_closed, admin.answers()

    with_guard = list(answers(is_exempt=False))
    for one, other in zip(answers(is_exempt=True), with_guard, strict=True):
        assert one == other


def test_a_change_counts_on_open_connections(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    alice = user("alice")
    request = MetadataRequest(topics=None)
    assert alice.ask(request, 9).topics == []
    make(cluster, rule(Operation.READ, Kind.TOPIC, "t"))
    assert len(alice.ask(request, 9).topics) == 1


def test_coordinators_are_named_in_the_order_in_which_they_were_asked_for(
    cluster: Cluster, user: Users
) -> None:
    ready(user)
    make(cluster, rule(Operation.DESCRIBE, Kind.GROUP, "g"))
    for keys in (["h", "i", "h"], ["h", "g", "h", "g", "i"]):
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=keys)
        found = user("alice").ask(request, 4).coordinators
        assert [each.key for each in found] == keys
        expected = [Error.NONE if key == "g" else Error.GROUP_AUTHORIZATION_FAILED for key in keys]
        assert [each.error_code for each in found] == expected


def test_a_session_asks_anew_for_each_fetch(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    make(cluster, rule(Operation.READ, Kind.TOPIC, "t"))
    alice = user("alice")
    request = fetch_request(asked(), session_epoch=0, max_wait_ms=0)
    first = alice.ask(request, 12)
    assert first.responses[0].partitions[0].error_code == Error.NONE
    again = fetch_request(session_id=first.session_id, session_epoch=1, max_wait_ms=0)
    again.topics = []
    denial = rule(Operation.READ, Kind.TOPIC, "t")._replace(permission=Permission.DENY)
    make(cluster, denial)
    refused = alice.ask(again, 12).responses[0].partitions[0]
    assert refused.error_code == Error.TOPIC_AUTHORIZATION_FAILED
    assert (refused.high_watermark, refused.aborted_transactions) == (-1, [])


def test_a_produce_without_an_answer_closes_the_connection(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    alice = user("alice")
    alice.send(produce_request(batch(b"x"), acks=0), 9)
    assert (alice.answers(), alice.is_closed) == ([], True)


def test_part_of_a_produce_is_carried_out(cluster: Cluster, user: Users) -> None:
    from tests.requests.produce import produce_all

    for name in ("mine", "other"):
        cluster.create_topic(name, 1, {})
    make(cluster, rule(Operation.WRITE, Kind.TOPIC, "mine"))
    request = produce_all(("mine", 0, batch(b"x")), ("other", 0, batch(b"y")))
    answer = user("alice").ask(request, 9)
    errors = {each.name: each.partition_responses[0].error_code for each in answer.responses}
    assert errors == {"mine": Error.NONE, "other": Error.TOPIC_AUTHORIZATION_FAILED}
    ends = [cluster.partition(name, 0).log.log_end_offset for name in ("mine", "other")]
    assert ends == [1, 0]


def test_a_topic_that_is_named_twice_is_one_beside_one_that_is_refused(
    cluster: Cluster, user: Users
) -> None:
    """As 4.3.1 answers, also where no partition of the refused one is named."""
    for name in ("mine", "other"):
        cluster.create_topic(name, 1, {})
    ready(user)
    make(cluster, rule(Operation.READ, Kind.TOPIC, "mine"), rule(Operation.READ, Kind.GROUP, "g"))
    asked_ = OffsetCommitRequest.Topic
    part = asked_.Partition(partition_index=0, committed_offset=1, committed_metadata="")
    mine = [asked_(name="mine", partitions=[part])] * 2
    for others in ([], [part]):
        topics = [asked_(name="other", partitions=others), *mine]
        answer = user("alice").ask(OffsetCommitRequest(group_id="g", topics=topics), 9)
        found = [(t.name, [p.error_code for p in t.partitions]) for t in answer.topics]
        refused = [Error.TOPIC_AUTHORIZATION_FAILED] * len(others)
        assert found == [("other", refused), ("mine", [Error.NONE, Error.NONE])]
    answer = user("alice").ask(OffsetCommitRequest(group_id="g", topics=mine), 9)
    assert [(t.name, len(t.partitions)) for t in answer.topics] == [("mine", 1), ("mine", 1)]


def test_lists_leave_out_what_may_not_be_seen(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    admin = ready(user)
    for group in ("g", "h"):
        admin.ask(commit_all(("t", 0, 1), group=group), 8)
    for name in ("x", "y"):
        admin.ask(init_request(name), 4)
    alice = user("alice")
    make(
        cluster,
        rule(Operation.DESCRIBE, Kind.GROUP, "g"),
        rule(Operation.DESCRIBE, Kind.TRANSACTIONAL_ID, "y"),
    )
    assert [each.group_id for each in alice.ask(ListGroupsRequest(), 4).groups] == ["g"]
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    states = alice.ask(request, 0).transaction_states
    assert [each.transactional_id for each in states] == ["y"]
    make(cluster, rule(Operation.DESCRIBE, Kind.CLUSTER, "kafka-cluster"))
    groups = {each.group_id for each in alice.ask(ListGroupsRequest(), 4).groups}
    assert groups == {"g", "h"}


def test_all_offsets_are_those_of_topics_that_may_be_seen(cluster: Cluster, user: Users) -> None:
    for name in ("t", "u"):
        cluster.create_topic(name, 1, {})
    ready(user).ask(commit_all(("t", 0, 1), ("u", 0, 2)), 8)
    make(cluster, rule(Operation.READ, Kind.GROUP, "g"), rule(Operation.READ, Kind.TOPIC, "u"))
    request = OffsetFetchRequest(groups=[OffsetFetchRequest.Group(group_id="g", topics=None)])
    answer = user("alice").ask(request, 9)
    assert [topic.name for topic in answer.groups[0].topics] == ["u"]


def test_topics_that_may_not_be_created_are_not(cluster: Cluster, user: Users) -> None:
    """Also where what is left of the request, no topics, asks for all of them."""
    cluster.create_topic("t", 1, {})
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="u")])
    for version in (0, 4):
        answer = user("alice").ask(request, version)
        found = [(topic.name, topic.error_code) for topic in answer.topics]
        assert found == [("u", Error.TOPIC_AUTHORIZATION_FAILED)]
        assert len(answer.brokers) == 1
    assert [topic.name for topic in cluster.topics] == ["t"]


def test_an_expression_finds_only_topics_that_may_be_seen(cluster: Cluster, user: Users) -> None:
    for name in ("pay.in", "pay.out"):
        cluster.create_topic(name, 1, {})
    make(
        cluster,
        rule(Operation.READ, Kind.GROUP, "g"),
        rule(Operation.READ, Kind.TOPIC, "pay.in"),
    )
    alice = user("alice")
    admin = ready(user)
    alice.ask(beat_request(subscribed_topic_names=None, subscribed_topic_regex="pay.*"), 1)
    cluster.advance(20_000)
    alice.ask(beat_request(epoch=1), 1)
    request = ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False)
    (group,) = admin.ask(request, 1).groups
    target = group.members[0].target_assignment.topic_partitions
    assert [topic.topic_name for topic in target] == ["pay.in"]


def test_coordinators_stand_in_the_order_of_the_request(cluster: Cluster, user: Users) -> None:
    ready(user)
    make(cluster, rule(Operation.DESCRIBE, Kind.GROUP, "g"))
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["h", "g", "i"])
    found = user("alice").ask(request, 4).coordinators
    assert [(each.key, each.error_code) for each in found] == [("h", 30), ("g", 0), ("i", 30)]


def test_a_rule_for_another_host_does_not_count(cluster: Cluster, user: Users) -> None:
    cluster.create_topic("t", 1, {})
    make(cluster, rule(Operation.DESCRIBE, Kind.TOPIC, "t", host="10.0.0.1"))
    alice = user("alice")
    assert alice.ask(MetadataRequest(topics=None), 9).topics == []
    alice.connection.client_host = "10.0.0.1"
    assert len(alice.ask(MetadataRequest(topics=None), 9).topics) == 1
