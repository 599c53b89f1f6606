"""DescribeConfigs (32): configs of topics, brokers, groups and metrics subscriptions.

Each with its value, where that comes from, and the synonyms it was looked for under (semantics I5;
config/rows.py has the rules). A group or subscription that does not exist has the defaults. The
loggers of a broker are one, `root`.

The documentation of configs is not Kafka's text but our own, and null for most of a broker's.

A resource that is asked for again is answered again, as it was found first. Resources whose configs
are the same share one list of them, and lists the rows that are the same: ten thousand topics take
little more room than one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...wire import Error, Refused
from ...wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ..base.call import INVALID_REQUEST_TEXT, Call
from ..base.turns import Slices, each_of
from ..config.definition import Row, Source
from ..config.docs import documentation
from ..config.rows import (
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from ..metadata.topic_rules import check_name
from ..security.listeners import PLAINTEXT
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import TopicConfig

Result = DescribeConfigsResponse.Result
Keys: TypeAlias = frozenset[str] | None
"""The configs that are asked for, by name; all if it is None."""

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
KINDS = frozenset({TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP})


@handler(DescribeConfigsRequest)
def describe_configs(
    cluster: Cluster, call: Call, request: DescribeConfigsRequest
) -> Slices[DescribeConfigsResponse]:
    kinds = KINDS if cluster.release.has_group_configs else KINDS - {GROUP}
    if not cluster.release.has_client_metrics:
        kinds -= {CLIENT_METRICS}
    if not cluster.release.describes_each_entry:
        kinds -= {BROKER_LOGGER}
    if any(resource.resource_type not in kinds for resource in request.resources):
        named = [(each.resource_type, each.resource_name) for each in request.resources]
        if not cluster.release.keeps_unknown_resources:
            from .configs_old import named_again

            named = named_again(cluster.release, named)
        return DescribeConfigsResponse(
            results=[
                Result(
                    error_code=Error.INVALID_REQUEST,
                    error_message=INVALID_REQUEST_TEXT,
                    resource_type=kind,
                    resource_name=name,
                    configs=[],
                )
                for kind, name in named
            ]
        )
    described = _Described(cluster, call, request)
    resources = request.resources
    if not cluster.release.answers_each_entry:
        resources = list({(r.resource_type, r.resource_name): r for r in resources}.values())
    results = yield from each_of(resources, described.resource)
    return DescribeConfigsResponse(results=results)


class _Described:
    """What the resources of one request are answered, each different thing made once."""

    def __init__(self, cluster: Cluster, call: Call, request: DescribeConfigsRequest) -> None:
        self._cluster = cluster
        self._call = call
        self._request = request
        self._results: dict[tuple[int, str, Keys], Result] = {}
        self._topics: dict[tuple[TopicConfig, Keys], list[Result.Config]] = {}
        self._lists: dict[tuple[Row, ...], list[Result.Config]] = {}
        self._configs: dict[Row, Result.Config] = {}

    def resource(self, asked: DescribeConfigsRequest.Resource) -> Result:
        names: Keys = None
        if asked.configuration_keys is not None:
            names = frozenset(asked.configuration_keys)
        if not names and self._cluster.release.answers_each_entry:
            names = None
        key = asked.resource_type, asked.resource_name, names
        if key not in self._results:
            self._results[key] = self._result(*key)
        return self._results[key]

    def _result(self, kind: int, name: str, keys: Keys) -> Result:
        if kind == CLIENT_METRICS and not self._cluster.release.shows_defaults_of_client_metrics:
            keys = None
        result = Result(resource_type=kind, resource_name=name, error_message="", configs=[])
        try:
            if kind == TOPIC:
                result.configs = self._topic(name, keys)
            else:
                rows = _rows(self._cluster, self._call, kind, name)
                result.configs = self._list(self._shown(kind, rows), keys)
        except Refused as refused:
            result.error_code, result.error_message = refused.error, refused.message or ""
        return result

    def _topic(self, name: str, keys: Keys) -> list[Result.Config]:
        check_name(name)
        broker = self._cluster.brokers[self._call.node_id]
        config = broker.config.plain_topic
        is_there = self._cluster.topics.get(name) is not None
        if is_there or self._cluster.release.looks_for_described_topics:
            config = broker.topic_config(self._cluster.topic(name))
        key = config, keys
        if key not in self._topics:
            self._topics[key] = self._list(self._shown(TOPIC, describe_topic(key[0])), keys)
        return self._topics[key]

    def _shown(self, kind: int, rows: list[Row]) -> list[Row]:
        if self._cluster.release.alters_brokers:
            return rows
        from .configs_old import before_1_0

        return before_1_0(kind, rows)

    def _list(self, rows: list[Row], keys: Keys) -> list[Result.Config]:
        shown = tuple(row for row in rows if keys is None or row.name in keys)
        if shown not in self._lists:
            self._lists[shown] = [self._config(row) for row in shown]
        return self._lists[shown]

    def _config(self, row: Row) -> Result.Config:
        if row not in self._configs:
            tells_default = not self._cluster.release.describes_defaults_only_later
            made = _config(row, self._request, tells_default=tells_default)
            self._configs[row] = made
        return self._configs[row]


def _rows(cluster: Cluster, call: Call, kind: int, name: str) -> list[Row]:
    """The configs of what is no topic. Raises Refused."""
    overrides = cluster.metadata.image.configs_of(kind, name)
    broker = cluster.brokers[call.node_id]
    if kind == BROKER and not name and cluster.release.alters_brokers:
        return describe_all_brokers(broker.config)
    if kind == BROKER:
        _check_broker(call, name, "{0} or empty string, but")
        return describe_broker(broker.config, call.node_id, _started(cluster, call.node_id))
    if kind == BROKER_LOGGER:
        if not name:
            raise Refused(Error.INVALID_REQUEST, "Broker id must not be empty")
        _check_broker(call, name, "{0} but")
        return [
            Row(logger, level, 0, Source.DYNAMIC_BROKER_LOGGER, ())
            for logger, level in cluster.loggers.levels().items()
        ]
    if kind == CLIENT_METRICS:
        if not name:
            message = "Client metrics subscription name must not be empty"
            raise Refused(Error.INVALID_REQUEST, message)
        rows = describe_client_metrics(overrides)
        if not cluster.release.shows_defaults_of_client_metrics:
            rows = [
                row._replace(kind=0, value=overrides[row.name], synonyms=())
                for row in rows
                if row.name in overrides
            ]
        return rows
    if not name:
        raise Refused(Error.INVALID_REQUEST, "Group name must not be empty")
    return describe_group(broker.config, overrides)


def _check_broker(call: Call, name: str, expected: str) -> None:
    """Raises Refused(INVALID_REQUEST) unless the name is the id of the broker that was asked."""
    try:
        node_id = int(name)
    except ValueError:
        message = f"Broker id must be an integer, but it is: {name}"
        raise Refused(Error.INVALID_REQUEST, message) from None
    if node_id != call.node_id:
        wanted = expected.format(call.node_id)
        message = f"Unexpected broker id, expected {wanted} received {name}"
        raise Refused(Error.INVALID_REQUEST, message)


def _started(cluster: Cluster, node_id: int) -> dict[str, str]:
    """What follows from how a broker was started, as its server.properties would have it."""
    broker = cluster.nodes[node_id]
    places = broker.listeners or {PLAINTEXT: (broker.host, broker.port)}
    listener = ",".join(f"{name}://{host}:{port}" for name, (host, port) in places.items())
    started = {
        "advertised.listeners": listener,
        "broker.id": str(node_id),
        "listeners": listener,
        "log.dirs": cluster.log_dir.path,
        "node.id": str(node_id),
        "process.roles": "broker,controller",
    }
    return started if broker.rack is None else started | {"broker.rack": broker.rack}


def _config(row: Row, request: DescribeConfigsRequest, *, tells_default: bool) -> Result.Config:
    return Result.Config(
        name=row.name,
        value=row.value,
        read_only=row.is_read_only,
        is_default=tells_default and row.source == Source.DEFAULT,
        config_source=row.source,
        is_sensitive=row.is_sensitive,
        synonyms=[
            Result.Config.Synonym(name=name, value=value, source=source)
            for name, value, source in (row.synonyms if request.include_synonyms else ())
        ],
        config_type=row.kind,
        documentation=documentation(row.name) if request.include_documentation else None,
    )
