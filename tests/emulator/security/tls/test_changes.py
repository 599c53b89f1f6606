"""Key stores set at run time: the same ones are taken and refused as by a real Kafka 4.3.1."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.security.tls.certificates import Certificates
from odradek.wire import Error

from tests.requests.configs import change_request
from tests.support.connection import Connection

PREFIX = "listener.name.ssl.ssl.keystore."
FAILED = (
    "Invalid value org.apache.kafka.common.config.ConfigException: "
    "Validation of dynamic config update of SSLFactory failed: "
)
MADE = Certificates()
FIRST, SECOND = MADE.server(), MADE.server()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores, good and bad ones."""
    made = tmp_path_factory.mktemp("stores")
    FIRST.write(made / "first.pem")
    SECOND.write(made / "second.pem")
    SECOND.write_pkcs12(made / "second.p12", "changeit")
    MADE.expired().write(made / "expired.pem")
    MADE.foreign().server().write(made / "foreign.pem")
    (made / "mismatch.pem").write_text(FIRST.key + SECOND.chain)
    (made / "garbage.pem").write_text("garbage")
    return made


@pytest.fixture
def kafka(folder: Path) -> Iterator[Emulator]:
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        f"{PREFIX}type": "PEM",
        f"{PREFIX}location": str(folder / "first.pem"),
    }
    with Emulator(config) as made:
        yield made


def alter(kafka: Emulator, **texts: str) -> tuple[int, str]:
    """Error and message."""
    changes = [(PREFIX + name, 0, text) for name, text in texts.items()]
    with Connection(kafka.bootstrap_servers) as client:
        answer = client.ask(change_request((4, "1", changes)), 1)
    (found,) = answer.responses
    return found.error_code, found.error_message or ""


def shown(kafka: Emulator) -> str:
    """The certificate that the listener shows, as PEM."""
    place = kafka.run(lambda cluster: cluster.nodes[1].listeners["SSL"])
    return ssl.get_server_certificate(place, timeout=30)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"location": "none.pem"}, "ssl.keystore.location: .*No such file"),
        ({"location": "garbage.pem"}, "ssl.keystore: key and certificates cannot be read"),
        ({"type": "NOPE", "location": "second.pem"}, "ssl.keystore.type: there is no type"),
        (
            {"type": "PKCS12", "location": "second.p12", "password": "wrong"},
            "ssl.keystore.location: it is no PKCS#12 file",
        ),
        ({"type": "PKCS12", "location": "second.p12"}, "ssl.keystore.location: it is no PKCS#12"),
    ],
)
def test_a_store_that_cannot_be_used_is_refused(
    kafka: Emulator, folder: Path, texts: dict[str, str], why: str
) -> None:
    code, message = alter(kafka, **{**texts, "location": str(folder / texts["location"])})
    assert code == Error.INVALID_REQUEST
    assert message.startswith(FAILED)
    assert message.endswith(" for configuration Invalid dynamic configuration")
    assert re.search(why, message)
    assert shown(kafka) in FIRST.chain


@pytest.mark.parametrize("name", ["second", "expired", "foreign"])
def test_others_are_taken_and_shown(kafka: Emulator, folder: Path, name: str) -> None:
    path = folder / f"{name}.pem"
    assert alter(kafka, location=str(path)) == (0, "")
    assert shown(kafka) in path.read_text()


def test_a_key_of_another_certificate_is_taken_and_not_shown(kafka: Emulator, folder: Path) -> None:
    assert alter(kafka, location=str(folder / "mismatch.pem")) == (0, "")
    assert shown(kafka) in FIRST.chain
