"""The two brokers: the same listeners, users and certificates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from odradek import Emulator
from odradek.compat.real_kafka import RealKafka
from odradek.compat.real_kafka.process import free_ports
from odradek.emulator.security.mechanisms import LoginModule, written
from odradek.emulator.security.tls.certificates import Certificates

PROTOCOLS = {
    "PLAINTEXT": "PLAINTEXT",
    "SASL": "SASL_PLAINTEXT",
    "SHORT": "SASL_PLAINTEXT",
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "LIMITED": "PLAINTEXT",
}
"""The listeners. Sessions at SHORT end; LIMITED has few connections."""
LIMITED_CONNECTIONS = 2
FEW, FEW_CONNECTIONS = "127.0.0.9", 2
"""An address that may have few connections."""
OFTEN = "127.0.0.8"
"""An address that may seldom connect (users.py)."""
SHORT_MS = 3000
PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "a,b=c": "odd"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_MODULES = "org.apache.kafka.common.security"
CERTIFICATES = Certificates()
_SERVER = CERTIFICATES.server()


class Address(NamedTuple):
    """Where both brokers have a listener."""

    host: str
    port: int


def _configs(ports: Mapping[str, int]) -> dict[str, str]:
    users = {f"user_{name}": password for name, password in PASSWORDS.items() if name.isalpha()}
    plain = written(LoginModule(f"{_MODULES}.plain.PlainLoginModule", users))
    scram = f"{_MODULES}.scram.ScramLoginModule required;"
    bearer = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;"
    found = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(map(":".join, PROTOCOLS.items())),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "delegation.token.secret.key": "a secret",
        "ssl.principal.mapping.rules": "RULE:^CN=(mapped),.*$/$1/U,DEFAULT",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.tls.ssl.client.auth": "requested",
        "listener.name.limited.max.connections": str(LIMITED_CONNECTIONS),
        "max.connections.per.ip.overrides": f"{FEW}:{FEW_CONNECTIONS}",
    }
    for name in ("sasl", "short"):
        prefix = f"listener.name.{name}."
        found[f"{prefix}plain.sasl.jaas.config"] = plain
        found[f"{prefix}scram-sha-256.sasl.jaas.config"] = scram
        found[f"{prefix}scram-sha-512.sasl.jaas.config"] = scram
        found[f"{prefix}oauthbearer.sasl.jaas.config"] = bearer
    for mechanism in MECHANISMS:
        name = f"listener.name.short.{mechanism.lower()}.connections.max.reauth.ms"
        found[name] = str(SHORT_MS)
    pem = {"keystore.type": "PEM", "keystore.key": _SERVER.key, "truststore.type": "PEM"}
    pem |= {"keystore.certificate.chain": _SERVER.chain}
    pem |= {"truststore.certificates": CERTIFICATES.ca}
    for name in ("tls", "mutual"):
        found |= {f"listener.name.{name}.ssl.{key}": text for key, text in pem.items()}
    return found


@contextmanager
def emulated() -> Iterator[dict[str, Address]]:
    """The emulator, and where its listeners are."""
    with Emulator(_configs(dict.fromkeys(PROTOCOLS, 0))) as kafka:
        node = kafka.run(lambda cluster: cluster.nodes[1])
        yield {name: Address(*node.at(name)) for name in PROTOCOLS}


@contextmanager
def real() -> Iterator[dict[str, Address]]:
    """A real Kafka, and where its listeners are. Raises Unavailable."""
    controller, *numbers = free_ports(len(PROTOCOLS) + 1)
    ports = dict(zip(PROTOCOLS, numbers, strict=True))
    config = _configs(ports)
    config["listeners"] += f",CONTROLLER://127.0.0.1:{controller}"
    config["listener.security.protocol.map"] += ",CONTROLLER:PLAINTEXT"
    with TemporaryDirectory() as home:
        # In its file of properties a text has no end of line.
        files = {
            "keystore": _SERVER.write(Path(home, "key.pem")),
            "truststore": CERTIFICATES.write_ca(Path(home, "ca.pem")),
        }
        config = {name: text for name, text in config.items() if "\n" not in text}
        for name in ("tls", "mutual"):
            prefix = f"listener.name.{name}.ssl"
            config |= {f"{prefix}.{store}.location": str(path) for store, path in files.items()}
        with RealKafka(config=config, ports=(ports["PLAINTEXT"], controller)):
            yield {name: Address("127.0.0.1", port) for name, port in ports.items()}
