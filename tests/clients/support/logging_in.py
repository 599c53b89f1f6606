"""A broker that wants log-ins, Odradek or a real Kafka, with the same listeners, users and
certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from odradek import Emulator
from odradek.compat.cli.main import main as command
from odradek.compat.real_kafka import RealKafka
from odradek.compat.real_kafka.process import free_ports
from odradek.emulator.security.clients import Access, access_settings
from odradek.emulator.security.login.scram import HASHES
from odradek.emulator.security.mechanisms import KNOWN, LoginModule, written
from odradek.emulator.security.security import LogInFailure
from odradek.emulator.security.tls.certificates import Certificate, Certificates

USER, PASSWORD = "alice", "alice's secret"
TOPIC = "t"
LISTENERS = {
    "PLAINTEXT": "PLAINTEXT",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "SASL_SSL": "SASL_SSL",
    "REFUSING": "SASL_PLAINTEXT",
    "SSL": "SSL",
    "EXPIRED": "SSL",
    "WRONG_HOST": "SSL",
    "FOREIGN": "SSL",
}
"""SSL wants a certificate; the last three show one that no client is to trust. REFUSING is for
passwords that are wrong: clients try them again and again."""
_MODULES = "org.apache.kafka.common.security"


class LogIns(NamedTuple):
    """A broker with those listeners."""

    addresses: Mapping[str, str]
    certificates: Certificates
    all_failures: Callable[[], list[LogInFailure]] | None
    """What it says of log-ins that have failed; None of a real Kafka, which only logs them."""

    def failures(self, listener: str, since: float) -> list[LogInFailure]:
        """Those at a listener from a time on (`time.time()`)."""
        found = self.all_failures() if self.all_failures is not None else []
        return [each for each in found if each.listener == listener and each.time >= since * 1000]

    def settings(
        self,
        listener: str,
        mechanism: str | None = None,
        *,
        user: str = USER,
        password: str = PASSWORD,
        certificate: Certificate | None = None,
    ) -> dict[str, Any]:
        """What librdkafka wants to be told."""
        protocol = LISTENERS[listener]
        ca = self.certificates.ca if protocol.endswith("SSL") else None
        access = Access(protocol, mechanism, user, password, ca, certificate)
        return access_settings("confluent", access)


def _configs(certificates: Certificates, ports: Mapping[str, int], home: Path) -> dict[str, str]:
    found = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(map(":".join, LISTENERS.items())),
        "sasl.enabled.mechanisms": ",".join(KNOWN),
        "listener.name.ssl.ssl.client.auth": "required",
    }
    plain = written(LoginModule(f"{_MODULES}.plain.PlainLoginModule", {f"user_{USER}": PASSWORD}))
    for name in ("sasl_plaintext", "sasl_ssl", "refusing"):
        at = f"listener.name.{name}"
        found[f"{at}.plain.sasl.jaas.config"] = plain
        for mechanism in HASHES:
            module = f"{_MODULES}.scram.ScramLoginModule required;"
            found[f"{at}.{mechanism.lower()}.sasl.jaas.config"] = module
        module = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;"
        found[f"{at}.oauthbearer.sasl.jaas.config"] = module
    shown = {name: certificates.server() for name in ("sasl_ssl", "ssl")}
    shown |= {"expired": certificates.expired(), "wrong_host": certificates.wrong_host()}
    shown["foreign"] = certificates.foreign().server()
    trusted = certificates.write_ca(home / "ca.pem")
    for name, certificate in shown.items():
        at = f"listener.name.{name}.ssl"
        found[f"{at}.keystore.type"] = found[f"{at}.truststore.type"] = "PEM"
        found[f"{at}.keystore.location"] = str(certificate.write(home / f"{name}.pem"))
        found[f"{at}.truststore.location"] = str(trusted)
    return found


@contextmanager
def logging_in(kind: str) -> Iterator[LogIns]:
    """Odradek ("odradek") or a real Kafka ("real"), with the user and the topic. Raises
    Unavailable."""
    with TemporaryDirectory() as home:
        of_kind = _real if kind == "real" else _emulated
        with of_kind(Certificates(), Path(home)) as found:
            at = found.addresses["PLAINTEXT"]
            for mechanism in HASHES:
                words = ["users", at, "add", USER, "--password", PASSWORD]
                assert command([*words, "--mechanism", mechanism]) == 0
            assert command(["topics", at, "create", TOPIC]) == 0
            yield found


@contextmanager
def _emulated(certificates: Certificates, home: Path) -> Iterator[LogIns]:
    with Emulator(_configs(certificates, dict.fromkeys(LISTENERS, 0), home)) as kafka:
        node = kafka.run(lambda cluster: cluster.nodes[1])
        addresses = {name: "{}:{}".format(*node.at(name)) for name in LISTENERS}
        yield LogIns(addresses, certificates, lambda: list(kafka.log_in_failures))


@contextmanager
def _real(certificates: Certificates, home: Path) -> Iterator[LogIns]:
    controller, *numbers = free_ports(len(LISTENERS) + 1)
    ports = dict(zip(LISTENERS, numbers, strict=True))
    config = _configs(certificates, ports, home)
    config["listeners"] += f",CONTROLLER://127.0.0.1:{controller}"
    config["listener.security.protocol.map"] += ",CONTROLLER:PLAINTEXT"
    with RealKafka(config=config, ports=(ports["PLAINTEXT"], controller)):
        addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        yield LogIns(addresses, certificates, None)
