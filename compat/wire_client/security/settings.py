"""TLS and the log-in by a client's properties, by Kafka's names and librdkafka's.

Rules:
- Without `security.protocol` a connection is plain. A mechanism without SASL in the protocol, or
  the reverse, is refused: one of the two would silently be without effect.
- User and password are those of `sasl.jaas.config` (Kafka) or `sasl.username` and `sasl.password`
  (librdkafka).
- Secrets are in no repr and in no error.

Source: the documentation of Kafka's client configs, librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
NAMES = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.token",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.truststore.type",
    "ssl.truststore.password",
    "ssl.keystore.location",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.type",
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "enable.ssl.certificate.verification",
)
"""The properties that are obeyed. Others of a client are about other things."""
_JAAS = re.compile(r"""([A-Za-z0-9_.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s;]+))""")
_UNSECURED_CLAIM = "unsecuredLoginStringClaim_"


class SecurityError(Exception):
    """A property that is wrong or cannot be obeyed, by its name."""


@dataclass(frozen=True)
class Pem:
    """Certificates or a key: a file, or the text itself."""

    file: str = ""
    text: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return bool(self.file or self.text)


@dataclass(frozen=True)
class ClientSecurity:
    """How connections are made: by which protocol, and who logs in."""

    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    authorities: Pem = Pem()
    certificate: Pem = Pem()
    key: Pem = Pem()
    key_password: str = field(default="", repr=False)
    checks_name: bool = True
    checks_certificate: bool = True

    @property
    def has_tls(self) -> bool:
        return self.protocol.endswith("SSL")

    @property
    def has_login(self) -> bool:
        return self.protocol.startswith("SASL")

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ClientSecurity:
        """The security by these properties; those that are not in NAMES are passed over. Raises
        SecurityError."""
        protocol = _protocol(settings)
        login = _login(settings, protocol)
        truststore = _store(settings, "truststore", "certificates")
        keystore = _store(settings, "keystore", "certificate.chain")
        algorithm = settings.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
        if algorithm not in ("https", "", "none"):
            raise SecurityError(
                f"ssl.endpoint.identification.algorithm is https or empty, not {algorithm!r}"
            )
        return cls(
            protocol=protocol,
            authorities=_pem(settings, "ssl.ca") or truststore,
            certificate=_pem(settings, "ssl.certificate") or keystore,
            key=_pem(settings, "ssl.key")
            or Pem(text=settings.get("ssl.keystore.key", ""))
            or keystore,
            key_password=settings.get("ssl.key.password", ""),
            checks_name=algorithm == "https",
            checks_certificate=_is_true(
                settings, "enable.ssl.certificate.verification", default=True
            ),
            **login,
        )


def check_names(names: Mapping[str, str]) -> None:
    """Raises SecurityError for a property that is not obeyed, with the likely one."""
    for name in names:
        if name not in NAMES:
            close = get_close_matches(name, NAMES, 1)
            hint = f"is {close[0]} meant?" if close else "those of sasl.* and ssl.* are"
            raise SecurityError(f"{name} is not obeyed here: {hint}")


def _protocol(settings: Mapping[str, str]) -> str:
    text = settings.get("security.protocol", "PLAINTEXT").strip().upper()
    if text not in PROTOCOLS:
        close = get_close_matches(text, PROTOCOLS, 1)
        hint = f"; is {close[0]} meant?" if close else ""
        raise SecurityError(f"security.protocol is one of {', '.join(PROTOCOLS)}: {text!r}{hint}")
    return text


def _login(settings: Mapping[str, str], protocol: str) -> dict[str, str]:
    mechanism = settings.get("sasl.mechanism", settings.get("sasl.mechanisms", "")).strip().upper()
    if not protocol.startswith("SASL"):
        if mechanism:
            raise SecurityError(
                f"sasl.mechanism is {mechanism}, and security.protocol is {protocol}: nobody would "
                f"log in; is SASL_{protocol} meant?"
            )
        return {}
    if not mechanism:
        raise SecurityError(f"security.protocol is {protocol}: name sasl.mechanism, too")
    if mechanism not in MECHANISMS:
        known = ", ".join(MECHANISMS)
        raise SecurityError(f"sasl.mechanism is one of {known}: {mechanism!r}")
    jaas = _jaas(settings.get("sasl.jaas.config", ""))
    user = settings.get("sasl.username", jaas.get("username", ""))
    if mechanism == "OAUTHBEARER":
        return {"mechanism": mechanism, **_token(settings, jaas)}
    if not user:
        raise SecurityError(f"{mechanism} needs sasl.jaas.config, or sasl.username and -password")
    password = settings.get("sasl.password", jaas.get("password", ""))
    return {"mechanism": mechanism, "username": user, "password": password}


def _jaas(text: str) -> dict[str, str]:
    if not text.strip():
        return {}
    found = {
        name: re.sub(r"\\(.)", r"\1", quoted) if quoted else single or bare
        for name, quoted, single, bare in _JAAS.findall(text)
    }
    if not re.match(r"\s*[\w.]+\s+(required|requisite|sufficient|optional)\b", text):
        raise SecurityError(
            'sasl.jaas.config is of the form MODULE required username="..." password="...";'
        )
    return found


def _token(settings: Mapping[str, str], jaas: Mapping[str, str]) -> dict[str, str]:
    """A token that was given, or an unsigned one of a name, as Kafka's clients make it."""
    from .sasl import unsigned_token

    if token := settings.get("sasl.oauthbearer.token", "").strip():
        return {"token": token}
    pairs = settings.get("sasl.oauthbearer.config", "").split()
    options = dict(pair.partition("=")[::2] for pair in pairs)
    name = options.get("principal") or jaas.get(f"{_UNSECURED_CLAIM}sub", "")
    if not name:
        raise SecurityError(
            "OAUTHBEARER needs sasl.oauthbearer.token, or for an unsigned one "
            "sasl.oauthbearer.config=principal=NAME"
        )
    return {"token": unsigned_token(name), "username": name}


def _pem(settings: Mapping[str, str], name: str) -> Pem:
    return Pem(settings.get(f"{name}.location", ""), settings.get(f"{name}.pem", ""))


def _store(settings: Mapping[str, str], store: str, inline: str) -> Pem:
    found = Pem(
        settings.get(f"ssl.{store}.location", ""), settings.get(f"ssl.{store}.{inline}", "")
    )
    kind = settings.get(f"ssl.{store}.type", "PEM" if _is_pem(found) else "JKS").strip().upper()
    if found and kind != "PEM":
        raise SecurityError(
            f"ssl.{store}.type {kind} is Java's: convert it to PEM, and set ssl.{store}.type=PEM. "
            f"keytool -importkeystore -srckeystore {found.file or 'FILE'} -destkeystore s.p12 "
            "-deststoretype PKCS12; openssl pkcs12 -in s.p12 -out s.pem"
        )
    return found


def _is_pem(pem: Pem) -> bool:
    return bool(pem.text) or pem.file.endswith((".pem", ".crt", ".cert", ".key"))


def _is_true(settings: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = settings.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise SecurityError(f"{name} is true or false, not {text!r}")
    return text == "true"
