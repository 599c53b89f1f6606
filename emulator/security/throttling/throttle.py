"""Throttle: the step of the chain in which clients are held to their quotas.

Rules (semantics M17):
- A client over its quota is answered without delay. The answer says for how long the connection is
  muted, and then the broker takes up nothing more on it for so long; acks=0 is muted too.
- Produce counts by the size of the request, Fetch by that of its answer. A Fetch that is throttled
  is answered with nothing, and what it would have taken does not count. It never gets more at once
  than all windows but one allow.
- CreateTopics, DeleteTopics and CreatePartitions count by their partitions. From the version on in
  which a client understands it, a topic is refused while tokens are missing
  (THROTTLING_QUOTA_EXCEEDED); before, it is carried out, and the client is throttled.

The time of a request is not that of Kafka's threads but follows from its size, so that
`request_percentage` throttles the same on every machine. The step is in the chain only while there
are quotas.
How fast connections are made from an IP address is asked by the listeners (net/listener.py).
Source: KIP-13, KIP-124, KIP-219, KIP-599, KIP-612; Kafka's `ClientQuotaManager` and its kin.

Limits: which quota a client has, and with whom it shares it.

The most specific one counts: that of user and client id, user and any client id, user; any user and
client id, any user and any client id, any user; client id, any client id. Clients share what is
measured if they have the same user and client id, as far as the quota names them, also by "any".
ANONYMOUS is a user like others. Source: KIP-55; Kafka's `DefaultQuotaCallback`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from ....wire import Error, Refused, Request, Response
from ....wire.api.create_partitions import CreatePartitionsRequest
from ....wire.api.create_topics import CreateTopicsRequest
from ....wire.api.delete_topics import DeleteTopicsRequest
from ....wire.api.fetch import FetchRequest, FetchResponse
from ....wire.api.produce import ProduceRequest
from ....wire.api.sasl_authenticate import SaslAuthenticateRequest
from ....wire.api.sasl_handshake import SaslHandshakeRequest
from ....wire.api.write_txn_markers import WriteTxnMarkersRequest
from ...base.chain import Onward, Outcome, Step
from ...metadata.image import QuotaEntity
from ..quotas import CLIENT_ID, IP, USER
from .rates import Bucket, Rate, Windows, windows_of

if TYPE_CHECKING:
    from ...base.call import Call
    from ...environment import Environment
    from ...metadata.delta import MetadataDelta
    from ...metadata.image import MetadataImage
    from ...metadata.log import MetadataLog


PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"
REQUESTS, MUTATIONS = "request_percentage", "controller_mutation_rate"
CONNECTIONS = "connection_creation_rate"


class Limit(NamedTuple):
    """A quota, and what stands for those who share what is measured."""

    bound: float
    shared_by: tuple[str, str]


def limit_of(
    quotas: Mapping[QuotaEntity, Mapping[str, float]], key: str, user: str, client_id: str
) -> Limit | None:
    """The quota of a client; None if nothing limits it."""
    both, whole, client = (user, client_id), (user, ""), ("", client_id)
    for entity, shared_by in (
        (((CLIENT_ID, client_id), (USER, user)), both),
        (((CLIENT_ID, None), (USER, user)), both),
        (((USER, user),), whole),
        (((CLIENT_ID, client_id), (USER, None)), both),
        (((CLIENT_ID, None), (USER, None)), both),
        (((USER, None),), whole),
        (((CLIENT_ID, client_id),), client),
        (((CLIENT_ID, None),), client),
    ):
        bound = quotas.get(entity, {}).get(key)
        if bound is not None and any(shared_by):
            return Limit(bound, shared_by)
    return None


_STRICT_SINCE = {
    CreateTopicsRequest.api_key: 6,
    DeleteTopicsRequest.api_key: 5,
    CreatePartitionsRequest.api_key: 3,
}
_EXEMPT = frozenset(
    each.api_key for each in (SaslHandshakeRequest, SaslAuthenticateRequest, WriteTxnMarkersRequest)
)
"""APIs whose time does not count."""
_PERCENT_OF_A_REQUEST, _PERCENT_OF_A_BYTE = 0.05, 2e-6
"""The share of every request in a second of one thread, 0.5 ms, and each of its bytes, 20 ns: a
real broker's take 0.7 ms of one that has just started and 0.2 ms later, those of 100 kB 2.6 ms."""
_LENGTH_BYTES = 4


class Throttle(Step):
    """Measures what clients do, and mutes who is too fast."""

    rank = 1

    def __init__(self, environment: Environment, metadata: MetadataLog) -> None:
        self._environment, self._metadata = environment, metadata
        self._rates: dict[tuple[str, str, str], Rate] = {}
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self._mutated: dict[Call, int] = {}

    def __call__(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow a change of the metadata: the step is in the chain while there are quotas."""
        if delta.quotas and bool(image.quotas) != (self in self._environment.chain):
            if image.quotas:
                self._environment.chain.append(self)
            else:
                self._environment.chain.remove(self)

    # The step

    def before(self, call: Call, request: Request) -> Onward:
        if not isinstance(request, FetchRequest):
            return None
        limit = self._limit(call, FETCHED)
        if limit is None:
            return None
        windows = self._windows()
        most = _whole(limit.bound * (windows.samples - 1) * windows.window_ms / 1000)
        if request.max_bytes <= most:
            return None
        narrowed = copy(request)
        narrowed.max_bytes = most
        return narrowed

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        mutated_ms = self._mutated.pop(call, 0)
        if not call.is_open:
            return None
        is_silent = response is None
        throttle_ms = max(mutated_ms, 0 if is_silent else self._of_request(call))
        if isinstance(request, ProduceRequest):
            size = 0 if call.frame is None else len(call.frame)
            throttle_ms = max(throttle_ms, self._recorded(call, PRODUCED, size))
        elif isinstance(response, FetchResponse):
            return self._fetched(call, response, throttle_ms)
        if throttle_ms:
            self._mute(call, throttle_ms)
        if response is None or not throttle_ms or not hasattr(response, "throttle_time_ms"):
            return None
        own = copy(response)
        own.throttle_time_ms = throttle_ms
        return own

    def _fetched(self, call: Call, response: FetchResponse, throttle_ms: int) -> Outcome:
        limit = self._limit(call, FETCHED)
        if limit is not None:
            size = _LENGTH_BYTES + sum(len(part) for part in response.parts(call.version))
            own_ms = self._recorded(call, FETCHED, size)
            throttle_ms = max(throttle_ms, own_ms)
            if throttle_ms:
                self._rate(FETCHED, limit).record(-size, self._environment.clock.now())
        if not throttle_ms:
            return None
        self._mute(call, throttle_ms)
        return FetchResponse(
            throttle_time_ms=throttle_ms, session_id=response.session_id, responses=[]
        )

    def _of_request(self, call: Call) -> int:
        """For how long a client is throttled because of the time that its requests take."""
        if call.api_key in _EXEMPT:
            return 0
        window_ms = self._windows().window_ms
        size = 0 if call.frame is None else len(call.frame)
        percent = _PERCENT_OF_A_REQUEST + _PERCENT_OF_A_BYTE * size
        return min(self._recorded(call, REQUESTS, percent), window_ms)

    def _mute(self, call: Call, milliseconds: int) -> None:
        call.note(f"throttled for {milliseconds} ms by a quota")
        details = {"milliseconds": milliseconds}
        client = call.connection.name or call.client_id
        self._environment.journal.add("throttled", client=client, details=details)
        call.mute(milliseconds)

    # For handlers

    def mutate(self, call: Call, count: int) -> None:
        """Partitions are about to be made or deleted. Raises Refused (THROTTLING_QUOTA_EXCEEDED)
        where the client understands it, and tokens are missing."""
        limit = self._limit(call, MUTATIONS)
        if limit is None:
            return
        now, bound = self._environment.clock.now(), limit.bound
        bucket = self._buckets.setdefault(limit.shared_by, Bucket(self._windows_of_changes()))
        if call.version >= _STRICT_SINCE.get(call.api_key, 0):
            missing_ms = bucket.throttle_ms(bound, now)
            if missing_ms:
                self._mutated[call] = missing_ms
                raise Refused(Error.THROTTLING_QUOTA_EXCEEDED)
            bucket.record(count, bound, now)
        else:
            bucket.record(count, bound, now)
            self._mutated[call] = bucket.throttle_ms(bound, now)

    # For listeners

    def of_address(self, address: str) -> int:
        """For how long (ms) no other connection from this IP address may be made."""
        quotas = self._metadata.image.quotas
        own, others = quotas.get(((IP, address),), {}), quotas.get(((IP, None),), {})
        bound = own.get(CONNECTIONS, others.get(CONNECTIONS))
        if bound is None:
            return 0
        now, windows = self._environment.clock.now(), self._windows()
        rate = self._rates.setdefault((CONNECTIONS, address, ""), Rate(windows))
        rate.record(1, now)
        throttle_ms = rate.throttle_ms(bound, now)
        if throttle_ms:
            rate.record(-1, now)
        return min(throttle_ms, windows.window_ms)

    # What is measured

    def _limit(self, call: Call, key: str) -> Limit | None:
        quotas = self._metadata.image.quotas
        return limit_of(quotas, key, call.principal.name, call.client_id) if quotas else None

    def _recorded(self, call: Call, key: str, value: float) -> int:
        """Record something, and tell for how long its client is throttled then."""
        limit = self._limit(call, key)
        if limit is None:
            return 0
        now = self._environment.clock.now()
        rate = self._rate(key, limit)
        rate.record(value, now)
        return rate.throttle_ms(limit.bound, now)

    def _rate(self, key: str, limit: Limit) -> Rate:
        return self._rates.setdefault((key, *limit.shared_by), Rate(self._windows()))

    def _windows(self) -> Windows:
        return windows_of(self._environment.config)

    def _windows_of_changes(self) -> Windows:
        get = self._environment.config.get
        window_s = get("controller.quota.window.size.seconds")
        return Windows(get("controller.quota.window.num"), window_s * 1000)


def _whole(value: float) -> int:
    """As Java casts: 0 for what is no number, which a quota may be."""
    return 0 if isnan(value) else int(value)
