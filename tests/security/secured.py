"""A real Kafka, and an Emulator, with an authorizer: users log in by a password (SASL PLAIN).

The real one's PLAINTEXT listener is for the super user ANONYMOUS: what prepares a comparison.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest
from odradek import Emulator
from odradek.compat import Unavailable
from odradek.compat.real_kafka import RealKafka
from odradek.compat.real_kafka.process import free_ports
from odradek.emulator.config.broker_rules import STANDARD_AUTHORIZER
from odradek.wire.api.describe_acls import DescribeAclsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.sasl_authenticate import SaslAuthenticateRequest
from odradek.wire.api.sasl_handshake import SaslHandshakeRequest
from odradek.wire.frames import SIZE
from odradek.wire.headers import RequestHeader, write_request_header

from tests.differential.engine.asker import Asker
from tests.differential.engine.brokers import CONFIG
from tests.differential.engine.side import Asked, decoded

_PATIENCE_S = 30.0
SUPER_USERS = "User:ANONYMOUS;User:admin"
NO_CONFIGS: Mapping[str, str] = MappingProxyType({})
ALL_ACLS = DescribeAclsRequest(
    resource_type_filter=1,
    resource_name_filter=None,
    pattern_type_filter=1,
    principal_filter=None,
    host_filter=None,
    operation=1,
    permission_type=1,
)


class SecuredKafka(RealKafka):
    """A real Kafka with these users, whose passwords are their names."""

    def __init__(
        self,
        users: Iterable[str],
        data_dir: Path | None = None,
        configs: Mapping[str, str] = NO_CONFIGS,
    ) -> None:
        plain, controller, self.secured_port = free_ports(3)
        logins = " ".join(f'user_{user}="{user}"' for user in users)
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        config = {
            **CONFIG,
            "listeners": f"PLAINTEXT://127.0.0.1:{plain},SECURED://127.0.0.1:{self.secured_port},"
            f"CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,"
            "SECURED:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.secured.plain.sasl.jaas.config": f"{module} required {logins};",
            "authorizer.class.name": STANDARD_AUTHORIZER,
            "super.users": SUPER_USERS,
            **configs,
        }
        super().__init__(config=config, data_dir=data_dir, ports=(plain, controller))

    def log_in(self, user: str) -> Asker:
        """A connection on which a user has logged in."""
        return logged_in(("127.0.0.1", self.secured_port), user)

    def wait_for_acls(self, number: int) -> None:
        """Wait until the broker's authorizer has so many rules."""
        admin = Asker(("127.0.0.1", self.port))
        until(lambda: _number(admin) == number)
        admin.close()


class SecuredEmulator:
    """An Emulator with the same listeners and users."""

    def __init__(
        self,
        users: Iterable[str],
        data_dir: Path | None = None,
        configs: Mapping[str, str] = NO_CONFIGS,
    ) -> None:
        config = {
            **CONFIG,
            "listeners": "PLAINTEXT://127.0.0.1:0,SECURED://127.0.0.1:0",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECURED:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "super.users": SUPER_USERS,
            **configs,
        }
        known = {user: user for user in users}
        self.emulator = Emulator(config, acls=True, users=known, data_dir=data_dir)

    def __enter__(self) -> SecuredEmulator:
        self.emulator.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.emulator.stop()

    @property
    def bootstrap_servers(self) -> str:
        """Where the super user ANONYMOUS connects."""
        host, port = self._address("PLAINTEXT")
        return f"{host}:{port}"

    @property
    def secured_port(self) -> int:
        """Where users log in."""
        return self._address("SECURED")[1]

    def _address(self, listener: str) -> tuple[str, int]:
        return self.emulator.run(lambda cluster: cluster.nodes[1].listeners[listener])

    def kill(self) -> None:
        """Not needed: nothing is restarted."""
        raise NotImplementedError

    def restart(self) -> None:
        """Not needed: nothing is restarted."""
        raise NotImplementedError

    def log_in(self, user: str) -> Asker:
        """A connection on which a user has logged in."""
        return logged_in(("127.0.0.1", self.secured_port), user)

    def wait_for_acls(self, number: int) -> None:
        """They are in force at once."""
        assert len(self.emulator.acls()) == number


Secured: TypeAlias = SecuredKafka | SecuredEmulator
Started: TypeAlias = Callable[[], AbstractContextManager[Secured]]


def on_both(users: Iterable[str], configs: Mapping[str, str]) -> pytest.MarkDecorator:
    """`started` starts an Emulator, or a real Kafka, which is slow."""

    @contextmanager
    def ours() -> Iterator[Secured]:
        with SecuredEmulator(users, configs=configs) as broker:
            yield broker

    @contextmanager
    def real() -> Iterator[Secured]:
        broker = SecuredKafka(users, configs=configs)
        try:
            broker.start()
        except Unavailable as reason:
            pytest.skip(f"unavailable: {reason}")
        with broker:
            yield broker

    slow = pytest.param(real, marks=[pytest.mark.real, pytest.mark.slow])
    return pytest.mark.parametrize("started", [ours, slow])


def wait_for_internal_topics(admin: Asker) -> None:
    """Groups and transactions have their coordinators."""
    for kind in (0, 1):
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=["g"])
        until(lambda: admin.ask(request, 4).coordinators[0].error_code == 0)  # noqa: B023
    until(lambda: not _is_loading(admin))


def _is_loading(admin: Asker) -> bool:
    ready = admin.ask(DescribeGroupsRequest(groups=["g"]), 5).groups[0].error_code
    x = admin.ask(DescribeTransactionsRequest(transactional_ids=["x"]), 0)
    return {ready, x.transaction_states[0].error_code} & {14, 15, 16} != set()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def logged_in(address: tuple[str, int], user: str) -> Asker:
    """A connection on which a user has logged in, whose password is the user's name."""
    asker = Asker(address)
    assert asker.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == 0
    answer = asker.ask(SaslAuthenticateRequest(auth_bytes=_token(user)), 2)
    assert answer.error_code == 0, answer.error_message
    return asker


def log_in_on(connection: socket.socket, user: str) -> None:
    """The same on a connection that is there."""
    stream = connection.makefile("rb", buffering=0)
    for request, version in (
        (SaslHandshakeRequest(mechanism="PLAIN"), 1),
        (SaslAuthenticateRequest(auth_bytes=_token(user)), 2),
    ):
        header = write_request_header(RequestHeader(request.api_key, version, 0, "login"))
        frame = header + request.encode(version)
        connection.sendall(SIZE.pack(len(frame)) + frame)
        (size,) = SIZE.unpack(_read(stream, SIZE.size))
        answer = decoded(bytearray(_read(stream, size)), Asked(0, request, version))
        assert getattr(answer, "error_code", -1) == 0, answer
    stream.close()


def _read(stream: Any, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = stream.read(count - len(data))
        assert more, "closed while logging in"
        data += more
    return data


def _token(user: str) -> bytes:
    return f"\0{user}\0{user}".encode()


def _number(admin: Asker) -> int:
    answer = admin.ask(ALL_ACLS, 3)
    return sum(len(resource.acls) for resource in answer.resources)
