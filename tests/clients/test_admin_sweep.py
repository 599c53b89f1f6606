"""Every public method of the stock admin clients, asked of a real Kafka and of ours: as one.

The calls are in `sweep_confluent`, `sweep_kafka_python` and `sweep_aiokafka`, in the order in which
they are made. A method that is in none of them, nor in `NOT_CALLED` with a reason, fails.
"""

from __future__ import annotations

from types import ModuleType

import pytest

pytest.importorskip("confluent_kafka", reason="unavailable: confluent-kafka")
pytest.importorskip("kafka.admin", reason="unavailable: kafka-python")
pytest.importorskip("aiokafka", reason="unavailable: aiokafka")

from odradek import Emulator
from odradek.compat import RealKafka

from tests.clients.support.admin_calls import aiokafka_calls as sweep_aiokafka
from tests.clients.support.admin_calls import confluent_calls as sweep_confluent
from tests.clients.support.admin_calls import kafka_python_calls as sweep_kafka_python
from tests.clients.support.admin_calls.sweep import Answers, ask, prepared, public_methods

SWEEPS = {
    "confluent-kafka": sweep_confluent,
    "kafka-python": sweep_kafka_python,
    "aiokafka": sweep_aiokafka,
}
CONFIG = {"group.initial.rebalance.delay.ms": "0"}
WRONG_CALL = ("TypeError", "ValueError", "AttributeError")  # nobody was asked
EVERY_CALL = [
    pytest.param(name, number, id=f"{name} {number:02} {call.method}")
    for name, sweep in SWEEPS.items()
    for number, call in enumerate(sweep.CALLS)
]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[Answers]]:
    """What both brokers answered, by client; each client finds new brokers."""
    return {name: _swept(sweep) for name, sweep in SWEEPS.items()}


def _swept(sweep: ModuleType) -> list[Answers]:
    with RealKafka(config=CONFIG) as kafka, Emulator(CONFIG) as emulator:
        addresses = kafka.bootstrap_servers, emulator.bootstrap_servers
        with prepared(addresses[0]), prepared(addresses[1]):
            real, ours = (sweep.client(address) for address in addresses)
            found = [ask(call, real, ours) for call in sweep.CALLS]
            sweep.close(real)
            sweep.close(ours)
            return found


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(("client", "number"), EVERY_CALL)
def test_a_call_brings_the_same(
    client: str, number: int, answers: dict[str, list[Answers]]
) -> None:
    real, ours = answers[client][number]
    assert ours == real
    if isinstance(real, list) and real:
        assert real[0] not in WRONG_CALL, real


@pytest.mark.parametrize("client", SWEEPS)
def test_no_method_is_left_out(client: str) -> None:
    sweep = SWEEPS[client]
    called = {call.method for call in sweep.CALLS}
    assert called | set(sweep.NOT_CALLED) == public_methods(sweep.methods())
    assert not called & set(sweep.NOT_CALLED)
