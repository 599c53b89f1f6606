"""Which versions of which API both brokers serve: what their ApiVersions answers have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.wire import Request
from odradek.wire.api import API_MODULES, request_class
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.push_telemetry import PushTelemetryRequest

from .asker import Asker
from .side import Side
from .steps import MAGIC, Ask, Step

_UNADVERTISED = (GetTelemetrySubscriptionsRequest, PushTelemetryRequest)
"""Served, or refused, without being advertised."""
Range = tuple[int, int]
"""The first and the last version of an API."""


@dataclass(frozen=True)
class Served:
    """The versions that both sides serve, by each API's request; the cluster id of each side."""

    ranges: dict[type[Request], Range]
    clusters: tuple[str, ...]

    @classmethod
    def of(cls, sides: Sequence[Side], release: Release = KAFKA_4_3) -> Served:
        """Ask every side; of a release without ApiVersions it is what its table says."""
        answers: list[ApiVersionsResponse] = []
        if ApiVersionsRequest.api_key not in release.advertised:
            return cls.of_release(release)
        clusters: list[str] = []
        for side in sides:
            asker = Asker(side.address)
            answers.append(asker.ask(ApiVersionsRequest(), 0))
            last = {each.api_key: each.max_version for each in answers[-1].api_keys}
            version = min(4, last[MetadataRequest.api_key])
            clusters.append(asker.ask(MetadataRequest(topics=[]), version).cluster_id or "")
            asker.close()
        return cls.common(answers, tuple(clusters))

    @classmethod
    def of_release(cls, release: Release) -> Served:
        """What a release advertises."""
        return cls.common([advertised(release)] * 2, ("", ""))

    @classmethod
    def common(cls, answers: Sequence[ApiVersionsResponse], clusters: tuple[str, ...]) -> Served:
        """What these answers have in common."""
        ranges = [
            {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
            for answer in answers
        ]
        known = sorted(set(ranges[0]).intersection(*ranges[1:]) & set(API_MODULES))
        common = {
            request_class(key): _common(request_class(key), [each[key] for each in ranges])
            for key in known
        }
        if not _converts(common) and ProduceRequest in common:
            # Kafka 4 advertises Produce from 0 on and serves it from 3 on (KAFKA-18659).
            first, last = common[ProduceRequest]
            common[ProduceRequest] = max(first, 3), last
        both = {
            request: (first, last) for request, (first, last) in common.items() if first <= last
        }
        return cls(both, clusters)

    def serves(self, request: type[Request], version: int = 0) -> bool:
        """Whether both have an API, in this version or later."""
        return request in self.ranges and self.ranges[request][1] >= version

    def fitting(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        """The steps without those that ask for an API that a release does not have. Where a later
        version is meant than it has, its last one; where topics cannot be created, Metadata that
        names them, which creates them as well."""
        known = {*self.ranges, *_UNADVERTISED}
        fitted = (self._created(step) if isinstance(step, Ask) else step for step in steps)
        return tuple(
            self._in_range(step) if isinstance(step, Ask) else step
            for step in fitted
            if not isinstance(step, Ask) or type(step.request) in known
        )

    def _created(self, step: Ask) -> Ask:
        if not isinstance(step.request, CreateTopicsRequest) or self.serves(CreateTopicsRequest):
            return step
        topics = [MetadataRequest.Topic(name=each.name) for each in step.request.topics]
        return replace(step, request=MetadataRequest(topics=topics), version=0)

    def _in_range(self, step: Ask) -> Ask:
        if type(step.request) not in self.ranges:
            return step
        _, last = self.ranges[type(step.request)]
        version = step.version
        if version is None or not last < version <= type(step.request).last_version:
            return step
        return replace(step, version=last)

    def version(self, step: Ask) -> int:
        """The version of a step: its own, or the newest that both serve."""
        if step.version is not None:
            return step.version
        return self.ranges[type(step.request)][1]

    def versions(self, request: type[Request]) -> range:
        """Every version of an API that both serve."""
        first, last = self.ranges[request]
        return range(first, last + 1)

    @property
    def magic(self) -> int:
        """The newest format of messages that both take."""
        return min(max(0, self.ranges[ProduceRequest][1] - 1), MAGIC)

    @property
    def checks_counts(self) -> bool:
        """Whether brokers refuse a batch that does not say rightly how many records it has, as
        releases from 1.0 on do. Before, they store it with offsets of the past."""
        return self.serves(FetchRequest, 6)

    @property
    def ignores_formats(self) -> bool:
        """Whether brokers store messages in the newest format, as releases from 3.0 on do, also
        where a topic has another one."""
        return self.serves(ListOffsetsRequest, 7)

    @property
    def converts(self) -> bool:
        """Whether both take and give message sets of before 0.11, as releases up to 3.9 do."""
        return _converts(self.ranges)


def advertised(release: Release) -> ApiVersionsResponse:
    """What the table of a release says, as ApiVersions answers it."""
    api = ApiVersionsResponse.Api
    return ApiVersionsResponse(
        api_keys=[
            api(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in release.advertised.items()
        ]
    )


def _common(request: type[Request], ranges: list[Range]) -> Range:
    firsts = [first for first, _ in ranges]
    lasts = [last for _, last in ranges]
    return max(*firsts, request.first_version), min(*lasts, request.last_version)


def _converts(ranges: dict[type[Request], Range]) -> bool:
    return ranges[FetchRequest][0] == 0
