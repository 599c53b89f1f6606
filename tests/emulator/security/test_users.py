"""Who is given to an emulator may log in, with the last password that was given or set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.wire_client.security.sasl import exchange
from odradek.compat.wire_client.security.settings import ClientSecurity
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.listener_configs import ListenerConfig
from odradek.emulator.security.login.exchange import LoginFailed
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest

from tests.support.connection import Connection

LISTENER = "OPEN://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
CONFIG = {
    "listeners": LISTENER,
    "listener.security.protocol.map": "OPEN:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def let_in(kafka: Emulator, password: str) -> list[str]:
    """By which mechanisms alice may log in with a password."""

    def done(mechanism: str, cluster: Cluster) -> bool:
        config = ListenerConfig(cluster.config, "SASL_PLAINTEXT")
        broker = cluster.security.begin(config, mechanism, 0)
        client = exchange(ClientSecurity("SASL_PLAINTEXT", mechanism, "alice", password))
        token = next(client)
        try:
            while not broker.is_complete:
                answer = broker.receive(token, 0)
                if not broker.is_complete:
                    token = client.send(answer)
        except LoginFailed:
            return False
        return True

    return [each for each in MECHANISMS if kafka.run(partial(done, each))]


def delete(kafka: Emulator) -> None:
    """Have a client delete a credential of alice."""
    deletion = AlterUserScramCredentialsRequest.Deletion(name="alice", mechanism=1)
    with Connection(kafka.bootstrap_servers) as client:
        request = AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[])
        assert client.ask(request, 0).results[0].error_code == 0


def test_a_directory_takes_the_password_of_the_last_start(tmp_path: Path) -> None:
    with Emulator(CONFIG, users={"alice": "old"}, data_dir=tmp_path) as kafka:
        assert let_in(kafka, "old") == [*MECHANISMS]
        before = kafka.run(lambda cluster: cluster.metadata.image.scram["alice"][1])
    with Emulator(CONFIG, users={"alice": "old"}, data_dir=tmp_path) as kafka:
        assert kafka.run(lambda cluster: cluster.metadata.image.scram["alice"][1]) == before
    with Emulator(CONFIG, users={"alice": "new"}, data_dir=tmp_path) as kafka:
        assert let_in(kafka, "new") == [*MECHANISMS]
        assert let_in(kafka, "old") == []


def test_who_was_deleted_comes_back_by_a_reset_alone() -> None:
    with Emulator(CONFIG, users={"alice": "secret"}) as kafka:
        state = kafka.snapshot()
        delete(kafka)
        left = [each for each in MECHANISMS if each != "SCRAM-SHA-256"]
        assert let_in(kafka, "secret") == left
        kafka.restart()
        assert let_in(kafka, "secret") == left
        with kafka.fork() as other:
            assert let_in(other, "secret") == left
            other.restart()
            assert let_in(other, "secret") == left
        later = kafka.snapshot()
        kafka.restore(state)
        assert let_in(kafka, "secret") == [*MECHANISMS]
        kafka.restore(later)
        assert let_in(kafka, "secret") == left
        kafka.reset()
        assert let_in(kafka, "secret") == [*MECHANISMS]


def test_a_fork_has_topics_as_clients_have_left_them() -> None:
    with Emulator(topics={"orders": 1, "gone": 1}) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            more = CreatePartitionsRequest.Topic(name="orders", count=3, assignments=None)
            grown = CreatePartitionsRequest(topics=[more], timeout_ms=1000, validate_only=False)
            assert client.ask(grown, 2).results[0].error_code == 0
            deleted = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=1000)
            assert client.ask(deleted, 4).responses[0].error_code == 0
        with kafka.fork() as other:
            assert other.topics() == ["orders"]
            assert len(other.topic("orders")) == 3


@pytest.mark.parametrize("users", [{"alice": "\ud800"}, {"al\udfffice": "secret"}])
def test_what_is_no_text_is_refused(users: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot be written in UTF-8") as failed:
        Emulator(security="SASL_PLAINTEXT", users=users)
    assert "\ud800" not in str(failed.value)
