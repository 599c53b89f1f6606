"""A small blocking client: one connection to each broker, one request at a time.

Rules:
- Each connection asks for ApiVersions first; every request is then sent in the newest version that
  both sides know, or in the newest up to `most`, if the caller gives that.
- A partition's requests go to its leader, a group's to its coordinator, the rest to any broker.
- A refusal is raised as `ConsoleError` with Kafka's name of the error; so is a broker that cannot
  be reached, that does not answer for `timeout` seconds, or that is no Kafka broker. A connection
  that was lost is opened again for the next request.

Source: the protocol guide; KIP-35 (ApiVersions), KIP-511.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ....wire import Error, Refused, Request, WireError
from ....wire.api.describe_groups import DescribeGroupsRequest
from ....wire.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ....wire.api.metadata import MetadataRequest, MetadataResponse
from ...wire_client.blocking_connection import Connection, NotLetIn
from ...wire_client.security import ClientSecurity
from . import TIMEOUT_S
from .arguments import nearest, parse_addresses

T = TypeVar("T")

CLIENT_ID = "odradek-console"
_RETRY_S = 0.1

# Errors that are also answered for a moment after a change; Kafka's clients retry.
_NOT_YET = (
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.NOT_COORDINATOR,
    Error.LEADER_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER,
)


class ConsoleError(Exception):
    status = 1
    """With which the command ends."""


class WrongOptions(ConsoleError):
    status = 2


class Unreachable(ConsoleError):
    """No broker listens, or a connection was lost: it may go well a moment later."""


class NoSuchTopic(ConsoleError):
    """The broker knows no topic of this name."""


def check(code: int, what: str, message: str | None = None) -> None:
    """Raises ConsoleError for an error code, with `what`, Kafka's name for it and its message."""
    if code:
        try:
            name = Error(code).name
        except ValueError:
            name = f"error {code}"
        raise ConsoleError(f"{what}: {name}" + (f" ({message})" if message else ""))


def likely(text: str, names: Iterable[str]) -> str:
    """The likely name, as the end of a message; empty if none is near."""
    near = nearest(text, names, 1)
    return f": is {near[0]} meant?" if near else ""


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


class Brokers:
    """A cluster, reached by the given addresses. Use it with `with`."""

    def __init__(
        self, addresses: str, timeout: float = TIMEOUT_S, security: ClientSecurity | None = None
    ) -> None:
        """`addresses`: HOST:PORT, several with commas. Raises ConsoleError."""
        self.timeout = timeout
        self._security = security
        self._addresses = _parsed(addresses)
        self._connections: dict[tuple[str, int], Connection] = {}
        self._coordinators: dict[str, int] = {}
        self._any = self._first(self._addresses)
        try:
            self.metadata: MetadataResponse = _ask(self._any, _topics_named([]))
        except BaseException:
            self._any.close()
            raise

    def __enter__(self) -> Brokers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next request opens others."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._coordinators.clear()

    def ask(
        self,
        request: Request,
        *,
        most: int | None = None,
        node: int | None = None,
        more_s: float = 0,
    ) -> Any:
        """Ask one broker: `node`, or the one reached first. `more_s` is how much longer than others
        the answer may take. Raises ConsoleError."""
        connection = self._some() if node is None else self._node(node)
        try:
            return _ask(connection, request, most, more_s)
        except Unreachable:
            self._drop(connection)
            raise

    def ask_controller(self, request: Request, *, most: int | None = None) -> Any:
        return self.ask(request, most=most, node=self.metadata.controller_id)

    def ask_coordinator(
        self, group: str, request: Request, *, most: int | None = None, more_s: float = 0
    ) -> Any:
        return self.ask(request, most=most, node=self.coordinator(group), more_s=more_s)

    def forget_coordinator(self, group: str) -> None:
        """Look for the coordinator of a group anew: it has moved."""
        self._coordinators.pop(group, None)

    @property
    def nodes(self) -> list[int]:
        return sorted(broker.node_id for broker in self.metadata.brokers)

    def topics(self, names: Iterable[str] | None = None) -> list[MetadataResponse.Topic]:
        """Metadata of these topics, or of all, by name. Asking creates none."""
        wanted = None if names is None else list(names)
        if wanted == []:
            return []
        answer = self.ask(_topics_named(wanted))
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
        try:
            return self.patiently(look, f"topic {name}", later)
        except NoSuchTopic as error:
            names = [each.name or "" for each in self.topics() if not each.is_internal]
            raise NoSuchTopic(f"{error}{likely(name, names)}") from None

    def coordinator(self, group: str) -> int:
        def look() -> int:
            found: FindCoordinatorResponse = self.ask(
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
                        raise NoSuchTopic(f"there is no {what}") from None
                    raise ConsoleError(f"{what}: {refused}") from None
            time.sleep(_RETRY_S)

    def serves(self, kind: type[Request]) -> bool:
        """Whether the broker that was reached first serves these requests. Raises ConsoleError."""
        connection = self._some()
        try:
            connection.version(kind)
        except Refused:
            return False
        return True

    def until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        """Wait until it is so. Raises ConsoleError, with what there is otherwise, when the time is
        over."""
        deadline = time.monotonic() + self.timeout
        while not is_so():
            if time.monotonic() > deadline:
                raise ConsoleError(otherwise)
            time.sleep(_RETRY_S)

    def _some(self) -> Connection:
        if self._any.is_idle:
            self._drop(self._any)
        if self._any not in self._connections.values():
            known = [(broker.host, broker.port) for broker in self.metadata.brokers]
            self._any = self._first([*self._addresses, *known])
        return self._any

    def _drop(self, connection: Connection) -> None:
        connection.close()
        self._connections = {
            address: each for address, each in self._connections.items() if each is not connection
        }

    def _first(self, addresses: list[tuple[str, int]]) -> Connection:
        problems = []
        for host, port in dict.fromkeys(addresses):
            try:
                return self._connect(host, port)
            except ConsoleError as error:
                problems.append(str(error))
        raise Unreachable("; ".join(problems))

    def _node(self, node: int) -> Connection:
        for broker in self.metadata.brokers:
            if broker.node_id == node:
                return self._advertised(broker)
        return self._some()  # not known (yet): any broker will say so

    def _advertised(self, broker: MetadataResponse.Broker) -> Connection:
        try:
            return self._connect(broker.host, broker.port)
        except Unreachable as error:
            raise Unreachable(
                f"{error}; {self._any.address} says that broker {broker.node_id} is there"
            ) from None

    def _connect(self, host: str, port: int) -> Connection:
        known = self._connections.get((host, port))
        if known is not None and known.is_idle:
            self._drop(known)
            known = None
        if known is None:
            with _as_console_errors():
                known = Connection(host, port, self.timeout, CLIENT_ID, self._security)
            self._connections[host, port] = known
        return known


@contextmanager
def _as_console_errors() -> Iterator[None]:
    """Raises as ConsoleError what a connection raises."""
    try:
        yield
    except WireError as error:
        raise ConsoleError(f"no broker can be asked that: {error}") from None
    except Refused as refused:
        raise ConsoleError(f"{refused.message}") from None
    except NotLetIn as error:
        raise ConsoleError(str(error)) from None
    except ConnectionError as error:
        raise Unreachable(str(error)) from None


def _ask(
    connection: Connection, request: Request, most: int | None = None, more_s: float = 0
) -> Any:
    with _as_console_errors():
        return connection.ask(request, connection.version(type(request), most), more_s)


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
