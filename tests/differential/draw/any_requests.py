"""Sequences of requests that are drawn from their schemas alone: of any API, about offsets, and
with damaged frames."""

from __future__ import annotations

from random import Random

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from odradek.wire.api.produce import ProduceRequest

from ..engine.served import Served
from ..engine.steps import Ask, Damage, Steps
from .logs import acknowledged
from .requests import NOT_AT_RANDOM, draw_request

_ABOUT_OFFSETS = (
    ListOffsetsRequest,
    *[OffsetCommitRequest] * 2,
    *[OffsetFetchRequest] * 3,
    DescribeGroupsRequest,
    ListGroupsRequest,
    DeleteTopicsRequest,
    DeleteRecordsRequest,
    OffsetForLeaderEpochRequest,
)


def any_api(random: Random, served: Served) -> Steps:
    steps: Steps = []
    apis = [api for api in served.ranges if api not in NOT_AT_RANDOM]
    for _ in range(40):
        api = random.choice(apis)
        version = random.choice(served.versions(api))
        steps += acknowledged(draw_request(random, api, version), version)
    return steps


def offsets(random: Random, served: Served) -> Steps:
    apis = [api for api in _ABOUT_OFFSETS if api in served.ranges]
    steps: Steps = []
    for _ in range(30):
        api = random.choice(apis)
        version = random.choice(served.versions(api))
        steps.append(Ask(draw_request(random, api, version), version))
    return steps


def damage(random: Random, served: Served) -> Steps:
    """Requests whose frames were cut, lengthened, or claim another version."""
    steps: Steps = []
    apis = [api for api in served.ranges if api not in {*NOT_AT_RANDOM, ProduceRequest}]
    for number in range(25):
        api = random.choice(apis)
        versions = served.versions(api)
        version = random.choice(versions)
        request = draw_request(random, api, version)
        on = f"c{number}"
        how = random.random()
        if how < 0.5:
            steps.append(Ask(request, version, on, damage=Damage(cut=random.choice((1, 1, 2, 5)))))
        elif how < 0.7:
            steps.append(
                Ask(request, version, on, damage=Damage(extra=b"\0" * random.choice((1, 9))))
            )
        elif how < 0.85 and served.serves(ApiVersionsRequest):  # 0.8 looks at no version
            claim = random.choice((versions[0] - 1, versions[-1] + 1, -1, 99))
            steps.append(Ask(request, version, on, claim=claim))
        else:
            steps.append(Ask(request, version, on))
    return steps
