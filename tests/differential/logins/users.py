"""Users of SCRAM, and a quota of an address, the same at both brokers."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest

from .brokers import OFTEN, PASSWORDS, Address
from .talk import Case, Open, Talk

_HASHES = {1: "sha256", 2: "sha512"}
_ITERATIONS = 4096
_PATIENCE_S = 30.0


def add_users(address: Address) -> None:
    """Give every user a credential of both kinds, and one user only one; wait until they are
    known."""
    users = [(name, word, kind) for name, word in PASSWORDS.items() for kind in _HASHES]
    users.append(("only512", "x", 2))
    talk = Talk(address)
    for user in users:
        _add(talk, *user)
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


def _add(talk: Talk, name: str, password: str, kind: int) -> None:
    salted = hashlib.pbkdf2_hmac(_HASHES[kind], password.encode(), b"salt", _ITERATIONS)
    change = AlterUserScramCredentialsRequest.Upsertion(
        name=name, mechanism=kind, iterations=_ITERATIONS, salt=b"salt", salted_password=salted
    )
    answer = talk.ask(AlterUserScramCredentialsRequest(deletions=[], upsertions=[change]), 0)
    assert [each.error_code for each in answer.results] == [0]


def _is_known(talk: Talk, name: str) -> bool:
    user = DescribeUserScramCredentialsRequest.User(name=name)
    answer: Any = talk.ask(DescribeUserScramCredentialsRequest(users=[user]), 0)
    return not answer.results[0].error_code


def _until_known(talk: Talk, name: str, *, is_known: bool) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while _is_known(talk, name) != is_known:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _deleted(opened: Open) -> list[str]:
    """Its session stays open, and it does not log in any more."""
    root, name = opened("PLAINTEXT"), "leaver"
    _add(root, name, "secret", 1)
    _until_known(root, name, is_known=True)
    sessions = [opened("SASL"), opened("SASL")]
    sessions[0].handshake("SCRAM-SHA-256")
    sessions[0].scram(name, "secret")
    deletion = AlterUserScramCredentialsRequest.Deletion(name=name, mechanism=1)
    root.ask(AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[]), 0)
    _until_known(root, name, is_known=False)
    one = DescribeUserScramCredentialsRequest.User(name="only512")
    sessions[0].ask(DescribeUserScramCredentialsRequest(users=[one]), 0)
    sessions[1].handshake("SCRAM-SHA-256")
    sessions[1].scram(name, "secret")
    for talk in sessions:
        talk.end()
    return [*sessions[0].said, *sessions[1].said]


USERS: dict[str, Case] = {"a user that is deleted": _deleted}


def _known(talk: Talk) -> int:
    answer: Any = talk.ask(DescribeUserScramCredentialsRequest(users=None), 0)
    return len(answer.results)
