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

from functools import partial
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.fetch import FetchRequest, FetchResponse
from ..base.call import NO_REPLY, Call, Sentinel
from ..base.turns import Slices
from ..partitions.fetch_sessions import A_SLICE, Session, Wanted, WantedPartitions
from ..partitions.fetch_waits import Awaited, FetchWait, Reader, awaited
from ..partitions.partition import NO_EPOCH
from .fetch_run import ISOLATION_LEVELS, Answers, FetchRun, Reading
from .registry import Outcome, handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Partition


@handler(FetchRequest)
def fetch(cluster: Cluster, call: Call, request: FetchRequest) -> Outcome:
    """Of few partitions at once, of many in slices."""
    is_unknown = request.isolation_level not in ISOLATION_LEVELS
    if is_unknown and not cluster.release.refuses_unknown_levels:
        call.close()
        return NO_REPLY
    session = None
    try:
        if call.version >= 7:
            sessions = cluster.brokers[call.node_id].fetch_sessions
            session = sessions.begin(request, call.version, call.now)
    except Refused as refused:
        return FetchResponse(error_code=refused.error, responses=[])
    work = FetchRun(cluster, call, request, session, is_much=_is_much(session, request))
    if work.is_much:
        return _outcome(work, request)
    for _ in _fetch(work, request):  # it yields nothing
        pass
    return work.outcome


def _outcome(work: FetchRun, request: FetchRequest) -> Slices[FetchResponse | Sentinel]:
    yield from _fetch(work, request)
    return work.outcome


def _fetch(work: FetchRun, request: FetchRequest) -> Slices[None]:
    """At each yield topics may go, which reading them notices."""
    session, call = work.session, work.call
    if session is not None:
        sessions = work.cluster.brokers[call.node_id].fetch_sessions
        try:
            if not (yield from sessions.update(session, request, call.now)):
                session = work.session = None
        except Refused as refused:
            work.outcome = FetchResponse(error_code=refused.error, responses=[])
            return
    if session is not None:
        partitions = session.partitions
    else:
        partitions = WantedPartitions()
        yield from partitions.add(request)
    del request  # that of many partitions takes much memory
    reading = Reading(work.max_bytes)
    for wanted in work.sliced(partitions.all()):
        found = work.find(wanted)
        if found and work.reads_nothing:
            work.outcome = work.refused(Error.UNKNOWN_SERVER_ERROR)
            return
        work.read(reading, found)
        if work.is_much:
            yield
    if work.waits(reading):
        parts: list[Awaited] = []
        for found in work.sliced(work.found):
            parts += map(_awaited, found)
            if work.is_much:
                yield
        is_gone = any(partition.topic.is_deleted for _, partition in work.found)
        if not is_gone and _wait(work, parts):
            return
        reading = yield from _read(work)  # there may be more by now
    yield from _respond(work, reading)


def _is_much(session: Session | None, request: FetchRequest) -> bool:
    """Whether a request names, or its session has, more than is done at once."""
    size = len(request.topics) if session is None else len(request.topics) + session.partitions.size
    for topic in request.topics:
        size += len(topic.partitions)
    for forgotten in request.forgotten_topics_data:
        size += 1 + len(forgotten.partitions)
    return size >= A_SLICE


def _read(work: FetchRun) -> Slices[Reading]:
    reading = Reading(work.max_bytes)
    for found in work.sliced(work.found):
        work.read(reading, found)
        if work.is_much:
            yield
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
    """The wait is over."""
    if work.is_much:
        work.cluster.turns.begin(_answer(work))
    else:
        for _ in _answer(work):
            pass


def _answer(work: FetchRun) -> Slices[None]:
    """Answer with what is there now."""
    reading = yield from _read(work)
    yield from _respond(work, reading)
    if isinstance(work.outcome, FetchResponse):
        work.call.answer(work.outcome)


def _respond(work: FetchRun, reading: Reading) -> Slices[None]:
    answers = reading.answers
    if work.unknown:
        answers += work.unknown  # what is unknown comes last
    response = work.response()
    tells = work.tells(reading)
    reported: Answers = []
    for some in work.sliced(answers):
        if work.session is not None:
            some = work.news(work.session, some)
        if work.is_converted:
            try:
                some = work.as_old(some)
            except Refused as refused:
                work.outcome = work.refused(refused.error)
                return
        work.add(response, some)
        if tells:
            reported += some
        if work.is_much:
            yield
    for some in work.sliced(reported) if tells else ():
        work.tell(some)
        if work.is_much:
            yield
    work.outcome = response
