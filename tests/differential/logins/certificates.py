"""Cases of TLS, agreed on or not: who is known by a certificate, who is refused, which versions."""

from __future__ import annotations

import ssl
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from odradek.emulator.security.tls.certificates import Certificate
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_delegation_token import CreateDelegationTokenRequest
from odradek.wire.api.metadata import MetadataRequest

from .brokers import CERTIFICATES
from .talk import Case, Open

_VERSIONS = ApiVersionsRequest(client_software_name="app", client_software_version="1")
_WITH = " with "
BARE = " without TLS"
"""After the name of a listener: connect as to one without TLS."""
_SHOWN = {
    "a certificate": CERTIFICATES.client("Client", organization="probe", unit="unit"),
    "a mapped one": CERTIFICATES.client("mapped", organization="probe", unit="unit"),
    "a foreign one": CERTIFICATES.foreign().client("alice"),
}
_PROTOCOLS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def shows(listener: str, *what: str) -> str:
    """After the name of a listener: connect with this certificate, or version of TLS."""
    return _WITH.join((listener, *what))


def context_of(name: str) -> tuple[str, ssl.SSLContext]:
    """The listener, and how to connect to it, without looking at its certificate."""
    listener, *what = name.split(_WITH)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for each in what:
        if each in _PROTOCOLS:
            context.minimum_version = context.maximum_version = _PROTOCOLS[each]
        else:
            _load(context, _SHOWN[each])
    return listener, context


def _load(context: ssl.SSLContext, certificate: Certificate) -> None:
    with TemporaryDirectory() as home:
        context.load_cert_chain(certificate.write(Path(home, "own.pem")))


def _principal(opened: Open, listener: str, what: str) -> list[str]:
    """Who a token would be for, which the broker says of who asks for one."""
    talk = opened(shows(listener, what))
    request = CreateDelegationTokenRequest(
        owner_principal_type=None, owner_principal_name=None, renewers=[], max_lifetime_ms=-1
    )
    answer = talk.ask(request, 3)
    talk.close()
    return [] if answer is None else [f"{answer.error_code} {answer.principal_name}"]


def _at(shown: tuple[str, ...], opened: Open) -> list[str]:
    """Whether it is served. By which words differs in TLS 1.3: OpenSSL's alerts are not Java's."""
    try:
        talk = opened(shows(*shown))
    except OSError as error:
        reason = getattr(error, "reason", "") if "TLSv1.2" in shown else ""
        return [f"refused {reason}".rstrip()]
    talk.ask(_VERSIONS, 3)
    talk.close()
    return ["refused" if talk.said == ["closed"] else "served"]


def _agreed(opened: Open, version: str) -> list[str]:
    talk = opened(shows("TLS", version))
    assert isinstance(talk.socket, ssl.SSLSocket)
    said = f"{talk.socket.version()} {talk.ask(_VERSIONS, 3) is not None}"
    talk.close()
    return [said]


def _own_address(opened: Open, listener: str) -> list[str]:
    """Whether Metadata names the listener that was asked."""
    talk = opened(listener)
    (broker,) = talk.ask(MetadataRequest(topics=[]), 9).brokers
    own = talk.socket.getpeername()
    talk.close()
    return [f"{(broker.host, broker.port) == own[:2]}"]


def _bare(data: bytes, listener: str = "TLS") -> Case:
    """Bytes without TLS."""

    def case(opened: Open) -> list[str]:
        talk = opened(f"{listener}{BARE}")
        talk.raw(data)
        talk.rest()
        talk.close()
        return talk.said

    return case


TLS_AGREED: dict[str, Case] = {
    "plain bytes to TLS": _bare(b"\0\0\0\x10" + bytes(16)),
    "HTTP to TLS": _bare(b"GET / HTTP/1.1\r\n\r\n"),
    "nothing to TLS": _bare(b""),
    "half a record to TLS": _bare(bytes.fromhex("160301")),
    "an old version to TLS": _bare(bytes.fromhex("160201020001")),
    "a hello of TLS to SASL": _bare(bytes.fromhex("16030102000100"), "SASL"),
    "a hello of TLS to plain text": _bare(bytes.fromhex("16030102000100"), "PLAINTEXT"),
    **{
        f"who is known by {what} at {listener}": partial(_principal, listener=listener, what=what)
        for listener in ("TLS", "MUTUAL")
        for what in ("a certificate", "a mapped one")
    },
    **{
        f"{what[0] if what else 'no certificate'} at {listener}, {version}": partial(
            _at, (listener, version, *what)
        )
        for listener in ("TLS", "MUTUAL")
        for version in _PROTOCOLS
        for what in ((), ("a certificate",), ("a foreign one",))
    },
    **{f"{version} is agreed on": partial(_agreed, version=version) for version in _PROTOCOLS},
    **{
        f"the address of {listener}": partial(_own_address, listener=listener)
        for listener in ("PLAINTEXT", "TLS")
    },
}
