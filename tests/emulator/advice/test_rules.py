"""Each rule of advice: provoked by what a client does wrong, and silent where it does right."""

from __future__ import annotations

from typing import Any

from odradek.emulator.advice.advise import advise
from odradek.emulator.advice.rules import RULES
from odradek.emulator.cluster import Cluster
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.fetch import fetch
from tests.requests.groups import leave_request, stable
from tests.requests.offsets import LATEST, look_up
from tests.requests.produce import batch, produce, produce_request
from tests.support.cluster import Client, client_of
from tests.support.transactional_producer import TxnClient

from .support import advised, rules, text


def test_a_consumer_that_was_not_closed(cluster: Cluster, app: Client) -> None:
    stable(app)
    app.connection.lost()
    assert text(cluster) == (
        "consumer app was not closed: group g waits for it until its session times out, and gives "
        "its partitions to nobody before. Call consumer.close(), also when the test fails."
    )


def test_a_consumer_that_is_open_when_the_test_ends(cluster: Cluster, app: Client) -> None:
    stable(app)
    assert rules(cluster) == []
    cluster.telling.tell_open_members()
    assert rules(cluster) == ["not closed"]


def test_a_consumer_that_has_left(cluster: Cluster, app: Client) -> None:
    member = stable(app)
    app.ask(leave_request(member.member_id), 3)
    app.connection.lost()
    assert rules(cluster) == []


def test_a_consumer_whose_connection_breaks_and_that_comes_back(
    cluster: Cluster, app: Client
) -> None:
    member = stable(app)
    app.connection.lost()
    again = client_of(cluster, "app")
    again.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id=member.member_id), 3)
    again.ask(leave_request(member.member_id), 3)
    again.connection.lost()
    assert rules(cluster) == []


def test_commits_of_each_record(cluster: Cluster, app: Client) -> None:
    for offset in range(1, 10):
        commit(app, offset)
    assert rules(cluster) == []  # nine
    commit(app, 10)
    assert text(cluster) == (
        "app commits each record of t by itself: 10 commits of one record each in group g. Commit "
        "once for each batch that poll returns, or let enable.auto.commit=true do it."
    )


def test_commits_of_batches(cluster: Cluster, app: Client) -> None:
    for offset in range(5, 200, 5):
        commit(app, offset)
    assert rules(cluster) == []


def test_read_uncommitted_on_a_transactional_topic(cluster: Cluster, app: Client) -> None:
    producer = TxnClient(cluster).begin()
    producer.write(b"x")
    producer.end(commit=True)
    fetch(app, isolation_level=1)
    fetch(app, partition=1, isolation_level=0)
    assert rules(cluster) == []
    fetch(app, isolation_level=0)
    assert text(cluster) == (
        "app reads t, which is written in transactions, with isolation.level=read_uncommitted: it "
        "gets records that may be aborted. Set isolation.level=read_committed."
    )


def starts(cluster: Cluster, app: Client, **more: Any) -> None:
    committed(app)
    fetch(app, look_up(app, LATEST).offset, **more)


def test_a_consumer_that_starts_at_the_end(cluster: Cluster, app: Client) -> None:
    produce(client_of(cluster, "shop"), batch(b"x", b"y"))
    starts(cluster, app)
    assert text(cluster) == (
        "app began to read t-0 at its end (offset 2) and has missed the 2 records before. Set "
        "auto.offset.reset=earliest, or produce after it was assigned its partitions (group g)."
    )


def test_a_consumer_that_starts_at_the_end_of_nothing(cluster: Cluster, app: Client) -> None:
    starts(cluster, app)
    assert rules(cluster) == []


def test_a_consumer_that_goes_on_at_a_committed_offset(cluster: Cluster, app: Client) -> None:
    produce(client_of(cluster, "shop"), batch(b"x", b"y"))
    commit(app, 2)
    starts(cluster, app)
    assert rules(cluster) == []


def test_a_consumer_that_reads_the_rest_later(cluster: Cluster, app: Client) -> None:
    produce(client_of(cluster, "shop"), batch(b"x", b"y"))
    starts(cluster, app)
    fetch(app, 0)
    assert rules(cluster) == []


def test_a_topic_that_was_created_on_demand(cluster: Cluster, app: Client) -> None:
    asked = [MetadataRequest.Topic(name="orders")]
    app.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=True), 9)
    assert text(cluster) == (
        "topic orders was created because app asked for it: a misspelled name would go unnoticed, "
        'and it has 1 partition. Create it first, kafka.create_topic("orders"), or set '
        "auto.create.topics.enable=false."
    )


def test_acks_0(cluster: Cluster, app: Client) -> None:
    for _ in range(2):
        app.send(produce_request(batch(b"x"), acks=0), 9)
    assert text(cluster) == (
        "app produces with acks=0: it does not hear of records that were not stored. Set acks=all."
    )


def test_a_transaction_that_times_out(cluster: Cluster) -> None:
    TxnClient(cluster).begin(timeout_ms=1000).write(b"x")
    cluster.advance(20_000)
    cluster.settle()
    assert text(cluster) == (
        "the transaction of x was aborted: open for longer than its timeout, 1000 ms; until then, "
        "consumers that read committed records wait at its first one. Call commit_transaction or "
        "abort_transaction, also when the test fails."
    )


def test_a_transaction_that_nobody_will_end(cluster: Cluster) -> None:
    producer = TxnClient(cluster).begin()
    producer.write(b"x")
    assert rules(cluster) == []  # it goes on
    producer.client.connection.lost()
    assert "was left open when its producer was closed" in text(cluster)


def test_a_retry_storm(cluster: Cluster, app: Client) -> None:
    for _ in range(19):
        fetch(app, 5)
    assert rules(cluster) == []
    fetch(app, 5)
    (advice,) = advised(cluster)
    assert advice.text.startswith("app was refused the same Fetch 20 times in ")
    assert advice.help == "do not retry, for this error stays: look for its cause"


def test_an_older_protocol(cluster: Cluster, app: Client) -> None:
    app.send(produce_request(batch(b"x")), 2)
    assert text(cluster) == (
        "app speaks an older protocol than this release serves (ProduceRequest v2 is not served). "
        'Use a newer client, or Emulator(version="3.9"), which serves older ones.'
    )


def test_each_is_told_once(cluster: Cluster, app: Client) -> None:
    for _ in range(2):
        app.send(produce_request(batch(b"x"), acks=0), 9)
        create = [MetadataRequest.Topic(name="orders")]
        asks = MetadataRequest(topics=create, allow_auto_topic_creation=True)
        client_of(cluster, "other").ask(asks, 9)
    assert rules(cluster) == ["auto-created", "acks=0"]


def test_without_a_broker_events_are_enough(cluster: Cluster, app: Client) -> None:
    app.send(produce_request(batch(b"x"), acks=0), 9)
    assert [each.rule for each in advise(cluster.journal.events())] == ["acks=0"]


def test_each_rule_says_when_it_speaks() -> None:
    assert all(rule.__doc__ for rule in RULES)
