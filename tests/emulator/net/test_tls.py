"""Listeners with TLS: who agrees with whom, who the client is then, and what others are told."""

from __future__ import annotations

import gc
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.emulator.base.call import Principal
from odradek.emulator.config.definition import ConfigError
from odradek.emulator.security.tls.certificates import Certificate, Certificates
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

from tests.support.held import alive

TIMEOUT_S = 30.0
ALERT = bytes.fromhex("15030300020250")


@pytest.fixture(scope="module")
def kafka() -> Iterator[Emulator]:
    rules = "RULE:^CN=(.*?),OU=mapped,.*$/$1/L,DEFAULT"
    config = {"ssl.client.auth": "requested", "ssl.principal.mapping.rules": rules}
    with Emulator(config, security="SSL") as broker:
        yield broker


def context(kafka: Emulator, certificate: Certificate | None = None) -> ssl.SSLContext:
    made = ssl.create_default_context(cadata=kafka.certificates.ca)
    if certificate is not None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(certificate.key + certificate.chain)
            file.flush()
            made.load_cert_chain(file.name)
    return made


def connected(kafka: Emulator) -> socket.socket:
    host, _, port = kafka.bootstrap_servers.partition(":")
    return socket.create_connection((host, int(port)), timeout=TIMEOUT_S)


def secured(kafka: Emulator, tls: ssl.SSLContext) -> ssl.SSLSocket:
    """A connection on which something was asked and answered."""
    found = tls.wrap_socket(connected(kafka), server_hostname="localhost")
    request = ApiVersionsRequest()
    data = write_request_header(RequestHeader(18, 0, 1, "app")) + request.encode(0)
    found.sendall(SIZE.pack(len(data)) + data)
    assert len(found.recv(1000)) > 100
    return found


def principals(kafka: Emulator) -> list[Principal]:
    def found(_: object) -> list[Principal]:
        server = kafka._started().running().server
        return [each.connection.principal for each in server.protocols]

    return kafka.run(found)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_are_spoken(kafka: Emulator, version: ssl.TLSVersion) -> None:
    tls = context(kafka)
    tls.minimum_version = tls.maximum_version = version
    with secured(kafka, tls) as found:
        assert found.version() == version.name.replace("_", ".", 1).replace("_", ".")
        assert Principal("User", "ANONYMOUS") in principals(kafka)


def test_a_certificate_says_who_the_client_is(kafka: Emulator) -> None:
    full = kafka.certificates.client("Client", organization="probe", unit="unit")
    short = kafka.certificates.client("Alice", organization="probe", unit="mapped")
    for certificate, name in ((full, "CN=Client,OU=unit,O=probe"), (short, "alice")):
        with secured(kafka, context(kafka, certificate)):
            assert Principal("User", name) in principals(kafka)


def test_a_certificate_of_a_foreign_authority_is_refused(kafka: Emulator) -> None:
    foreign = context(kafka, kafka.certificates.foreign().client("alice"))
    with pytest.raises(ssl.SSLError, match=r"(?i)unknown.ca"):
        secured(kafka, foreign)


def test_a_certificate_that_no_rule_maps_is_a_login_that_failed() -> None:
    rules = {"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=bob$/bob/"}
    with Emulator(rules, security="SSL") as kafka:
        with pytest.raises((OSError, AssertionError)):  # closed before or after it has asked
            secured(kafka, context(kafka, kafka.certificates.client("alice")))
        secured(kafka, context(kafka, kafka.certificates.client("bob"))).close()
        (failed,) = kafka.log_in_failures
        sentence = "CN=alice, TLS, no rule of ssl.principal.mapping.rules matches it"
        assert str(failed) == f"log-in failed: {sentence}"
        assert (failed.listener, failed.host) == ("SSL", "127.0.0.1")
        assert sentence in kafka.timeline()


def test_an_expired_certificate_is_refused(kafka: Emulator) -> None:
    with pytest.raises(ssl.SSLError, match=r"(?i)certificate.expired"):
        secured(kafka, context(kafka, kafka.certificates.expired("alice")))


@pytest.mark.parametrize(
    ("make", "alert"),
    [
        (None, "bad.certificate"),
        (lambda known: known.expired("alice"), "certificate.unknown"),
        (lambda known: known.foreign().client("alice"), "certificate.unknown"),
    ],
)
def test_refusals_are_java_s_before_tls_1_3(
    make: Callable[[Certificates], Certificate] | None, alert: str
) -> None:
    with Emulator({"ssl.client.auth": "required"}, security="SSL") as kafka:
        tls = context(kafka, None if make is None else make(kafka.certificates))
        tls.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLError, match=f"(?i){alert}"):
            secured(kafka, tls)


def test_without_the_certificate_that_is_required_nobody_is_let_in() -> None:
    with Emulator({"ssl.client.auth": "required"}, security="SSL") as kafka:
        with pytest.raises(ssl.SSLError, match=r"(?i)certificate.required"):
            secured(kafka, context(kafka))
        secured(kafka, context(kafka, kafka.certificates.client("alice"))).close()


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x10" + bytes(16)])
def test_plain_bytes_are_answered_by_an_alert_and_closed(kafka: Emulator, data: bytes) -> None:
    with connected(kafka) as plain:
        plain.sendall(data)
        assert plain.recv(100) == ALERT
        assert plain.recv(100) == b""


def test_who_says_nothing_is_left_open_and_holds_up_nobody(kafka: Emulator) -> None:
    with connected(kafka) as silent:
        secured(kafka, context(kafka)).close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.recv(1)


def test_a_broker_stops_with_clients_that_say_nothing() -> None:
    kafka = Emulator(security="SSL").start()
    with connected(kafka) as silent, connected(kafka) as half:
        half.sendall(b"\x16\x03\x01\x02")
        secured(kafka, context(kafka)).close()
        kafka.stop()
        for each in (silent, half):
            try:
                assert each.recv(1) == b""
            except ConnectionError:
                pass


def test_certificates_are_changed_while_the_broker_runs() -> None:
    with Emulator(security="SSL") as kafka:
        first = secured(kafka, context(kafka))
        kafka.show_certificate(kafka.certificates.wrong_host())
        with pytest.raises(ssl.SSLCertVerificationError, match=r"(?i)hostname mismatch"):
            secured(kafka, context(kafka))
        kafka.show_certificate(kafka.certificates.expired())
        with pytest.raises(ssl.SSLCertVerificationError, match=r"(?i)has expired"):
            secured(kafka, context(kafka))
        kafka.show_certificate(kafka.certificates.foreign().server())
        with pytest.raises(ssl.SSLCertVerificationError, match=r"(?i)verify failed"):
            secured(kafka, context(kafka))
        kafka.show_certificate(kafka.certificates.server())
        secured(kafka, context(kafka)).close()
        request = write_request_header(RequestHeader(18, 0, 1, "app"))
        first.sendall(SIZE.pack(len(request)) + request)
        assert first.recv(1000)
        first.close()


def test_a_broker_whose_key_is_gone_at_a_restart_starts_when_it_is_back(tmp_path: Path) -> None:
    certificate = Certificates().server()
    file = certificate.write(tmp_path / "server.pem")
    config = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(file)}
    with Emulator(config, security="SSL", topics={"orders": 1}) as kafka:
        file.unlink()
        with pytest.raises(ConfigError, match="No such file"):
            kafka.restart()
        assert kafka.is_down
        certificate.write(file)
        kafka.restart()
        assert kafka.topics() == ["orders"]


def test_without_tls_there_is_no_certificate_to_show() -> None:
    with Emulator() as kafka:
        with pytest.raises(ValueError, match=r"there is no listener with TLS"):
            kafka.show_certificate(kafka.certificates.server())
        with pytest.raises(TypeError, match=r"kafka.certificates makes what is shown"):
            kafka.show_certificate("server.pem")  # type: ignore[arg-type]


def test_a_fork_listens_at_ports_of_its_own() -> None:
    config = {"listeners": "SSL://127.0.0.1:0,PLAINTEXT://127.0.0.1:0"}
    with Emulator(config) as kafka, kafka.fork() as other:
        assert kafka.bootstrap_servers != other.bootstrap_servers
        secured(other, context(other)).close()


def test_a_connection_that_has_ended_leaves_nothing_to_the_collector(kafka: Emulator) -> None:
    """`odradek serve` collects cycles once a minute: thousands of clients may come meanwhile."""
    tls = context(kafka)
    gc.collect()
    before = alive(ssl.SSLObject)
    gc.disable()
    try:
        for _ in range(5):
            secured(kafka, tls).close()
        deadline = time.monotonic() + TIMEOUT_S
        while alive(ssl.SSLObject) > before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert alive(ssl.SSLObject) <= before
    finally:
        gc.enable()
