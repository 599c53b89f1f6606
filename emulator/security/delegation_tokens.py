"""Delegation tokens: made, renewed, ended, listed, and logged in with.

- They are records of the metadata log; the secret of one, its HMAC, is made of its id with
  `delegation.token.secret.key`, and stored nowhere. Without that config there are none.
- One lives `delegation.token.expiry.time.ms` until it is renewed, and at most
  `delegation.token.max.lifetime.ms`, or what was asked for, if that is less. Those that have
  expired are removed (maintenance/expiry.py).
- Owner, requester and renewers may renew and end it, and see it.

Source: KIP-48, KIP-373, KIP-900; Kafka 4.3.1's DelegationTokenControlManager.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.stored.cluster import DelegationTokenRecord, RemoveDelegationTokenRecord
from ..base.call import ANONYMOUS, Call, Principal
from ..config.configs import BrokerConfig
from ..metadata.image import MetadataImage
from .authorizer.acl import Kind, Operation
from .listeners import PLAINTEXT, SSL
from .login.scram import ITERATIONS, Known, credential_of

if TYPE_CHECKING:
    from ..environment import Environment
    from ..metadata.log import MetadataLog
    from .authorizer.authorizer import Authorizer
    from .security import Security

_ID_BYTES, _SALT_BYTES = 16, 16
USER = "User"


def secret_key(config: BrokerConfig) -> bytes | None:
    """The key of HMACs; None without."""
    found: str | None = config.get("delegation.token.secret.key")
    return None if found is None else found.encode()


def hmac_of(key: bytes, token_id: str) -> bytes:
    return hmac.digest(key, token_id.encode(), hashlib.sha512)


def no_expiry(error: Error) -> int:
    """The place of a time in an answer that is an error: the broker's own is another
    than the controller's."""
    return -1 if error is Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED else 0


class DelegationTokens:
    def __init__(
        self,
        environment: Environment,
        metadata: MetadataLog,
        security: Security,
        authorizer: Authorizer | None,
    ) -> None:
        self._environment, self._metadata = environment, metadata
        self._security, self._authorizer = security, authorizer

    def check_allowed(self, call: Call) -> None:
        """Raises Refused for who may not ask about tokens: nobody without a login, and nobody who
        has logged in with one."""
        listener = self._security.listeners.get(call.listener)
        protocol = PLAINTEXT if listener is None else listener.protocol
        is_nobody = protocol == PLAINTEXT or (protocol == SSL and call.principal == ANONYMOUS)
        if is_nobody or call.has_token:
            raise Refused(Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)

    def check_owner(self, call: Call, owner: Principal) -> None:
        """Raises Refused for who may not make tokens for another."""
        authorizer, who = self._authorizer, call.principal
        if owner == who or authorizer is None:
            return
        operation, kind = Operation.CREATE_TOKENS, Kind.USER
        if not authorizer.may(who, call.client_host, operation, kind, str(owner)):
            raise Refused(Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED)

    def may_see(self, call: Call, record: DelegationTokenRecord) -> bool:
        authorizer, who, host = self._authorizer, call.principal, call.client_host
        if authorizer is None:
            return True
        kind = Kind.DELEGATION_TOKEN
        if authorizer.may(who, host, Operation.DESCRIBE, kind, record.token_id):
            return True
        return authorizer.may(who, host, Operation.DESCRIBE_TOKENS, Kind.USER, record.owner)

    def create(
        self,
        requester: Principal,
        owner: Principal,
        renewers: Sequence[Principal],
        max_lifetime_ms: int,
        now: int,
    ) -> tuple[DelegationTokenRecord, bytes]:
        """Make a token, and its HMAC. Raises Refused."""
        key = self._key()
        if any(each.kind != USER for each in renewers):
            raise Refused(Error.INVALID_PRINCIPAL_TYPE)
        config = self._environment.config
        longest: int = config.get("delegation.token.max.lifetime.ms")
        until = now + (min(longest, max_lifetime_ms) if max_lifetime_ms > 0 else longest)
        record = DelegationTokenRecord(
            owner=str(owner),
            requester=str(requester),
            renewers=[str(each) for each in renewers],
            issue_timestamp=now,
            max_timestamp=until,
            expiration_timestamp=min(until, now + config.get("delegation.token.expiry.time.ms")),
            token_id=_new_id(self._environment.random),
        )
        self._metadata.append([record])
        return record, hmac_of(key, record.token_id)

    def renew(self, who: Principal, secret: bytes, period_ms: int, now: int) -> int:
        """Let a token live longer; return until when. Raises Refused."""
        record = self._found(who, secret)
        _check_time(record, now)
        longest: int = self._environment.config.get("delegation.token.expiry.time.ms")
        return self._until(record, now + (min(longest, period_ms) if period_ms > 0 else longest))

    def expire(self, who: Principal, secret: bytes, period_ms: int, now: int) -> int:
        """End a token after a time, or at once if it is negative; return when. Raises Refused."""
        record = self._found(who, secret)
        if period_ms < 0:
            self._metadata.append([RemoveDelegationTokenRecord(token_id=record.token_id)])
            return now
        _check_time(record, now)
        return self._until(record, now + period_ms)

    def visible(
        self, call: Call, owners: Sequence[Principal] | None
    ) -> list[tuple[DelegationTokenRecord, bytes]]:
        """The tokens that who asks sees, with their HMACs: of these owners, or all. Raises
        Refused."""
        key = self._key()
        return [
            (record, hmac_of(key, record.token_id))
            for record in self._metadata.image.tokens.values()
            if owners is None or any(_is_party(record, each) for each in owners)
            if _is_party(record, call.principal) or self.may_see(call, record)
        ]

    def _key(self) -> bytes:
        key = secret_key(self._environment.config)
        if key is None:
            raise Refused(Error.DELEGATION_TOKEN_AUTH_DISABLED)
        return key

    def _found(self, who: Principal, secret: bytes) -> DelegationTokenRecord:
        key = self._key()
        for record in self._metadata.image.tokens.values():
            if hmac.compare_digest(hmac_of(key, record.token_id), secret):
                if not _is_party(record, who):
                    raise Refused(Error.DELEGATION_TOKEN_OWNER_MISMATCH)
                return record
        raise Refused(Error.DELEGATION_TOKEN_NOT_FOUND)

    def _until(self, record: DelegationTokenRecord, when: int) -> int:
        until = min(record.max_timestamp, when)
        changed = DelegationTokenRecord(
            owner=record.owner,
            requester=record.requester,
            renewers=record.renewers,
            issue_timestamp=record.issue_timestamp,
            max_timestamp=record.max_timestamp,
            expiration_timestamp=until,
            token_id=record.token_id,
        )
        self._metadata.append([changed])
        return until


def known_token(
    config: BrokerConfig, image: MetadataImage, mechanism: str, token_id: str, random: Random
) -> Known | None:
    """The credential of a token by which somebody logs in."""
    key, record = secret_key(config), image.tokens.get(token_id)
    if key is None or record is None:
        return None
    password = b64encode(hmac_of(key, token_id))
    salt = random.randbytes(_SALT_BYTES)
    credential = credential_of(mechanism, password, salt, ITERATIONS)
    return Known(credential, record.owner.partition(":")[2], record.expiration_timestamp)


def _is_party(record: DelegationTokenRecord, who: Principal) -> bool:
    return str(who) in (record.owner, record.requester, *record.renewers)


def _check_time(record: DelegationTokenRecord, now: int) -> None:
    if _is_over(record, now):
        raise Refused(Error.DELEGATION_TOKEN_EXPIRED)


def _is_over(record: DelegationTokenRecord, now: int) -> bool:
    return record.max_timestamp < now or record.expiration_timestamp < now


def _new_id(random: Random) -> str:
    """As Kafka writes an id of 16 bytes."""
    return urlsafe_b64encode(random.randbytes(_ID_BYTES)).rstrip(b"=").decode()
