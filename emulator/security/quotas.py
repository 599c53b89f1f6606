"""Client quotas: stored and described; throttling/ holds clients to them.

Rules (Kafka's):
- An entity is a user, a client id or both, or an IP; a name of None stands for all that have no
  quota of their own. Of two names of one type the last one counts.
- An entity has the keys of its types. Rates are positive; those in bytes or connections are whole.
- Removing a key is always allowed, whatever its name.

Source: KIP-13, KIP-546, KIP-612; Kafka 4.3.1's answers.
"""

from __future__ import annotations

import ipaddress
import math
import socket
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ...wire import Error, Refused
from ...wire.stored.cluster import ClientQuotaRecord, MetadataRecord
from ..base.java_order import hash_map_order, java_hash
from ..metadata.image import MetadataImage, QuotaEntity

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, SPECIFIED = 0, 1, 2

_LONG_MAX, _INT_MAX = 2**63 - 1, 2**31 - 1
NEARLY = 1e-6
# Key: the type whose range it has, and the largest value; None for fractions.
USER_KEYS: dict[str, tuple[str, int] | None] = {
    "consumer_byte_rate": ("LONG", _LONG_MAX),
    "controller_mutation_rate": None,
    "producer_byte_rate": ("LONG", _LONG_MAX),
    "request_percentage": None,
}
IP_KEYS: dict[str, tuple[str, int] | None] = {"connection_creation_rate": ("INT", _INT_MAX)}


class Component(NamedTuple):
    """One part of a filter: entities that have this type, with that name."""

    entity_type: str
    match_type: int
    match: str | None


_BUCKETS = 4
"""Of the map in which a real broker keeps an entity's parts."""

# Changing


def check_entity(names: Mapping[str, str | None]) -> None:
    """Raises Refused(INVALID_REQUEST) for an entity that cannot have quotas."""
    if not names:
        raise Refused(Error.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind in hash_map_order(names, room=_BUCKETS):
        if kind not in (USER, CLIENT_ID, IP):
            raise Refused(Error.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if names[kind] == "":
            raise Refused(Error.INVALID_REQUEST, f"Empty {kind} not supported")
    if IP in names:
        if len(names) > 1:
            message = (
                "Invalid quota entity combination, IP entity should"
                "not be combined with User or ClientId"
            )
            raise Refused(Error.INVALID_REQUEST, message)
        _check_ip(names[IP])


def _check_ip(name: str | None) -> None:
    if name is None:
        return
    try:
        ipaddress.ip_address(name)
    except ValueError:
        try:
            socket.getaddrinfo(name, None)
        except (OSError, UnicodeError):
            message = f"{name} is not a valid IP or resolvable host."
            raise Refused(Error.INVALID_REQUEST, message) from None


def quota_records(
    image: MetadataImage,
    names: Mapping[str, str | None],
    values: Mapping[str, float | None],
    *,
    are_bounded: bool = True,
) -> list[MetadataRecord]:
    """The record of a change; a value of None removes a key. Without bounds values need only be
    whole, where they are (release 3.3). Raises Refused(INVALID_REQUEST)."""
    check_entity(names)
    keys = IP_KEYS if IP in names else USER_KEYS
    for key in _in_small_map(values):
        if (value := values[key]) is not None:
            _check_key(key, keys)
            if are_bounded:
                _check_value(key, value, keys)
            elif keys[key] is not None:
                check_nearly_whole(key, value, "Long", _LONG_MAX)
    return records_of(image, names, values)


def records_of(
    image: MetadataImage, names: Mapping[str, str | None], values: Mapping[str, float | None]
) -> list[MetadataRecord]:
    """What a change writes that passed every check."""
    current = image.quotas.get(entity_key(names), {})
    parts = [
        ClientQuotaRecord.Entity(entity_type=kind, entity_name=names[kind])
        for kind in hash_map_order(names)
    ]
    records: list[MetadataRecord] = []
    for key in _in_small_map(values):
        value = values[key]
        if value is None:
            if key in current:
                records.append(ClientQuotaRecord(entity=parts, key=key, value=0.0, remove=True))
        elif current.get(key) != value:
            records.append(ClientQuotaRecord(entity=parts, key=key, value=value, remove=False))
    return records


def _in_small_map(keys: Collection[str]) -> list[str]:
    """Keys in the order of a Java map with a capacity of their number."""
    size = 1
    while size < len(keys) or len(keys) > size * 3 / 4:
        size *= 2

    def bucket(key: str) -> int:
        value = java_hash(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & (size - 1)

    return sorted(keys, key=bucket)


def _check_key(key: str, keys: Collection[str]) -> None:
    if key not in keys:
        raise Refused(Error.INVALID_REQUEST, f"Invalid configuration key {key}")


def check_nearly_whole(key: str, value: float, kind: str, largest: int) -> float:
    """The number of a Java type next to a value. Raises Refused(INVALID_REQUEST)."""
    near = 0 if math.isnan(value) else int(max(-largest - 1, min(value + NEARLY, largest)))
    if abs(float(near) - value) > NEARLY:
        raise Refused(Error.INVALID_REQUEST, f"Configuration {key} must be a {kind} value")
    return float(near)


def _check_value(key: str, value: float, keys: Mapping[str, tuple[str, int] | None]) -> None:
    if value <= 0:
        raise Refused(Error.INVALID_REQUEST, f"Quota {key} must be greater than 0")
    whole = keys[key]
    if whole is None or value != value:  # NaN passes every comparison
        return
    kind, largest = whole
    if value > float(largest):
        article = "an" if kind == "INT" else "a"
        message = f"Proposed value for {key} is too large for {article} {kind}."
        raise Refused(Error.INVALID_REQUEST, message)
    if abs(value - int(value)) > NEARLY:
        raise Refused(Error.INVALID_REQUEST, f"{key} cannot be a fractional value.")


def entity_key(names: Mapping[str, str | None]) -> QuotaEntity:
    return tuple(sorted(names.items()))


def duplicate(names: Mapping[str, str | None]) -> Refused:
    """The refusal of an entity that a request names twice."""
    parts = ", ".join(
        f"{kind}={'null' if names[kind] is None else names[kind]}"
        for kind in hash_map_order(names, room=_BUCKETS)
    )
    message = f"Ignoring duplicate entity ClientQuotaEntity(entries={{{parts}}})"
    return Refused(Error.INVALID_REQUEST, message)


# Looking


def matching(
    image: MetadataImage, components: Sequence[Component], strict: bool
) -> dict[QuotaEntity, dict[str, float]]:
    """The quotas of entities that have all the components, and, if `strict`, no other type.

    Raises Refused: INVALID_REQUEST for a filter that makes no sense, UNSUPPORTED_VERSION for an
    unknown type of entity.
    """
    wanted: dict[str, Component] = {}
    for component in components:
        _check_component(component, wanted)
        wanted[component.entity_type] = component
    if IP in wanted and len(wanted) > 1:
        message = (
            "Invalid entity filter component combination. IP filter component should not be used "
            "with user or clientId filter component."
        )
        raise Refused(Error.INVALID_REQUEST, message)
    return {
        entity: values
        for entity, values in image.quotas.items()
        if _matches(dict(entity), wanted, strict)
    }


def _matches(
    names: Mapping[str, str | None], wanted: Mapping[str, Component], strict: bool
) -> bool:
    if strict and len(names) != len(wanted):
        return False
    return all(
        kind in names and (component.match_type == SPECIFIED or names[kind] == component.match)
        for kind, component in wanted.items()
    )


def _check_component(component: Component, earlier: Mapping[str, Component]) -> None:
    kind, match_type, match = component
    error, message = Error.INVALID_REQUEST, ""
    if not kind:
        message = "Invalid empty entity type."
    elif kind in earlier:
        message = f"Entity type {kind} cannot appear more than once in the filter."
    elif kind not in (USER, CLIENT_ID, IP):
        error, message = Error.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}"
    elif match_type == EXACT:
        if match is None:
            message = "Request specified MATCH_TYPE_EXACT, but set match string to null."
    elif match_type in (DEFAULT, SPECIFIED):
        if match is not None:
            name = "DEFAULT" if match_type == DEFAULT else "SPECIFIED"
            message = f"Request specified MATCH_TYPE_{name}, but also specified a match string."
    else:
        message = f"Unknown match type {match_type}"
    if message:
        raise Refused(error, message)
