"""Certificates for tests, made on the spot: of an authority, for servers and clients, good and bad.

    kafka.certificates.client("alice")      CN=alice
    kafka.certificates.server("127.0.0.1")  what a broker shows
    kafka.certificates.expired()            a server's that has expired yesterday
    kafka.certificates.wrong_host()         a server's for another host
    kafka.certificates.foreign()            an authority that nobody trusts

Keys are of the curve P-256. Needs the package `cryptography`, of the extra `odradek[tls]`.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.real_time import wall_time

if TYPE_CHECKING:
    from cryptography import x509

_DAY = datetime.timedelta(days=1)
_YEARS = 3650 * _DAY
HOSTS = ("localhost", "127.0.0.1", "::1")
"""Those that a server's certificate is for, if no others are given."""
CA, KEY = "odradek-ca.pem", "odradek-ca-key.pem"
"""The files of an authority that is kept."""


class TlsUnavailable(RuntimeError):
    """The package that makes certificates is not installed."""


class Certificate:
    """A certificate with its key, as PEM: `chain`, its own certificate first, and `key`."""

    def __init__(self, subject: str, chain: str, key: str) -> None:
        self.subject = subject
        """As Kafka names the principal: "CN=alice"."""
        self.chain = chain
        self.key = key

    def __repr__(self) -> str:
        return f"<certificate of {self.subject}>"

    def write(self, path: Path | str) -> Path:
        """Write key and chain into one PEM file, which only its owner may read. Raises OSError."""
        return _write(Path(path), f"{self.key}{self.chain}".encode())

    def write_pkcs12(self, path: Path | str, password: str) -> Path:
        """Write key and chain into a PKCS#12 file, which only its owner may read. Raises OSError,
        ValueError for an empty password."""
        from cryptography import x509
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization import pkcs12

        if not password:
            raise ValueError("the password of a PKCS#12 file is empty")
        key: Any = serialization.load_pem_private_key(self.key.encode(), None)
        first, *others = x509.load_pem_x509_certificates(self.chain.encode())
        how = serialization.BestAvailableEncryption(password.encode())
        data = pkcs12.serialize_key_and_certificates(b"kafka", key, first, others, how)
        return _write(Path(path), data)


class Certificates:
    """An authority, and the certificates that it gives. Raises TlsUnavailable without the package
    that makes them."""

    def __init__(self, name: str = "Odradek test CA", kept_in: Path | str | None = None) -> None:
        """`kept_in`: a directory that may have an authority (`keep`), which is this one then."""
        try:
            import cryptography.x509  # noqa: F401
        except ImportError:
            raise TlsUnavailable(
                "certificates are made by a package: pip install 'odradek[tls]', "
                "or give your own by ssl.keystore.type=PEM"
            ) from None
        self._name = name
        self._kept_in = None if kept_in is None else Path(kept_in)

    def __repr__(self) -> str:
        return f"<certificates of {self._name}>"

    @property
    def ca(self) -> str:
        """The certificate of the authority, as PEM: what clients are to trust."""
        from cryptography.hazmat.primitives.serialization import Encoding

        certificate, _ = self._authority
        return certificate.public_bytes(Encoding.PEM).decode()

    def write_ca(self, path: Path | str) -> Path:
        """Write the certificate of the authority into a file. Raises OSError."""
        return _write(Path(path), self.ca.encode(), mode=0o644)

    def keep(self, home: Path | str) -> Path:
        """Write the authority with its key into a directory, where it is found again. Returns the
        file for clients. Raises OSError."""
        from cryptography.hazmat.primitives import serialization

        _, key = self._authority
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        _write(Path(home, KEY), key.private_bytes(serialization.Encoding.PEM, form, plain))
        return self.write_ca(Path(home, CA))

    def client(self, name: str, *, organization: str = "", unit: str = "") -> Certificate:
        """A client's: its principal is "CN=alice", or "CN=alice,OU=unit,O=organization"."""
        return self._certificate(name, (), organization, unit, _now() + _YEARS)

    def server(self, *hosts: str) -> Certificate:
        """A broker's, for these hosts, or for this machine by the usual names."""
        return self._certificate("kafka", hosts or HOSTS, "", "", _now() + _YEARS)

    def expired(self, name: str = "kafka") -> Certificate:
        """One that has expired yesterday; of a broker, or of a client if its name is given."""
        hosts = HOSTS if name == "kafka" else ()
        return self._certificate(name, hosts, "", "", _now() - _DAY)

    def wrong_host(self) -> Certificate:
        """A broker's, for a host that is not this one."""
        return self.server("elsewhere.invalid")

    def foreign(self) -> Certificates:
        """Another authority, which nobody trusts: `foreign().client("alice")`."""
        return Certificates("Foreign test CA")

    @cached_property
    def _authority(self) -> tuple[x509.Certificate, Any]:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        if self._kept_in is not None and (found := _kept(self._kept_in)):
            return found
        key = ec.generate_private_key(ec.SECP256R1())
        name = _subject(self._name, "", "")
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        made = (
            _builder(name, name, key.public_key(), _now() + _YEARS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        )
        return made.sign(key, hashes.SHA256()), key

    def _certificate(
        self,
        name: str,
        hosts: tuple[str, ...],
        organization: str,
        unit: str,
        until: datetime.datetime,
    ) -> Certificate:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        authority, authority_key = self._authority
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject(name, organization, unit)
        public = authority_key.public_key()
        made = (
            _builder(subject, authority.subject, key.public_key(), until)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        )
        if hosts:
            made = made.add_extension(x509.SubjectAlternativeName(list(map(_host, hosts))), False)
        certificate = made.sign(authority_key, hashes.SHA256())
        pem = serialization.Encoding.PEM
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        own = certificate.public_bytes(pem).decode()
        written = key.private_bytes(pem, form, plain).decode()
        return Certificate(subject.rfc4514_string(), own + self.ca, written)


def _kept(home: Path) -> tuple[x509.Certificate, Any] | None:
    """The authority that is kept in a directory. Raises ValueError, OSError."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    if not (home / KEY).exists():
        return None
    try:
        key = serialization.load_pem_private_key((home / KEY).read_bytes(), None)
        certificate = x509.load_pem_x509_certificate((home / CA).read_bytes())
    except (ValueError, TypeError) as error:
        raise ValueError(f"{home}: {CA} and {KEY} hold no authority: {error}") from None
    if certificate.public_key() != key.public_key():
        raise ValueError(f"{home}: {KEY} is not the key of {CA}")
    return certificate, key


def _subject(name: str, organization: str, unit: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    if not isinstance(name, str) or not name:
        raise ValueError(f"a certificate is for a name, not {name!r}")
    parts = [(NameOID.ORGANIZATION_NAME, organization), (NameOID.ORGANIZATIONAL_UNIT_NAME, unit)]
    parts.append((NameOID.COMMON_NAME, name))
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in parts if text])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Any, until: datetime.datetime
) -> x509.CertificateBuilder:
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(_now(), until) - _DAY)
        .not_valid_after(until)
    )


def _host(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _now() -> datetime.datetime:
    return datetime.datetime.fromtimestamp(wall_time(), datetime.UTC)  # clients go by it


def _write(path: Path, data: bytes, mode: int = 0o600) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(data)
    return path
