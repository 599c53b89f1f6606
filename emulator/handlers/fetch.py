"""Fetch (1): read from partitions; wait when there is too little.

Answered at once when nothing is to be waited for (partitions/fetch_waits.py), when enough is there
(min_bytes), or when a partition fails; an unknown partition alone fails nothing while another is
valid. Otherwise the call is parked until more is appended or max_wait_ms are over, and then
everything is read anew (semantics, C1-C13). What is done for each partition:
fetch_run.py; what old clients get of it: fetch_old.py.

The leader answers, and from v11 on a follower too, by what its replica has. A client that names its
rack may be sent to a replica there (closest_replica.py). Not emulated: requests of followers (one
with the replica id of a broker is answered that this is no leader), tiered storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ...wire import Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.call import PARKED, Call, Sentinel
from ..base.turns import Slices
from ..partitions.fetch_sessions import A_SLICE, Session, Wanted, WantedPartitions
from ..partitions.fetch_waits import Awaited, FetchWait, Reader, awaited
from ..partitions.partition import NO_EPOCH
from .fetch_run import Answers, FetchRun, Reading
from .registry import Outcome, handles

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition

T = TypeVar("T")


@handles(FetchRequest)
def fetch(cluster: Cluster, call: Call, request: FetchRequest) -> Outcome:
    """Of few partitions at once, of many in slices."""
    session = None
    try:
        if call.version >= 7:
            sessions = cluster.brokers[call.node_id].fetch_sessions
            session = sessions.begin(request, call.version, call.now)
            if _is_much(session, request):
                return _fetch_in_slices(cluster, call, request, session)
            if session is not None and not sessions.update(session, request, call.now):
                session = None
        elif _is_much(None, request):
            return _fetch_in_slices(cluster, call, request, None)
    except Refused as refused:
        return FetchResponse(error_code=refused.error, responses=[])
    if session is not None:
        partitions = session.partitions
    else:
        partitions = WantedPartitions()
        partitions.add(request)
    work = FetchRun(cluster, call, request, session)
    work.find(partitions.all())
    if work.has_bad_isolation:
        return work.refused(Error.UNKNOWN_SERVER_ERROR)
    reading = _read(work)
    if work.waits(reading) and _wait(work, [*map(_awaited, work.found)]):
        return PARKED
    return _response(work, reading)


def _is_much(session: Session | None, request: FetchRequest) -> bool:
    """Whether a request names, or its session has, more than is done at once."""
    size = len(request.topics) if session is None else len(request.topics) + session.partitions.size
    for topic in request.topics:
        size += len(topic.partitions)
    for forgotten in request.forgotten_topics_data:
        size += 1 + len(forgotten.partitions)
    return size >= A_SLICE


def _read(work: FetchRun) -> Reading:
    reading = Reading(work.max_bytes)
    work.read(reading, work.found)
    return reading


def _awaited(found: tuple[Wanted, Partition]) -> Awaited:
    wanted, partition = found
    epoch = max(wanted.current_leader_epoch, NO_EPOCH)
    return awaited(partition, wanted.fetch_offset, wanted.max_bytes, epoch)


def _wait(work: FetchRun, parts: list[Awaited]) -> bool:
    """Park the call until there is more. Returns False if there is nothing to wait for."""
    finish = partial(_finish, work)
    reader = Reader(work.call.node_id, work.isolation, work.leader_only)
    wait = FetchWait(work.cluster, parts, work.min_bytes, reader, finish)
    if not wait.begin(work.max_wait_ms):
        return False
    work.call.on_lost = wait.cancel
    return True


def _finish(work: FetchRun) -> None:
    """The wait is over: answer with what is there now."""
    if len(work.found) + len(work.unknown) < A_SLICE:
        work.call.answer(_response(work, _read(work)))
    else:
        work.cluster.turns.begin(_finish_in_slices(work))


def _response(work: FetchRun, reading: Reading) -> FetchResponse:
    answers = reading.answers
    if work.unknown:
        answers += work.unknown  # what is unknown comes last
    if work.session is not None:
        answers = work.news(work.session, answers)
    if work.is_converted:
        try:
            answers = work.as_old(answers)
        except Refused as refused:
            return work.refused(refused.error)
    response = work.response()
    work.add(response, answers)
    if work.tells(reading):
        work.tell(answers)
    return response


# The same in slices. At each yield topics may go, which reading them notices.


def _fetch_in_slices(
    cluster: Cluster, call: Call, request: FetchRequest, session: Session | None
) -> Slices[FetchResponse | Sentinel]:
    if session is not None:
        sessions = cluster.brokers[call.node_id].fetch_sessions
        try:
            if not (yield from sessions.update_in_slices(session, request, call.now)):
                session = None
        except Refused as refused:
            return FetchResponse(error_code=refused.error, responses=[])
    if session is not None:
        partitions = session.partitions
    else:
        partitions = WantedPartitions()
        yield from partitions.add_in_slices(request)
    work = FetchRun(cluster, call, request, session)
    del request  # that of many partitions takes much memory
    for wanted in _sliced(partitions.all()):
        work.find(wanted)
        yield
    if work.has_bad_isolation:
        return work.refused(Error.UNKNOWN_SERVER_ERROR)
    reading = yield from _read_in_slices(work)
    if work.waits(reading):
        parts: list[Awaited] = []
        for found in _sliced(work.found):
            parts += map(_awaited, found)
            yield
        is_gone = any(partition.topic.is_deleted for _, partition in work.found)
        if not is_gone and _wait(work, parts):
            return PARKED
        reading = yield from _read_in_slices(work)  # there may be more by now
    return (yield from _response_in_slices(work, reading))


def _finish_in_slices(work: FetchRun) -> Slices[None]:
    reading = yield from _read_in_slices(work)
    response = yield from _response_in_slices(work, reading)
    work.call.answer(response)


def _read_in_slices(work: FetchRun) -> Slices[Reading]:
    reading = Reading(work.max_bytes)
    for found in _sliced(work.found):
        work.read(reading, found)
        yield
    return reading


def _response_in_slices(work: FetchRun, reading: Reading) -> Slices[FetchResponse]:
    answers = reading.answers + work.unknown
    if work.session is not None:
        news: Answers = []
        for some in _sliced(answers):
            news += work.news(work.session, some)
            yield
        answers = news
    if work.is_converted:
        old: Answers = []
        try:
            for some in _sliced(answers):
                old += work.as_old(some)
                yield
        except Refused as refused:
            return work.refused(refused.error)
        answers = old
    response, tells = work.response(), work.tells(reading)
    for some in _sliced(answers):
        work.add(response, some)
        if tells:
            work.tell(some)
        yield
    return response


def _sliced(items: list[T]) -> Iterator[list[T]]:
    """All of a list, so many at a time."""
    for first in range(0, len(items), A_SLICE):
        yield items[first : first + A_SLICE]
