"""Records that are deleted before they were read, and a limit that is lowered under a producer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...wire import Error, Refused, Response
from ...wire.api.describe_configs import DescribeConfigsRequest
from ...wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ...wire.api.produce import ProduceResponse
from ..base.call import Call
from ..control.rules.verbs.noticing import Notice
from ..facets.rule_view import RuleView
from ..seen import GroupView, TopicView
from ..seen.source import check

if TYPE_CHECKING:
    from .situated import Situated

_LIMIT = "max.message.bytes"
_TOPIC, _OF_THE_TOPIC = 2, 1
_SET, _DELETE = 0, 1
_DESCRIBE_CONFIGS, _ALTER_CONFIGS = 4, 1  # versions that all of these releases serve


def overtake(topic: TopicView, group: GroupView | None, keep: int) -> dict[int, int]:
    """Delete all but the last offsets. Raises ValueError if a group has read them."""
    offsets = None if group is None else _committed(group, topic.name)
    begins: dict[int, int] = {}
    for partition in topic:
        start = max(partition.log_start_offset, partition.log_end_offset - keep)
        if start == partition.log_start_offset:
            continue
        if offsets is None or offsets.get((topic.name, partition.index), start) < start:
            partition.truncate(start)
            begins[partition.index] = start
    if not begins and group is not None:
        raise ValueError(f"{group!r} has read of {topic.name} whatever would be deleted")
    if not begins:
        raise ValueError(f"{topic.name} has no more than {keep} offsets in any partition")
    return begins


def _committed(group: GroupView, topic: str) -> dict[tuple[str, int], int]:
    offsets = group.offsets()
    if not any(name == topic for name, _ in offsets):
        raise ValueError(
            f"{group!r} has committed nothing of {topic}, so it would notice nothing: it begins by "
            "auto.offset.reset. Have it commit first, as by "
            f"kafka.group({group.group_id!r}).commit({{({topic!r}, 0): 1}}), or leave out group"
        )
    return offsets


def refusals(kafka: Situated, topic: str) -> RuleView:
    """Notices batches that are refused as too large."""

    def is_refused(_: Call, response: Response) -> bool:
        return isinstance(response, ProduceResponse) and any(
            each.error_code == Error.MESSAGE_TOO_LARGE
            for found in response.responses
            for each in found.partition_responses
        )

    return kafka.on("Produce", topic=topic)._set("too large", Notice(is_refused))


def limit(kafka: Situated, topic: str, max_bytes: int) -> Callable[[], None]:
    """Set the topic's limit; returns what puts back the one before. Raises Refused."""
    asked = DescribeConfigsRequest.Resource(
        resource_type=_TOPIC, resource_name=topic, configuration_keys=[_LIMIT]
    )
    request = DescribeConfigsRequest(resources=[asked])
    (found,) = kafka._inside.ask(request, _DESCRIBE_CONFIGS).results
    check(found.error_code, f"the configs of {topic}", found.error_message)
    (config,) = found.configs
    before = config.value if config.config_source == _OF_THE_TOPIC else None
    _set(kafka, topic, str(max_bytes))

    def put_back() -> None:
        with suppress(Refused):  # the topic is gone, and its limit with it
            _set(kafka, topic, before)

    return put_back


def _set(kafka: Situated, topic: str, value: str | None) -> None:
    resource: Any = IncrementalAlterConfigsRequest.Resource
    operation = _DELETE if value is None else _SET
    config = resource.Config(name=_LIMIT, config_operation=operation, value=value)
    changed = resource(resource_type=_TOPIC, resource_name=topic, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[changed], validate_only=False)
    (answer,) = kafka._inside.ask(request, _ALTER_CONFIGS).responses
    check(answer.error_code, f"{_LIMIT} of {topic}", answer.error_message)
