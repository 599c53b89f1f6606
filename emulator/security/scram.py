"""SCRAM credentials of users, as clients set and delete them; login/scram.py asks for them.

Rules (Kafka's): the changes of a request succeed or fail for each user separately. A user may be
named once, in one mechanism; a problem of the first entry is answered before that there is a second
one. Salted passwords are stored as the two keys of RFC 5802.

Source: KIP-554; Kafka 4.3.1's answers.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import NamedTuple

from ...wire import Error, Refused
from ...wire.stored.cluster import (
    MetadataRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from ..base.java_order import hash_map_order
from ..metadata.image import MetadataImage

ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
HASHES = {1: hashlib.sha256, 2: hashlib.sha512}
"""By mechanism: SCRAM-SHA-256 and SCRAM-SHA-512."""


class Deletion(NamedTuple):
    user: str
    mechanism: int


class Upsertion(NamedTuple):
    user: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


class Planned(NamedTuple):
    """The answer for a user, and the records to write for it."""

    user: str
    refused: Refused | None
    records: list[MetadataRecord]


def planned(
    image: MetadataImage, deletions: Sequence[Deletion], upsertions: Sequence[Upsertion]
) -> list[Planned]:
    """The plan for each user, in the order of the answer. Changes nothing."""
    good: dict[str, Deletion | Upsertion] = {}
    bad: dict[str, Refused] = {}
    changes: list[Deletion | Upsertion] = [*deletions, *upsertions]
    for change in changes:
        user = change.user
        if user in bad:
            continue
        if user in good:
            message = "A user credential cannot be altered twice in the same request"
            bad[user] = Refused(Error.DUPLICATE_RESOURCE, message)
            del good[user]
        elif (problem := _problem(image, change)) is not None:
            bad[user] = problem
        else:
            good[user] = change
    for user, change in list(good.items()):
        if isinstance(change, Upsertion) and not change.salted_password:  # not a key for a MAC
            bad[user] = Refused(Error.UNKNOWN_SERVER_ERROR)
            del good[user]
    order = [u for u in hash_map_order(d.user for d in deletions) if u in good]
    order += [u for u in hash_map_order(u.user for u in upsertions) if u in good]
    users = [Planned(user, None, [record_of(good[user])]) for user in order]
    return users + [Planned(user, bad[user], []) for user in hash_map_order(bad)]


def _problem(image: MetadataImage, change: Deletion | Upsertion) -> Refused | None:
    if not change.user:
        return Refused(Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if change.mechanism not in HASHES:
        return Refused(Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(change, Deletion):
        if change.mechanism not in image.scram.get(change.user, {}):
            message = "Attempt to delete a user credential that does not exist"
            return Refused(Error.RESOURCE_NOT_FOUND, message)
    elif change.iterations < ITERATIONS_MIN:
        return Refused(Error.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    elif change.iterations > ITERATIONS_MAX:
        return Refused(Error.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    return None


def record_of(change: Deletion | Upsertion) -> MetadataRecord:
    """What a change writes."""
    if isinstance(change, Deletion):
        return RemoveUserScramCredentialRecord(name=change.user, mechanism=change.mechanism)
    hash_of = HASHES[change.mechanism]
    client_key = hmac.digest(change.salted_password, b"Client Key", hash_of)
    return UserScramCredentialRecord(
        name=change.user,
        mechanism=change.mechanism,
        salt=change.salt,
        stored_key=hash_of(client_key).digest(),
        server_key=hmac.digest(change.salted_password, b"Server Key", hash_of),
        iterations=change.iterations,
    )
