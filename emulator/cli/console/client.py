"""A small blocking client: one connection to each broker, one request at a time.

Rules:
- Each connection asks for ApiVersions first; every request is then sent in the newest version that
  both sides know, or in the newest up to `most`, if the caller gives that.
- A partition's requests go to its leader, a group's to its coordinator, the rest to any broker.
- A refusal is raised as `ConsoleError` with Kafka's name of the error; so is a broker that cannot
  be reached, that does not answer for `timeout` seconds, or that is no Kafka broker.

Source: the protocol guide; KIP-35 (ApiVersions), KIP-511.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Collection, Iterable
from types import TracebackType
from typing import Any, TypeVar

from ....wire import Error, Refused, Request, WireError
from ....wire.api import response_class
from ....wire.api.api_versions import ApiVersionsRequest
from ....wire.api.describe_groups import DescribeGroupsRequest
from ....wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ....wire.api.metadata import MetadataRequest, MetadataResponse
from ....wire.headers import RequestHeader, read_response_header, write_request_header
from ...base.addresses import bracketed
from . import TIMEOUT_S
from .arguments import parse_addresses

T = TypeVar("T")

CLIENT_ID = "odradek-console"
_RETRY_S = 0.1
_FRAME_MAX = 1 << 30
_UNSUPPORTED_VERSION = 35
_API_VERSIONS = (3, 0)

# Errors that are also answered for a moment after a change; Kafka's clients retry.
_NOT_YET = (
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NOT_COORDINATOR,
    Error.LEADER_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER,
)


class ConsoleError(Exception):
    """An error message for the user."""


def check(code: int, what: str, message: str | None = None) -> None:
    """Raises ConsoleError for an error code, with `what`, Kafka's name for it and its message."""
    if code:
        try:
            name = Error(code).name
        except ValueError:
            name = f"error {code}"
        raise ConsoleError(f"{what}: {name}" + (f" ({message})" if message else ""))


def report(results: Iterable[tuple[int, str, str | None, str]]) -> None:
    """Print what was done, and raise one ConsoleError for everything that was not.

    Each result: error code, what it is about, the broker's message, what to print if it is done.
    """
    problems = []
    for code, what, message, done in results:
        try:
            check(code, what, message)
            print(done)
        except ConsoleError as error:
            problems.append(str(error))
    if problems:
        raise ConsoleError("; ".join(problems))


class _Connection:
    """A connection to one broker."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.address = f"{bracketed(host)}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout)
        except OSError as error:
            why = error.strerror or error
            raise ConsoleError(f"no broker at {self.address}: {why}") from None
        except UnicodeError:
            raise ConsoleError(f"no broker at {self.address}: not a name of a host") from None
        self._stream = self._socket.makefile("rb")
        self._correlation_id = 0
        self._served: dict[int, tuple[int, int]] = {}
        try:
            self._served = self._ask_versions()
        except BaseException:
            self.close()
            raise

    def ask(self, request: Request, most: int | None = None) -> Any:
        """The answer to a request, in the newest version up to `most` that both sides know."""
        return self._exchange(request, self.version(type(request), most))

    def version(self, api: type[Request], most: int | None = None) -> int:
        """The version in which this broker is asked. Raises ConsoleError if there is none."""
        first, last = self._served.get(api.api_key, (0, -1))
        newest = min(last, api.last_version if most is None else most)
        if newest < max(first, api.first_version):
            name = api.__name__.removesuffix("Request")
            raise ConsoleError(f"the broker at {self.address} does not serve {name}")
        return newest

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        hello = ApiVersionsRequest(
            client_software_name="odradek", client_software_version="console"
        )
        newest, oldest = _API_VERSIONS
        answer = self._exchange(hello, newest)
        if answer.error_code == _UNSUPPORTED_VERSION:
            answer = self._exchange(hello, oldest)
        check(answer.error_code, f"{self.address} refuses ApiVersions")
        return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def _exchange(self, request: Request, version: int) -> Any:
        self._correlation_id += 1
        key = request.api_key
        header = RequestHeader(key, version, self._correlation_id, CLIENT_ID)
        try:
            body = write_request_header(header) + request.encode(version)
        except (WireError, UnicodeError) as error:
            raise ConsoleError(f"no broker can be asked that: {error}") from None
        try:
            self._socket.sendall(struct.pack(">i", len(body)) + body)
            frame = self._frame()
            correlation_id, pos = read_response_header(frame, key, version)
            if correlation_id != self._correlation_id:
                raise WireError("its answers are out of step")
            if key == ApiVersionsRequest.api_key and _is_unsupported(frame, pos):
                version = 0
            return response_class(key).decode(frame, version, pos)
        except TimeoutError:
            raise ConsoleError(f"{self.address} does not answer") from None
        except (OSError, WireError) as error:
            raise ConsoleError(f"{self.address} does not talk as a Kafka broker: {error}") from None

    def _frame(self) -> bytes:
        size = struct.unpack(">i", self._read(4))[0]
        if not 0 <= size <= _FRAME_MAX:
            raise WireError(f"an answer of {size} bytes")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise WireError("it closed the connection")
        return data

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


def _is_unsupported(frame: bytes, pos: int) -> bool:
    """Whether an ApiVersions answer has error 35, and is therefore encoded in v0."""
    return int.from_bytes(frame[pos : pos + 2], "big") == _UNSUPPORTED_VERSION


class Brokers:
    """A cluster, reached by the given addresses. Use it with `with`."""

    def __init__(self, addresses: str, timeout: float = TIMEOUT_S) -> None:
        """`addresses`: HOST:PORT, several with commas. Raises ConsoleError."""
        self.timeout = timeout
        self._connections: dict[tuple[str, int], _Connection] = {}
        self._coordinators: dict[str, int] = {}
        self._any = self._first(_parsed(addresses))
        try:
            self.metadata: MetadataResponse = self._any.ask(_topics_named([]))
        except BaseException:
            self._any.close()
            raise

    def __enter__(self) -> Brokers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    def ask(self, request: Request, *, most: int | None = None, node: int | None = None) -> Any:
        """Ask one broker: `node`, or the one reached first. Raises ConsoleError."""
        return (self._any if node is None else self._node(node)).ask(request, most)

    def ask_controller(self, request: Request, *, most: int | None = None) -> Any:
        """Ask the controller."""
        return self.ask(request, most=most, node=self.metadata.controller_id)

    def ask_coordinator(self, group: str, request: Request, *, most: int | None = None) -> Any:
        """Ask the broker that coordinates a group."""
        return self.ask(request, most=most, node=self.coordinator(group))

    @property
    def nodes(self) -> list[int]:
        """The ids of all brokers."""
        return sorted(broker.node_id for broker in self.metadata.brokers)

    def topics(self, names: Iterable[str] | None = None) -> list[MetadataResponse.Topic]:
        """Metadata of these topics, or of all, by name. Asking creates none."""
        wanted = None if names is None else list(names)
        if wanted == []:
            return []
        answer = self._any.ask(_topics_named(wanted))
        self.metadata = answer
        return sorted(answer.topics, key=lambda topic: topic.name or "")

    def topic(self, name: str, *, is_new: bool = False) -> MetadataResponse.Topic:
        """One topic, with a leader for each partition. Raises ConsoleError if there is none.

        Waits for one that `is_new`: a broker learns of it after the one that created it.
        """

        def look() -> MetadataResponse.Topic:
            (topic,) = self.topics([name])
            for code in (topic.error_code, *(part.error_code for part in topic.partitions)):
                _refuse(code)
            return topic

        later = (*_NOT_YET, Error.UNKNOWN_TOPIC_OR_PARTITION) if is_new else _NOT_YET
        return self.patiently(look, f"topic {name}", later)

    def coordinator(self, group: str) -> int:
        """The node that coordinates a group, once it is ready."""

        def look() -> int:
            found: FindCoordinatorResponse = self._any.ask(
                FindCoordinatorRequest(key=group, key_type=0, coordinator_keys=[group])
            )
            where = found.coordinators[0] if found.coordinators else found
            _refuse(where.error_code)
            described = self.ask(DescribeGroupsRequest(groups=[group]), node=where.node_id)
            if described.groups[0].error_code in _NOT_YET:
                _refuse(described.groups[0].error_code)
            return where.node_id

        if group not in self._coordinators:
            self._coordinators[group] = self.patiently(look, f"group {group}")
        return self._coordinators[group]

    def patiently(self, ask: Callable[[], T], what: str, later: Collection[Error] = _NOT_YET) -> T:
        """`ask()`, repeated while it is refused with one of `later`. Raises ConsoleError."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                return ask()
            except Refused as refused:
                if refused.error not in later or time.monotonic() > deadline:
                    if refused.error is Error.UNKNOWN_TOPIC_OR_PARTITION:
                        raise ConsoleError(f"there is no {what}") from None
                    raise ConsoleError(f"{what}: {refused}") from None
            time.sleep(_RETRY_S)

    def _first(self, addresses: list[tuple[str, int]]) -> _Connection:
        problems = []
        for host, port in addresses:
            try:
                return self._connect(host, port)
            except ConsoleError as error:
                problems.append(str(error))
        raise ConsoleError("; ".join(problems))

    def _node(self, node: int) -> _Connection:
        for broker in self.metadata.brokers:
            if broker.node_id == node:
                return self._advertised(broker)
        return self._any  # not known (yet): any broker will say so

    def _advertised(self, broker: MetadataResponse.Broker) -> _Connection:
        try:
            return self._connect(broker.host, broker.port)
        except ConsoleError as error:
            raise ConsoleError(
                f"{error}; {self._any.address} says that broker {broker.node_id} is there"
            ) from None

    def _connect(self, host: str, port: int) -> _Connection:
        known = self._connections.get((host, port))
        if known is None:
            known = self._connections[host, port] = _Connection(host, port, self.timeout)
        return known


def _refuse(code: int) -> None:
    if code:
        try:
            raise Refused(Error(code))
        except ValueError:
            raise ConsoleError(f"error {code}") from None


def _topics_named(names: list[str] | None) -> MetadataRequest:
    topics = None if names is None else [MetadataRequest.Topic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False)


def _parsed(addresses: str) -> list[tuple[str, int]]:
    try:
        return list(parse_addresses(addresses))
    except ValueError as error:
        raise ConsoleError(str(error)) from None
