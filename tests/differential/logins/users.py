"""Users of SCRAM, and a quota of an address, the same at both brokers."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from .brokers import OFTEN, PASSWORDS, Address
from .talk import Talk

_HASHES = {1: "sha256", 2: "sha512"}
_ITERATIONS = 4096
_PATIENCE_S = 30.0


def add_users(address: Address) -> None:
    """Give every user a credential of both kinds, and one user only one; wait until they are
    known."""
    users = [(name, word, kind) for name, word in PASSWORDS.items() for kind in _HASHES]
    users.append(("only512", "x", 2))
    talk = Talk(address)
    for name, password, kind in users:
        change = AlterUserScramCredentialsRequest.Upsertion(
            name=name,
            mechanism=kind,
            iterations=_ITERATIONS,
            salt=b"salt",
            salted_password=hashlib.pbkdf2_hmac(
                _HASHES[kind], password.encode(), b"salt", _ITERATIONS
            ),
        )
        answer = talk.ask(AlterUserScramCredentialsRequest(deletions=[], upsertions=[change]), 0)
        assert [each.error_code for each in answer.results] == [0]
    entity = AlterClientQuotasRequest.Entry.Entity(entity_type="ip", entity_name=OFTEN)
    rate = AlterClientQuotasRequest.Entry.Op(
        key="connection_creation_rate", value=1.0, remove=False
    )
    entry = AlterClientQuotasRequest.Entry(entity=[entity], ops=[rate])
    answer = talk.ask(AlterClientQuotasRequest(entries=[entry], validate_only=False), 1)
    assert [each.error_code for each in answer.entries] == [0]
    deadline = time.monotonic() + _PATIENCE_S
    while _known(talk) < len(PASSWORDS) + 1:
        assert time.monotonic() < deadline
    talk.close()


def _known(talk: Talk) -> int:
    answer: Any = talk.ask(DescribeUserScramCredentialsRequest(users=None), 0)
    return len(answer.results)
