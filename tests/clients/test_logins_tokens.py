"""Stock clients get signed tokens from a token endpoint, and log in with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from odradek import Emulator, TokenEndpoint
from odradek.compat.real_kafka import VERSION, run_tool

ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"


@pytest.fixture
def tokens() -> Iterator[TokenEndpoint]:
    with TokenEndpoint({"alice": "alice's secret"}) as made:
        yield made


@pytest.fixture(params=["SASL_PLAINTEXT", "SASL_SSL"])
def kafka(tokens: TokenEndpoint, request: pytest.FixtureRequest) -> Iterator[Emulator]:
    with Emulator(tokens.broker_config, security=request.param, topics={"t": 1}) as made:
        yield made


def test_librdkafka_gets_its_token_from_an_endpoint(tokens: TokenEndpoint, kafka: Emulator) -> None:
    config = {**kafka.client_config("confluent"), **tokens.client_config("confluent", "alice")}
    producer = Producer(config)
    producer.produce("t", b"an order")
    assert producer.flush(30) == 0
    consumer = Consumer({**config, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t"])
    message = consumer.poll(30)
    assert message is not None
    assert message.value() == b"an order"
    consumer.close()
    assert "as User:alice" in kafka.timeline()
    assert not kafka.log_in_failures
    assert tokens.given == 2


def test_librdkafka_with_a_wrong_secret_gets_none(tokens: TokenEndpoint, kafka: Emulator) -> None:
    config = {**kafka.client_config("confluent"), **tokens.client_config("confluent", "alice")}
    said: list[str] = []
    producer = Producer(
        {
            **config,
            "sasl.oauthbearer.client.secret": "wrong",
            "error_cb": lambda error: said.append(error.str()),
        }
    )
    while not said:
        producer.poll(0.1)
    assert tokens.given == 0
    assert "wrong" not in "".join(said)


@pytest.mark.slow
def test_java_gets_its_token_from_an_endpoint(
    tokens: TokenEndpoint, kafka: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {**kafka.client_config("java"), **tokens.client_config("java", "alice")}
    lines = (f"{name}={str(text).replace(chr(10), chr(92) + 'n')}" for name, text in config.items())
    path = tmp_path / "client.properties"
    path.write_text("\n".join(lines))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-D{ALLOWED}={tokens.url}")
    options = ("--bootstrap-server", kafka.bootstrap_servers, "--command-config", str(path))
    done = run_tool(VERSION, "org.apache.kafka.tools.TopicCommand", *options, "--list")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "t" in done.stdout.split()
    assert tokens.given > 0
    assert not kafka.log_in_failures
