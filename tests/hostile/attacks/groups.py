"""Groups: expressions that take long, members that are many, or do not come back."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random

from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest

from tests.hostile.attacks import attack
from tests.hostile.attacks.sockets import send_and_read
from tests.hostile.support.clients import Hostile, create_topics, frame
from tests.hostile.support.setups import VICTIM, coordinators, until
from tests.hostile.support.target import Target
from tests.requests.groups import join_request

WATCHED_S = 0.5


def long_names(target: Target, count: int) -> None:
    """So many topics of long names, and coordinators."""
    drawn = Random(1)
    runs = ["a" * (249 - number) for number in range(min(count, 200))]
    others = ["".join(drawn.choices("ab", k=249)) for _ in range(count - len(runs))]
    create_topics(target.address, runs + others)
    coordinators(target, count)


def subscribe(target: Target, *expressions: str) -> None:
    """A group for each expression; watched for a while, in which they are looked up."""
    with ExitStack() as stack:
        for number, expression in enumerate(expressions):
            member = stack.enter_context(Hostile(target.address))
            request = ConsumerGroupHeartbeatRequest(
                group_id=f"hostile-{number}",
                member_id=f"hostile-{number}",
                member_epoch=0,
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=[],
                subscribed_topic_regex=expression,
                topic_partitions=[],
            )
            until(member, request, 1, lambda answer: answer.error_code not in (14, 15, 16))
        time.sleep(WATCHED_S)


@attack(test=100, full=500, setup=long_names)
def an_expression_of_nested_counts(target: Target, _: int) -> None:
    """A subscription that was thirty thousand instructions once it was unrolled."""
    subscribe(target, "(((a{0,9}){0,9}){0,9}){0,9}b")


@attack(test=30, full=500, setup=long_names)
def expressions_that_take_long(target: Target, _: int) -> None:
    """Subscriptions that take a minute each, however they are followed."""
    subscribe(target, ".*a.{100}c", "(a?[ab]){83}x", "[ab]?" * 500)


@attack(test=30, full=500, setup=long_names)
def expressions_in_brackets(target: Target, _: int) -> None:
    """As deep as the wire lets them be."""
    subscribe(target, "(" * 250 + "a" + ")" * 250, "(?:" * 8000 + "a" + ")" * 8000)


def long_ids(target: Target, count: int) -> None:
    """Transactional ids of three hundred letters."""
    coordinators(target, count)
    drawn = Random(1)
    with Hostile(target.address) as hostile:
        for _ in range(count):
            name = "".join(drawn.choices("ab", k=300))
            request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000)
            until(hostile, request, 4, lambda answer: answer.error_code == 0)


@attack(test=1, full=300, setup=long_ids)
def a_pattern_of_transactional_ids(target: Target, _: int) -> None:
    """ListTransactions by an expression that takes long."""
    request = ListTransactionsRequest(
        state_filters=[], producer_id_filters=[], transactional_id_pattern=".*a.{100}c"
    )
    with Hostile(target.address) as hostile:
        hostile.ask(request, 2)


@attack(test=3_000, full=50_000, setup=coordinators, memory_max_mb=20)
def members_that_never_come_back(target: Target, count: int) -> None:
    """JoinGroup that is told a member id, and nothing after it."""
    with Hostile(target.address) as hostile:
        request = join_request(group_id=VICTIM, session_timeout_ms=300_000)
        send_and_read(hostile, frame(request, 7), count)


@attack(test=40, full=500, setup=coordinators)
def members_of_one_group(target: Target, count: int) -> None:
    """Many members join one group at once, each telling ten kilobytes."""
    request = join_request(
        group_id=VICTIM,
        metadata=bytes(10_000),
        session_timeout_ms=300_000,
        rebalance_timeout_ms=300_000,
    )
    with ExitStack() as stack:
        members = [stack.enter_context(Hostile(target.address)) for _ in range(count)]
        for member in members:
            member.send(frame(request, 3))
        members[0].read(1)
