"""Produce (0): append a batch to each of some partitions.

What is checked, in order: the topic and partition; one whole batch of magic 2; whether the
transaction may have it (transactions/admission.py, for all partitions before anything is appended);
acks; internal topics; the batch itself (partitions/produced_batches.py); the producer's epoch and
sequence (storage.producers). Message sets of magic 0 and 1, in v0-2 of old releases:
produce_old.py. With acks 0 there is no answer, and any error closes the connection. Advertised from
v0 on though v0-2 close the connection, because librdkafka would otherwise turn compression off
(KAFKA-18659). The same partition twice in a request: only the last is appended, and answered. Data
that begins with an impossible size or magic refuses the whole request, as a transactional batch
without an id. Where `flush.messages` asks for a flush, the answer waits for it; with acks=all also
until every replica in sync has the batch (partitions/acknowledging.py).

What nearly all send is judged in one pass and appended in another (`_plain`); if anything is
unusual, nothing has happened yet, and the whole request takes the longer way.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...wire import NO_ID, Error, Refused
from ...wire.api.produce import ProduceRequest, ProduceResponse
from ...wire.batch import BatchHeader
from ..base.call import NO_REPLY, PARKED, Call, Sentinel
from ..base.turns import Slices
from ..partitions.acknowledging import AckWait, Unreplicated
from ..partitions.produced import ZSTD_SINCE, Produced
from ..partitions.produced_batches import plain_header, validate
from ..transactions.admission import Candidate, of_produce, refusals
from ..transactions.transaction import Key, Producer
from .flushed_answers import Acknowledged
from .produce_old import BATCHES_SINCE, is_old, refusal_of_all, to_be_stored
from .produce_results import (
    BeforeAppend,
    Result,
    append_checked,
    append_messages,
    not_replicated,
    refuse,
    refused_result,
    respond,
)
from .registry import Outcome, handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import TopicConfig
    from ..partitions.partition import Partition, Topic

Answer = ProduceResponse.Topic
_ALL = -1
_ACKS = (_ALL, 0, 1)
_PRODUCER_ID_END = 51
_SECOND_GENERATION_SINCE = 12
_AT_ONCE = 20
"""How many partitions are appended to at once."""
_PARSED_A_SLICE = 100
_APPENDED_A_SLICE = 3
_ADMIN = "__admin_client"


class Sent(NamedTuple):
    """What a request holds for one partition; topic and partition, as far as they exist."""

    asked: ProduceRequest.Topic
    topic: Topic | None
    number: int
    partition: Partition | None
    data: Produced


class Answered(NamedTuple):
    """What is answered for one partition, and whether that waits for a flush, or for replicas."""

    asked: ProduceRequest.Topic
    result: Result
    unflushed: Acknowledged | None = None
    unreplicated: Unreplicated | None = None


class Plain(NamedTuple):
    """The batches of a request for one topic, to be stored as they are."""

    asked: ProduceRequest.Topic
    topic: Topic
    config: TopicConfig
    batches: list[tuple[Partition, memoryview, BatchHeader]]


Refusals: TypeAlias = tuple[Refused | None, dict[Key, Refused]]
"""What is refused before anything is appended: all of a request, or some partitions."""


@handler(ProduceRequest)
def produce(cluster: Cluster, call: Call, request: ProduceRequest) -> Outcome:
    plain = _plain(cluster, call, request)
    if plain is not None:
        return _append_plain(cluster, call, request.acks, plain)
    return _produce_any(cluster, call, request)


def _plain(cluster: Cluster, call: Call, request: ProduceRequest) -> list[Plain] | None:
    """What a request holds, if that is what nearly all do: one valid batch for each of some
    partitions that are led here, named once, and of no transaction. None if anything in it is
    unusual, and judged in the other way."""
    acks, node_id = request.acks, call.node_id
    if request.transactional_id is not None or acks not in _ACKS or call.version < BATCHES_SINCE:
        return None
    found: list[Plain] = []
    left, broker = _AT_ONCE, cluster.brokers[node_id]
    for asked in request.topic_data:
        topic, entries = _topic(cluster, call, asked), asked.partition_data
        left -= len(entries)
        if topic is None or topic.is_internal or not entries or left < 0:
            return None
        partitions, config = topic.partitions, broker.topic_config(topic)
        batches: list[tuple[Partition, memoryview, BatchHeader]] = []
        for entry in entries:
            if not 0 <= entry.index < len(partitions):
                return None
            partition = partitions[entry.index]
            if partition.leader != node_id or partition.apart is not None:
                return None
            if acks == _ALL and len(partition.isr) < topic.config.min_insync_replicas:
                return None
            batch = memoryview(entry.records or b"")
            header = plain_header(batch, config, call.now, cluster.scan_limit)
            if header is None:
                return None
            batches.append((partition, batch, header))
        found.append(Plain(asked, topic, config, batches))
    return found if _names_each_once(found) else None


def _names_each_once(found: list[Plain]) -> bool:
    for each in found:
        if len({partition for partition, _, _ in each.batches}) < len(each.batches):
            return False
    return len({each.topic for each in found}) == len(found) > 0


def _append_plain(
    cluster: Cluster, call: Call, acks: int, plain: list[Plain]
) -> ProduceResponse | Sentinel:
    topics: list[Answer] = []
    unflushed: list[Acknowledged] = []
    leaders: set[int] = set()
    for asked, topic, config, batches in plain:
        results: list[Result] = []
        for partition, batch, header in batches:
            given = cluster.journal, call, acks, config, partition
            try:
                result = append_checked(*given, batch, header)
            except Refused as refused:
                result = refused_result(cluster, call, asked, topic, partition.index, refused)
                leaders.add(result.current_leader.leader_id)
            else:
                if partition.log.awaited_offset is not None:
                    unflushed.append(Acknowledged(partition.log, partial(refuse, result)))
            results.append(result)
        topics.append(Answer(name=asked.name, topic_id=asked.topic_id, partition_responses=results))
    if acks == 0:
        if leaders:
            call.close()
        return NO_REPLY
    return respond(cluster, call, topics, leaders, unflushed)


def _produce_any(
    cluster: Cluster, call: Call, request: ProduceRequest
) -> Slices[ProduceResponse | Sentinel]:
    """Anything else: partition by partition, large batches piece by piece. At each yield topics may
    go, and transactions end; so both are looked up again before a batch is appended."""
    sent: list[Sent] = []
    for asked in request.topic_data:
        for first in range(0, len(asked.partition_data), _PARSED_A_SLICE):
            if sent:
                yield
            some = asked.partition_data[first : first + _PARSED_A_SLICE]
            _add_sent(sent, cluster, call, asked, some)
    if not cluster.release.answers_empty_sets:
        if not _may_be_parsed(cluster, call, sent):
            call.close()
            return NO_REPLY
        is_transactional = any(each.data.is_transactional for each in sent)
        sent = [entries[-1] for entries in _by_partition(sent)]
        if is_transactional and cluster.release.names_invalid_records:
            sent[0].data.is_transactional = True  # also where another entry was
    refusals = _refusals(cluster, call, request, sent)
    answers: list[Answered] = []
    for number, entries in enumerate(_by_partition(sent), 1):
        if not number % _APPENDED_A_SLICE:
            yield
        yield from _check_beforehand(cluster, call, entries, refusals)
        entries = [_looked_up(cluster, call, each) for each in entries]
        if refusals[0] is None and request.transactional_id is not None:
            again = _not_admitted(cluster, call, entries, request.transactional_id)
            refusals[1].update({key: why for key, why in again.items() if key not in refusals[1]})
        answers.append(_answer(cluster, call, request, entries, refusals))
    return _outcome(cluster, call, request, answers)


def _may_be_parsed(cluster: Cluster, call: Call, sent: list[Sent]) -> bool:
    """Whether an old broker takes the request: it looks at the first entry of each partition, and
    one up to 2.0 whether it is the only one, where a request may hold nothing but batches."""
    if cluster.release.names_invalid_records:
        return all(each.data.begins() for each in sent)
    magic_first = cluster.release.looks_at_magic_first
    takes_sets = call.version < BATCHES_SINCE
    return takes_sets or all(each.data.is_lone(magic_first=magic_first) for each in sent)


def _check_beforehand(
    cluster: Cluster, call: Call, entries: list[Sent], refusals: Refusals
) -> Slices[None]:
    """Check the batch that is to be appended."""
    _, topic, number, partition, _ = entries[0]
    takes_sets = is_old(cluster.release, call.version)
    found = entries[-1].data if takes_sets else _last_whole(entries)[0]
    if topic is None or partition is None or found is None:
        return
    name, config = f"{topic.name}-{number}", _config(cluster, call, topic)
    rest = config, call.now, cluster.scan_limit, name, cluster.decompressing
    try:
        _check_refusals(refusals, topic, number)
        if takes_sets:
            found.checked = yield from to_be_stored(found.data, *rest)
        else:
            assert found.batch is not None
            if cluster.release.gathers_record_errors:
                found.checked = [(yield from validate(found.batch, found.header, *rest))]
            else:
                found.checked = yield from to_be_stored(found.batch, *rest)
    except Refused as refused:
        found.checked = refused


def _refusals(cluster: Cluster, call: Call, request: ProduceRequest, sent: list[Sent]) -> Refusals:
    """What is refused before anything is appended."""
    walks = cluster.release.walks_produced_batches
    if not cluster.release.names_invalid_records:
        refused = _refusal_before_2_4(cluster, call, request, sent)
    else:
        refused = _refusal_of_all(call, request, sent, walks=walks)
    if refused is None and request.transactional_id is not None:
        try:
            return None, _not_admitted(cluster, call, sent, request.transactional_id)
        except Refused as error:
            refused = error
    return refused, {}


def _check_refusals(refusals: Refusals, topic: Topic | None, index: int) -> None:
    """Raises Refused if a partition is among them."""
    refused, not_admitted = refusals
    if refused is not None:
        raise refused
    if not_admitted and topic is not None and (topic.name, index) in not_admitted:
        raise not_admitted[topic.name, index]


def _answer(
    cluster: Cluster, call: Call, request: ProduceRequest, entries: list[Sent], refusals: Refusals
) -> Answered:
    """Append to one partition, or say why not."""
    asked, topic, index, partition, _ = entries[0]
    try:
        _check_refusals(refusals, topic, index)
        result = _produce(cluster, call, request, entries)
    except Refused as error:
        if not cluster.release.names_invalid_records:
            error = _before_2_4(error)
        return Answered(asked, refused_result(cluster, call, asked, topic, index, error))
    unflushed = unreplicated = None
    assert partition is not None
    if partition.log.awaited_offset is not None:
        unflushed = Acknowledged(partition.log, partial(refuse, result))
    if request.acks == _ALL and partition.apart is not None:
        end = partition.log_end_offset
        if partition.high_watermark < end:
            late = partial(not_replicated, result, partition)
            unreplicated = Unreplicated(partition, call.node_id, end, late)
    return Answered(asked, result, unflushed, unreplicated)


_BEFORE_2_4 = {
    Error.INVALID_RECORD: Error.CORRUPT_MESSAGE,
    Error.UNSUPPORTED_COMPRESSION_TYPE: Error.UNKNOWN_SERVER_ERROR,
}


def _before_2_4(refused: Refused) -> Refused:
    """What a broker answers that has fewer errors, and does not know zstd."""
    error = _BEFORE_2_4.get(refused.error)
    return refused if error is None else Refused(error, refused.message)


def _outcome(
    cluster: Cluster, call: Call, request: ProduceRequest, answers: list[Answered]
) -> ProduceResponse | Sentinel:
    """The response, topic by topic. With acks 0 there is none; any error closes the connection."""
    if request.acks == 0:
        if any(answer.result.error_code for answer in answers):
            call.close()
        return NO_REPLY
    waits = [answer.unreplicated for answer in answers if answer.unreplicated is not None]
    if not waits:
        return _response(cluster, call, answers)

    def finish() -> None:
        outcome = _response(cluster, call, answers)
        if isinstance(outcome, ProduceResponse):
            call.answer(outcome)

    wait = AckWait(cluster, waits, finish)
    wait.begin(request.timeout_ms)
    call.on_lost = wait.cancel
    return PARKED


def _response(cluster: Cluster, call: Call, answers: list[Answered]) -> ProduceResponse | Sentinel:
    topics: dict[tuple[bytes, str], Answer] = {}
    leaders: set[int] = set()
    for asked, result, *_ in answers:
        key = asked.topic_id, asked.name
        if key not in topics:
            topics[key] = Answer(name=asked.name, topic_id=asked.topic_id, partition_responses=[])
        topics[key].partition_responses.append(result)
        if result.error_code:
            leaders.add(result.current_leader.leader_id)
    unflushed = [answer.unflushed for answer in answers if answer.unflushed is not None]
    return respond(cluster, call, list(topics.values()), leaders, unflushed)


def _add_sent(
    sent: list[Sent],
    cluster: Cluster,
    call: Call,
    asked: ProduceRequest.Topic,
    entries: list[ProduceRequest.Topic.Partition],
) -> None:
    """Add what a request holds for partitions of a topic, in its order."""
    version, topic = call.version, _topic(cluster, call, asked)
    for entry in entries:
        number, partition = entry.index, None
        if topic is not None and 0 <= number < len(topic.partitions):
            partition = topic.partitions[number]
        sent.append(Sent(asked, topic, number, partition, Produced(entry.records, version)))


def _looked_up(cluster: Cluster, call: Call, each: Sent) -> Sent:
    """The same with topic and partition as they are now."""
    topic, partition = _topic(cluster, call, each.asked), None
    if topic is not None and 0 <= each.number < len(topic.partitions):
        partition = topic.partitions[each.number]
    return each._replace(topic=topic, partition=partition)


def _by_partition(sent: list[Sent]) -> list[list[Sent]]:
    """Each partition once with all that is sent to it, those of a topic together."""
    if len(sent) == 1:
        return [sent]
    topics: dict[tuple[bytes, str], dict[int, list[Sent]]] = {}
    for each in sent:
        partitions = topics.setdefault((each.asked.topic_id, each.asked.name), {})
        partitions.setdefault(each.number, []).append(each)
    return [entries for partitions in topics.values() for entries in partitions.values()]


def _not_admitted(
    cluster: Cluster, call: Call, sent: list[Sent], transactional_id: str
) -> dict[Key, Refused]:
    """The partitions whose transactional batch may not come, and why.

    Raises Refused(INVALID_PRODUCER_ID_MAPPING) for batches of several producers.
    """
    producers: set[Producer] = set()
    candidates: list[Candidate] = []
    for entries in _by_partition(sent):
        partition = entries[0].partition
        found, _ = _last_whole(entries)
        if partition is None or found is None or found.header is None:
            continue
        header = found.header
        if header.is_transactional and header.producer_id >= 0:
            producers.add(Producer(header.producer_id, header.producer_epoch))
            candidates.append(Candidate(partition, header.base_sequence))
    if len(producers) > 1:
        message = "Transactional records contained more than one producer ID"
        raise Refused(Error.INVALID_PRODUCER_ID_MAPPING, message)
    if not candidates:
        return {}
    ask, config = cluster.transactions.ask, cluster.brokers[call.node_id].config
    generation = of_produce(call.version)
    refused = refusals(ask, config, transactional_id, producers.pop(), candidates, generation)
    return {key: _as_answered(error.error, call.version) for key, error in refused.items()}


def _as_answered(error: Error, version: int) -> Refused:
    """Errors of the coordinator that a producer cannot understand become one that it retries."""
    if error is Error.INVALID_TXN_STATE:
        return BeforeAppend(error, "Partition was not added to the transaction")
    is_old = version < _SECOND_GENERATION_SINCE
    if error is Error.NOT_COORDINATOR or (error is Error.CONCURRENT_TRANSACTIONS and is_old):
        message = (
            "Unable to verify the partition has been added to the transaction."
            f" Underlying error: {error.name}"
        )
        return BeforeAppend(Error.NOT_ENOUGH_REPLICAS, message)
    return BeforeAppend(error)


def _topic(cluster: Cluster, call: Call, asked: ProduceRequest.Topic) -> Topic | None:
    if call.version < 13:
        return cluster.topics.get(asked.name)
    return cluster.topics.by_id(asked.topic_id) if asked.topic_id != NO_ID else None


def _produce(cluster: Cluster, call: Call, request: ProduceRequest, entries: list[Sent]) -> Result:
    """Append to one partition. Named several times, it gets the last of those that are one whole
    batch each; but if any is not, that is the answer, although the batch is stored."""
    _, topic, _, partition, _ = entries[0]
    if topic is None:
        by_id = call.version >= 13
        raise Refused(Error.UNKNOWN_TOPIC_ID if by_id else Error.UNKNOWN_TOPIC_OR_PARTITION)
    if partition is None:
        looks = cluster.release.looks_for_partitions_of_offsets
        if not looks and request.acks not in _ACKS:
            raise BeforeAppend(Error.INVALID_REQUIRED_ACKS)
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION)
    if is_old(cluster.release, call.version):
        _check_place(call, request, topic, partition)
        return _append(cluster, call, request, partition, entries[-1].data)
    found, problem = _last_whole(entries)
    if problem is not None:
        if found is not None and request.acks in _ACKS and not topic.is_internal:
            with suppress(Refused):
                _append(cluster, call, request, partition, found)
        raise BeforeAppend(problem.error, problem.message)
    assert found is not None
    _check_place(call, request, topic, partition)
    return _append(cluster, call, request, partition, found)


def _check_place(call: Call, request: ProduceRequest, topic: Topic, partition: Partition) -> None:
    """Whether this request may append to a partition at all. Raises Refused."""
    if request.acks not in _ACKS:
        raise BeforeAppend(Error.INVALID_REQUIRED_ACKS)
    if topic.is_internal and call.client_id != _ADMIN:
        raise BeforeAppend(Error.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(call.node_id)
    if request.acks == _ALL:
        partition.check_in_sync()


def _last_whole(entries: Iterable[Sent]) -> tuple[Produced | None, Refused | None]:
    """The last of these that is one whole batch, and what is wrong with the last that is not."""
    found: Produced | None = None
    problem: Refused | None = None
    for each in entries:
        if each.data.problem is None:
            found = each.data
        else:
            problem = each.data.problem
    return found, problem


def _append(
    cluster: Cluster, call: Call, request: ProduceRequest, partition: Partition, data: Produced
) -> Result:
    """Append what was checked; of what an old producer sends, nothing if nothing of it is whole."""
    checked, config = data.checked, _config(cluster, call, partition.topic)
    if isinstance(checked, Refused):
        raise checked
    given = cluster.journal, call, request.acks, config, partition
    if checked and not cluster.release.stores_batches:
        return append_messages(*given, checked)
    appended = [append_checked(*given, *each) for each in checked]
    return appended[0] if appended else Result(index=partition.index, base_offset=-1)


def _config(cluster: Cluster, call: Call, topic: Topic) -> TopicConfig:
    return cluster.brokers[call.node_id].topic_config(topic)


def _refusal_before_2_4(
    cluster: Cluster, call: Call, request: ProduceRequest, sent: list[Sent]
) -> Refused | None:
    """Why a broker of up to 2.0 refuses all of a request: it asks nobody but an authorizer whether
    a transactional batch may come without a transactional id."""
    is_open = cluster.authorizer is None or request.transactional_id is not None
    if is_open or call.version < BATCHES_SINCE or not sent[-1].data.is_transactional:
        return None
    return Refused(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _refusal_of_all(
    call: Call, request: ProduceRequest, sent: list[Sent], *, walks: bool
) -> Refused | None:
    """Why all of a request is refused, whatever its partitions. `walks`: also for what is found
    when every batch is looked at."""
    if call.version < BATCHES_SINCE:
        known = (each.data for each in sent if walks and each.partition is not None)
        return refusal_of_all((each.data for each in sent), known)
    for each in sent:
        if each.data.damage is not None:
            return each.data.damage
        if each.data.is_transactional:  # what comes later is not looked at
            if request.transactional_id is None:
                return Refused(Error.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            break
    if not walks and call.version < ZSTD_SINCE:
        for each in sent:
            problem = each.data.problem if each.partition is not None else None
            if problem is not None and problem.error is Error.UNKNOWN_SERVER_ERROR:
                return BeforeAppend(Error.UNKNOWN_SERVER_ERROR)
    for each in sent:
        if walks and each.partition is not None and _breaks_it(each.data):
            return BeforeAppend(Error.UNKNOWN_SERVER_ERROR)
    return None


def _breaks_it(data: Produced) -> bool:
    """Whether a broker stumbles over it before it looks at partitions, and so refuses all: a batch
    too short for a producer id, or a codec that does not exist where it is looked at early."""
    if data.problem is not None:
        return data.problem.error is Error.UNKNOWN_SERVER_ERROR
    return data.batch is not None and len(data.batch) < _PRODUCER_ID_END
