"""The settings with which a stock client connects: protocol, user, certificates, by its own names.

Certificates are given as texts, so that there are no files: as PEM, or, to clients in Python, as an
`ssl.SSLContext`.
"""

from __future__ import annotations

import ssl
import tempfile
from typing import Any, NamedTuple

from .login import oauthbearer
from .mechanisms import PLAIN, LoginModule, written
from .tls.certificates import Certificate

_MODULES = "org.apache.kafka.common.security"
_PYTHON = ("aiokafka", "kafka-python")
_JAVA = ("java", "spark")


class Access(NamedTuple):
    protocol: str
    mechanism: str | None = None
    user: str = ""
    password: str = ""
    ca: str | None = None
    """The certificates that it is to trust, as PEM; None for those that it trusts anyhow."""
    certificate: Certificate | None = None
    """Its own certificate."""

    def __repr__(self) -> str:
        return f"<access by {self.protocol}>"


def access_settings(client: str, access: Access) -> dict[str, Any]:
    """Settings by the client's names. Raises ValueError for what has no such setting."""
    if client in _PYTHON:
        return _of_python(client, access)
    return _of_java(access) if client in _JAVA else _of_librdkafka(access)


def _of_librdkafka(access: Access) -> dict[str, Any]:
    found: dict[str, Any] = {"security.protocol": access.protocol}
    if access.mechanism is not None:
        found["sasl.mechanism"] = access.mechanism
        if access.mechanism == oauthbearer.NAME:
            found["enable.sasl.oauthbearer.unsecure.jwt"] = True
            found["sasl.oauthbearer.config"] = f"principal={access.user}"
        else:
            found |= {"sasl.username": access.user, "sasl.password": access.password}
    if access.ca is not None:
        found["ssl.ca.pem"] = access.ca
    if access.certificate is not None:
        found["ssl.certificate.pem"] = access.certificate.chain
        found["ssl.key.pem"] = access.certificate.key
    return found


def _of_java(access: Access) -> dict[str, Any]:
    found = {"security.protocol": access.protocol}
    if access.mechanism is not None:
        found["sasl.mechanism"] = access.mechanism
        found["sasl.jaas.config"] = written(_module(access))
    if access.ca is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": access.ca}
    if access.certificate is not None:
        found["ssl.keystore.type"] = "PEM"
        found["ssl.keystore.certificate.chain"] = access.certificate.chain
        found["ssl.keystore.key"] = access.certificate.key
    return found


def _module(access: Access) -> LoginModule:
    if access.mechanism == oauthbearer.NAME:
        name = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule"
        return LoginModule(name, {"unsecuredLoginStringClaim_sub": access.user})
    kind = "plain.Plain" if access.mechanism == PLAIN else "scram.Scram"
    options = {"username": access.user, "password": access.password}
    return LoginModule(f"{_MODULES}.{kind}LoginModule", options)


def _of_python(client: str, access: Access) -> dict[str, Any]:
    found: dict[str, Any] = {"security_protocol": access.protocol}
    if access.mechanism == oauthbearer.NAME:
        how = "sasl_oauth_token_provider, whose token() returns kafka.unsecured_token(user)"
        raise ValueError(f"{client} takes no setting for OAUTHBEARER: give it {how}")
    if access.mechanism is not None:
        found["sasl_mechanism"] = access.mechanism
        found["sasl_plain_username"] = access.user
        found["sasl_plain_password"] = access.password
    if access.protocol.endswith("SSL"):
        found["ssl_context"] = client_context(access.ca, access.certificate)
    return found


def client_context(ca: str | None, certificate: Certificate | None) -> ssl.SSLContext:
    """A context for a client that trusts this authority, and shows this certificate."""
    context = ssl.create_default_context(cadata=ca)
    if certificate is not None:
        # OpenSSL reads keys from files alone. Only their owner may read these.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(certificate.key + certificate.chain)
            file.flush()
            context.load_cert_chain(file.name)
    return context
