"""The configs of a metrics subscription (KIP-714): which clients send which metrics, how often.

`check_client_metrics` judges them as Kafka does: `interval.ms` from 100 ms to an hour, `match` a
list of `selector=regular expression`. Kafka uses Java's regular expressions; here Python's decide
whether one is well formed, which says the same of all but exotic ones.

Not emulated: subscriptions are kept and shown, but clients are not asked for metrics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...wire import Error, Refused
from ..base.java_order import hash_map_order
from .definition import ConfigError, Kind
from .group import client_metrics_definitions

CLIENT_METRICS_RESOURCE = 16

INTERVAL_MIN_MS, INTERVAL_MAX_MS = 100, 3_600_000
SELECTORS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


def check_client_metrics(overrides: Mapping[str, str], *, checks_lists: bool = True) -> None:
    """Judge what a subscription is to have; `checks_lists`: the items of its lists, too, as since
    4.2. Raises Refused (INVALID_REQUEST, INVALID_CONFIG)."""
    definitions = client_metrics_definitions()
    if not checks_lists:
        definitions = {
            name: row._replace(rule="free") if row.kind is Kind.LIST else row
            for name, row in definitions.items()
        }
    for name in hash_map_order(overrides):
        if name not in definitions:
            message = f"Unknown client metrics configuration: {name}"
            raise Refused(Error.INVALID_REQUEST, message)
    try:
        values = {
            name: definition.parse(overrides[name])
            for name, definition in definitions.items()
            if name in overrides
        }
    except ConfigError as error:
        raise Refused(Error.INVALID_CONFIG, str(error)) from None
    interval = values.get("interval.ms", INTERVAL_MAX_MS)
    if not INTERVAL_MIN_MS <= interval <= INTERVAL_MAX_MS:
        message = (
            f"Invalid value {interval} for interval.ms, interval must be between "
            f"{INTERVAL_MIN_MS} and {INTERVAL_MAX_MS} (1 hour)"
        )
        raise Refused(Error.INVALID_REQUEST, message)
    for pattern in values.get("match", ()):
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    parts = pattern.split("=")
    is_valid = len(parts) == 2 and parts[0].strip() in SELECTORS and bool(parts[1].strip())
    try:
        if is_valid:
            re.compile(parts[1].strip())
    except re.error:
        is_valid = False
    if not is_valid:
        message = f"Illegal client matching pattern: {pattern}"
        raise Refused(Error.INVALID_CONFIG, message)
