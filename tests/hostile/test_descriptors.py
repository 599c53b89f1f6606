"""A process may have few descriptors: the broker lives with what there is, and says so once."""

from __future__ import annotations

import resource
from contextlib import ExitStack

from tests.hostile.attacks.sockets import HEARTBEAT, metadata_of
from tests.hostile.support.broker import Broker
from tests.hostile.support.clients import Hostile, Polite
from tests.hostile.support.run import FINISH_S
from tests.hostile.support.setups import VICTIM, now_batch, partitions
from tests.requests.fetch import asked, fetch_all
from tests.requests.produce import produce_all

FEW = 120


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW))


def test_more_partitions_than_descriptors_can_be_written() -> None:
    with Broker(before=few_descriptors) as broker, Hostile(broker.address) as hostile:
        partitions(broker.target, 2 * FEW)
        entries = ((VICTIM, number, now_batch(b"x")) for number in range(2 * FEW))
        answer = hostile.ask(produce_all(*entries), 9)
        codes = {each.error_code for each in answer.responses[0].partition_responses}
        assert codes == {0}


def very_few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def test_sixty_four_descriptors_are_enough_for_five_hundred_partitions() -> None:
    with Broker(before=very_few_descriptors) as broker, Hostile(broker.address) as hostile:
        partitions(broker.target, 500)
        for _ in range(2):
            entries = ((VICTIM, number, now_batch(b"x")) for number in range(500))
            answer = hostile.ask(produce_all(*entries), 9)
            codes = {each.error_code for each in answer.responses[0].partition_responses}
            assert codes == {0}
        fetched = hostile.ask(fetch_all((VICTIM, [asked(number) for number in range(500)])), 12)
        assert {each.error_code for each in fetched.responses[0].partitions} == {0}
        assert broker.stop() == 0
        assert broker.log == ""


def test_clients_that_take_every_descriptor_leave_the_logs_theirs() -> None:
    with Broker(before=few_descriptors) as broker, Hostile(broker.address) as hostile:
        partitions(broker.target, 2 * FEW)
        with ExitStack() as stack:
            for _ in range(FEW + 10):
                stack.enter_context(Hostile(broker.address))
            entries = ((VICTIM, number, now_batch(b"x")) for number in range(2 * FEW))
            answer = hostile.ask(produce_all(*entries), 9)
        codes = {each.error_code for each in answer.responses[0].partition_responses}
        assert codes == {0}


def test_running_out_at_accept_is_said_once_and_harms_nobody_who_is_there() -> None:
    with Broker(before=few_descriptors) as broker:
        polite = Polite(broker.address)
        polite.start()
        with ExitStack() as stack:
            for _ in range(FEW + 10):
                stack.enter_context(Hostile(broker.address))
            polite.finish(FINISH_S)
        with Hostile(broker.address) as new:
            assert new.ask(metadata_of(VICTIM), 9).topics[0].error_code == 3
        assert len(broker.log.splitlines()) == 1


def test_clients_that_leave_before_their_answers_are_no_news() -> None:
    with Broker() as broker:
        with broker.target.held():
            for _ in range(20):
                with Hostile(broker.address) as leaving:
                    leaving.send(HEARTBEAT * 20)
        with Hostile(broker.address) as other:
            for _ in range(20):
                other.ask(metadata_of(VICTIM), 9)
        assert broker.log == ""
