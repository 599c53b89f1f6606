"""Keys and certificates of a listener: what is read, and what is refused, and how."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from odradek import ConfigError, Emulator
from odradek.emulator.security.tls.certificates import Certificates

MADE = Certificates()
SERVER = MADE.server()


def pem() -> dict[str, str]:
    texts = {"type": "PEM", "certificate.chain": SERVER.chain, "key": SERVER.key}
    return {f"ssl.keystore.{name}": text for name, text in texts.items()}


def refused(config: Mapping[str, str]) -> str:
    with pytest.raises(ConfigError) as raised:
        Emulator(config, security="SSL")
    assert "PRIVATE KEY" not in str(raised.value)
    return str(raised.value)


def test_texts_files_and_pkcs12_are_read(tmp_path: Path) -> None:
    Emulator(pem(), security="SSL")
    one = SERVER.write(tmp_path / "one.pem")
    two = SERVER.write_pkcs12(tmp_path / "two.p12", "changeit")
    for path in (one, two):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    Emulator({"ssl.keystore.type": "PEM", "ssl.keystore.location": str(one)}, security="SSL")
    store = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(two)}
    Emulator({**store, "ssl.keystore.password": "changeit"}, security="SSL")
    assert refused({**store, "ssl.keystore.password": "wrong"}).startswith(
        "ssl.keystore.location: it is no PKCS#12 file, or ssl.keystore.password is not its own"
    )


def test_an_encrypted_key_needs_its_password() -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(SERVER.key.encode(), None)
    how = serialization.BestAvailableEncryption(b"secret")
    form = serialization.PrivateFormat.PKCS8
    text = key.private_bytes(serialization.Encoding.PEM, form, how).decode()
    config = pem() | {"ssl.keystore.key": text}
    Emulator({**config, "ssl.key.password": "secret"}, security="SSL")
    assert refused(config) == "ssl.key.password: the key is encrypted, and there is none"
    wrong = refused({**config, "ssl.key.password": "wrong"})
    assert wrong.startswith("ssl.keystore: key and certificates cannot be read as PEM, or ssl.key")


def test_what_cannot_be_read_is_refused_by_the_name_of_its_config(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\xff\xfe garbage")
    store = "ssl.keystore.location"
    assert refused({store: missing}).startswith(
        "ssl.keystore.type: JKS (it is what Kafka takes if nothing is set) is not read here, but "
        f"PEM and PKCS12: set it if {missing} is one of them, or convert it: keytool "
        f"-importkeystore -srckeystore {missing} -dest"
    )
    assert refused({store: missing, "ssl.keystore.type": "JKS"}).startswith(
        "ssl.keystore.type: JKS is not read here, but PEM and PKCS12: convert it: keytool"
    )
    assert refused({"ssl.keystore.key": "x"}) == (
        "ssl.keystore.type: JKS is what Kafka takes if nothing is set: set PEM"
    )
    assert refused({"ssl.keystore.type": "BKS", store: missing}).startswith(
        "ssl.keystore.type: there is no type 'BKS'"
    )
    of_type = {"ssl.keystore.type": "PEM"}
    assert refused({**of_type, store: missing}) == f"{store}: {missing}: No such file or directory"
    assert refused({**of_type, store: str(garbage)}) == f"{store}: {garbage} is not a PEM file"
    other = MADE.server("other")
    assert refused(pem() | {"ssl.keystore.key": other.key}) == (
        "ssl.keystore.key: it is not the key of the first certificate of the chain"
    )
    assert refused(pem() | {"ssl.keystore.key": "nonsense"}).startswith(
        "ssl.keystore: key and certificates cannot be read as PEM"
    )
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "nonsense"}
    assert refused(pem() | trust) == "ssl.truststore.certificates: there are no certificates in it"
    assert refused(pem() | {"ssl.enabled.protocols": "TLSv1"}).startswith(
        "ssl.enabled.protocols: none of TLSv1 is served, but TLSv1.2, TLSv1.3"
    )
    assert refused(pem() | {"ssl.principal.mapping.rules": "x"}).startswith("ssl.principal.map")


def test_neither_certificates_nor_stores_show_their_keys() -> None:
    assert repr(SERVER) == "<certificate of CN=kafka>"
    assert repr(MADE) == "<certificates of Odradek test CA>"
