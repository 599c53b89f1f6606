"""SCRAM credentials, client quotas and features as controllers with ZooKeeper change them: to 2.8.

- Quotas may be 0 or negative. An entity that is named twice is changed twice, and answered once.
- A request may change several credentials of one user; all or none of them change.
- Features are judged by themselves, each once. No release with ZooKeeper has any.

Source: Kafka's AdminManager and KafkaController of 2.7 and 2.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...wire import Error, Refused
from ...wire.stored.cluster import MetadataRecord
from ..base.call import UNEXPECTED_TEXT
from ..metadata.image import MetadataImage
from ..security.quotas import (
    CLIENT_ID,
    DEFAULT,
    EXACT,
    IP,
    IP_KEYS,
    SPECIFIED,
    USER,
    USER_KEYS,
    Component,
    check_entity,
    check_nearly_whole,
    records_of,
)
from ..security.scram import (
    HASHES,
    Deletion,
    Planned,
    Upsertion,
    record_of,
)
from ..security.scram import ITERATIONS_MAX as _MAX
from ..security.scram import ITERATIONS_MIN as _MIN

# Credentials

Change = Deletion | Upsertion


def planned_old(
    image: MetadataImage, deletions: Sequence[Deletion], upsertions: Sequence[Upsertion]
) -> list[Planned]:
    """What is to be done for each user. Changes nothing."""
    changes: list[Change] = [*deletions, *upsertions]
    refused: dict[str, Refused] = {}
    for problem in (_illegal, _twice, _missing):
        refused |= problem(image, [each for each in changes if each.user not in refused])
    outcomes = [Planned(user, why, []) for user, why in refused.items()]
    left = [each for each in changes if each.user not in refused]
    # A password that is no key for a MAC fails all, since the changes of all are made for each.
    fails = any(isinstance(each, Upsertion) and not each.salted_password for each in left)
    why = Refused(Error.UNKNOWN_SERVER_ERROR, UNEXPECTED_TEXT) if fails else None
    for user in dict.fromkeys(each.user for each in left):
        own = [] if fails else [record_of(each) for each in left if each.user == user]
        outcomes.append(Planned(user, why, own))
    return outcomes


def _illegal(image: MetadataImage, changes: Iterable[Change]) -> Iterator[tuple[str, Refused]]:
    """Users of whom a change makes no sense; of several reasons the last one is answered."""
    for change in changes:
        if not change.user:
            yield "", Refused(Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
        elif change.mechanism not in HASHES:
            message = "Unknown SCRAM mechanism"
            yield change.user, Refused(Error.UNSUPPORTED_SASL_MECHANISM, message)
        elif isinstance(change, Upsertion) and not _MIN <= change.iterations <= _MAX:
            message = f"Too {'many' if change.iterations > _MAX else 'few'} iterations"
            yield change.user, Refused(Error.UNACCEPTABLE_CREDENTIAL, message)


def _twice(image: MetadataImage, changes: Iterable[Change]) -> Iterator[tuple[str, Refused]]:
    for (user, _), times in Counter((each.user, each.mechanism) for each in changes).items():
        if times > 1:
            message = "A user credential cannot be altered twice in the same request"
            yield user, Refused(Error.DUPLICATE_RESOURCE, message)


def _missing(image: MetadataImage, changes: Iterable[Change]) -> Iterator[tuple[str, Refused]]:
    for change in changes:
        is_there = change.mechanism in image.scram.get(change.user, {})
        if isinstance(change, Deletion) and not is_there:
            message = "Attempt to delete a user credential that does not exist"
            yield change.user, Refused(Error.RESOURCE_NOT_FOUND, message)


# Quotas


def quota_records_old(
    image: MetadataImage,
    names: Mapping[str, str | None],
    changes: Sequence[tuple[str, float | None]],
    *,
    has_ips: bool,
) -> list[MetadataRecord]:
    """What changes of an entity write, a value of None removing a key. Raises
    Refused(INVALID_REQUEST)."""
    if IP in names and not has_ips:
        message = f"Unhandled client quota entity type: {IP}"
        raise Refused(Error.INVALID_REQUEST, message)
    check_entity(names)
    keys = IP_KEYS if IP in names else USER_KEYS
    values: dict[str, float | None] = {}
    for key, value in changes:
        values[key] = None if value is None else _judged(key, value, keys)
    return records_of(image, names, values)


def _judged(key: str, value: float, keys: Mapping[str, tuple[str, int] | None]) -> float:
    """The value that is kept. Raises Refused(INVALID_REQUEST)."""
    if key not in keys:
        raise Refused(Error.INVALID_REQUEST, f"Invalid configuration key {key}")
    whole = keys[key]
    if whole is None:
        return value
    kind, largest = whole
    return check_nearly_whole(key, value, kind.capitalize() if kind == "LONG" else kind, largest)


def check_filter(
    components: Sequence[Component], *, strict: bool, has_ips: bool
) -> list[Component]:
    """The components of a filter as they are matched. Raises Refused."""
    for each in components:
        if each.match_type not in range(SPECIFIED + 1) or (
            each.match_type == EXACT and each.match is None
        ):
            raise Refused(Error.UNKNOWN_SERVER_ERROR)
    known = {USER, CLIENT_ID, IP} if has_ips else {USER, CLIENT_ID}
    seen: set[str] = set()
    for each in components:
        kind = each.entity_type
        if not kind:
            message = "Unexpected empty filter component entity type"
            raise Refused(Error.INVALID_REQUEST, message)
        if kind not in known:
            message = f"Custom entity type '{kind}' not supported"
            raise Refused(Error.UNSUPPORTED_VERSION, message)
        if kind in seen:
            message = f"Duplicate {kind.removesuffix('-id')} filter component entity type"
            raise Refused(Error.INVALID_REQUEST, message)
        seen.add(kind)
    named = (EXACT, DEFAULT)  # what stands for all others has a name, too
    exact = {each.entity_type: each.match for each in components if each.match_type in named}
    exact |= {each.entity_type: None for each in components if each.match_type == DEFAULT}
    is_one = len(exact) == len(components) and (strict or len(exact) > 1)
    if is_one and "" in exact.values():  # looked for by its path, which is none
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return [each if each.match_type == EXACT else each._replace(match=None) for each in components]


# Features


def feature_problem(name: str, level: int, *, allows_downgrade: bool) -> Refused:
    """Why a feature cannot be changed."""
    message = (
        "Could not apply finalized feature update because the provided feature is not supported."
    )
    if not name:
        message = "Feature name can not be empty."
    elif level < 1 and allows_downgrade:
        message = "Can not delete non-existing finalized feature."
    elif level < 1:
        message = (
            f"Can not provide maxVersionLevel: {level} less than 1 without setting the "
            "allowDowngrade flag to true in the request."
        )
    return Refused(Error.INVALID_REQUEST, message)
