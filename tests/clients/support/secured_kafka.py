"""A real Kafka whose listeners want TLS and a log-in, an authorizer, and certificates for it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from odradek.compat import RealKafka, Unavailable
from odradek.compat.real_kafka.process import free_ports

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_BEARER = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker";'
)
_LISTENERS = ("SASL_SSL", "SASL_PLAINTEXT", "SSL")


def certificates(folder: Path) -> dict[str, Path]:
    """An authority `ca`, and `server` (localhost and 127.0.0.1) and `client` (CN=alice) by it, each
    file with its key; `other` is another authority. Raises Unavailable."""
    if shutil.which("openssl") is None:
        raise Unavailable("there is no openssl, which makes certificates")
    for name, subject in (("ca", "/CN=authority"), ("other", "/CN=another")):
        _openssl(folder, f"req -x509 -newkey rsa:2048 -nodes -days 30 -subj {subject} "
                 f"-keyout {name}.key -out {name}.crt")  # fmt: skip
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name, subject in (("server", "/CN=localhost"), ("client", "/CN=alice")):
        _openssl(folder, f"req -newkey rsa:2048 -nodes -subj {subject} -keyout {name}.key "
                 f"-out {name}.csr")  # fmt: skip
        _openssl(folder, f"x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
                 f"-days 30 -extfile names -out {name}.crt")  # fmt: skip
        whole = (folder / f"{name}.key").read_text() + (folder / f"{name}.crt").read_text()
        (folder / f"{name}.pem").write_text(whole)
    return {name: folder / f"{name}.crt" for name in ("ca", "other")} | {
        name: folder / f"{name}.pem" for name in ("server", "client")
    }


def _openssl(folder: Path, line: str) -> None:
    subprocess.run(["openssl", *line.split()], cwd=folder, check=True, capture_output=True)


class SecuredKafka:
    """A RealKafka with the listeners PLAINTEXT, SASL_SSL, SASL_PLAINTEXT and SSL. Everybody who
    does not log in (PLAINTEXT) is a super user. PLAIN knows alice, whose password is alice-secret.
    """

    def __init__(self, folder: Path, config: Mapping[str, str] | None = None) -> None:
        self.certificates = certificates(folder)
        ports = free_ports(2 + len(_LISTENERS))
        self._ports = dict(zip(_LISTENERS, ports[2:], strict=True))
        listeners = [f"PLAINTEXT://127.0.0.1:{ports[0]}", f"CONTROLLER://127.0.0.1:{ports[1]}"]
        listeners += [f"{name}://127.0.0.1:{port}" for name, port in self._ports.items()]
        names = ("CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT", *(f"{n}:{n}" for n in _LISTENERS))
        own = {
            "listeners": ",".join(listeners),
            "listener.security.protocol.map": ",".join(names),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "connections.max.reauth.ms": "60000",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.certificates["server"]),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates["ca"]),
            "listener.name.ssl.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/,DEFAULT",
            **(config or {}),
        }
        for name in ("sasl_ssl", "sasl_plaintext"):
            at = f"listener.name.{name}"
            own[f"{at}.plain.sasl.jaas.config"] = f'{_PLAIN} user_alice="alice-secret";'
            own[f"{at}.scram-sha-256.sasl.jaas.config"] = _SCRAM
            own[f"{at}.scram-sha-512.sasl.jaas.config"] = _SCRAM
            own[f"{at}.oauthbearer.sasl.jaas.config"] = _BEARER
        self.kafka = RealKafka(config=own, ports=(ports[0], ports[1]))

    def address(self, listener: str = "PLAINTEXT") -> str:
        port = self._ports.get(listener)
        return self.kafka.bootstrap_servers if port is None else f"127.0.0.1:{port}"

    def __enter__(self) -> SecuredKafka:
        self.kafka.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kafka.close()
