"""The TLS context of a client."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from .settings import ClientSecurity, Pem, SecurityError


def context(security: ClientSecurity) -> ssl.SSLContext:
    """Who is trusted, and the client's own certificate if it has one. Raises SecurityError."""
    made = ssl.create_default_context(ssl.Purpose.SERVER_AUTH)
    if not security.checks_certificate:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    else:
        made.check_hostname = security.checks_name
    trusted = security.authorities
    if trusted:
        try:
            made.load_verify_locations(
                cafile=trusted.file or None, cadata=_lines(trusted.text) or None
            )
        except OSError as error:  # SSLError, too
            raise SecurityError(f"{_called(trusted)} has no certificates: {error}") from None
    if security.certificate:
        _load_own(made, security)
    return made


def problem(error: ssl.SSLError, host: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the certificate of {host} is not trusted: {error.verify_message}; ssl.ca.location "
            "(or ssl.truststore.location) names the authority"
        )
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return "it does not speak TLS"
    return f"TLS: {(error.reason or str(error)).lower().replace('_', ' ')}"


def _load_own(made: ssl.SSLContext, security: ClientSecurity) -> None:
    """Python loads certificate and key from files only."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = _in_file(security.certificate, Path(folder, "certificate.pem"))
        key = _in_file(security.key, Path(folder, "key.pem")) if security.key else certificate
        try:
            made.load_cert_chain(certificate, key, lambda: security.key_password)
        except OSError as error:
            raise SecurityError(
                f"certificate {_called(security.certificate)} with key {_called(security.key)}: "
                f"{error}"
            ) from None


def _in_file(pem: Pem, path: Path) -> str:
    if pem.file:
        return pem.file
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(_lines(pem.text))
    return str(path)


def _lines(text: str) -> str:
    """Of a value in a file of properties, where a PEM often stands in one line."""
    return text.replace("\\n", "\n")


def _called(pem: Pem) -> str:
    return pem.file or "of the properties"
