"""Configs of topics, brokers, groups and client metrics: describing and altering them."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.wire.api.describe_configs import DescribeConfigsRequest

from tests.requests.configs import Change, Pair, alter_request, change_request

from ..engine.steps import Ask

# Kinds of resources that have configs.
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
# Operations of IncrementalAlterConfigs.
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def configs(
    *resources: tuple[int, str],
    keys: list[str] | None = None,
    synonyms: bool = False,
    docs: bool = False,
) -> Ask:
    """Ask for the configs of (type, name) each."""
    return Ask(
        DescribeConfigsRequest(
            resources=[
                DescribeConfigsRequest.Resource(
                    resource_type=kind, resource_name=name, configuration_keys=keys
                )
                for kind, name in resources
            ],
            include_synonyms=synonyms,
            include_documentation=docs,
        )
    )


def alter(*resources: tuple[int, str, Sequence[Pair]], only: bool = False) -> Ask:
    """Replace the configs of (type, name) each."""
    return Ask(alter_request(*resources, validate_only=only))


def change(*resources: tuple[int, str, Sequence[Change]], only: bool = False) -> Ask:
    """Change configs of (type, name) each: (key, operation, value)."""
    return Ask(change_request(*resources, validate_only=only))


def put_in(kind: int, name: str, *pairs: Pair, only: bool = False) -> Ask:
    """Set some configs of one resource."""
    return change((kind, name, [(key, SET, value) for key, value in pairs]), only=only)


def reset(kind: int, name: str, *keys: str) -> Ask:
    """Remove what was set: the defaults apply again."""
    return change((kind, name, [(key, DELETE, None) for key in keys]))


def shown(kind: int, name: str, *keys: str) -> Ask:
    return configs((kind, name), keys=list(keys) or None, synonyms=True)
