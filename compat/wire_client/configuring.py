"""Configs set while a broker runs. Source: KIP-339 (IncrementalAlterConfigs)."""

from __future__ import annotations

from collections.abc import Mapping

from ...wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from .source import Source, check

TOPIC, BROKER, GROUP = 2, 4, 32
ALL_BROKERS = ""
_VERSION = 1
_SET, _DELETE = 0, 1


def set_configs(source: Source, kind: int, name: str, texts: Mapping[str, str | None]) -> None:
    """Set configs of a topic, a group or the brokers; None goes back to the default. Raises
    Refused: INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION."""
    made = IncrementalAlterConfigsRequest.Resource
    configs = [
        made.Config(name=key, config_operation=_DELETE if text is None else _SET, value=text)
        for key, text in texts.items()
    ]
    resource = made(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    (answer,) = source.ask(request, _VERSION).responses
    what = "the configs of the brokers" if kind == BROKER else f"the configs of {name}"
    check(answer.error_code, what, answer.error_message)
