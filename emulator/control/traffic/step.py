"""How a cluster's chain fills the journal: the first of its steps, while the journal is on.

The first step sees what the client sent before others change it, and what the client gets after
others have changed it. What has secrets in it is left out. The answer is encoded here,
once: the connection sends these bytes.

Requests that are not kept, as they or their answers have passwords, tokens or keys in them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from ....wire import Buffer, Request, Response, WireError
from ....wire.api import api_keys
from ....wire.headers import write_response_header
from ...base.chain import Outcome, Step
from ...config.broker_table import broker_definitions
from .exchange import CLOSED, NO_REPLY, NOWHERE, Address, Exchange, Peer
from .traffic import Traffic

if TYPE_CHECKING:
    from ...base.call import Call, Sender


SECRET_APIS = api_keys(
    "alter_user_scram_credentials",
    "create_delegation_token",
    "describe_delegation_token",
    "expire_delegation_token",
    "renew_delegation_token",
    "sasl_authenticate",
)
"""APIs of which nothing is kept."""
_SET_CONFIGS = api_keys("alter_configs", "incremental_alter_configs")


def has_secrets(request: Request) -> bool:
    """Whether it is of those APIs, or sets a config that is a password."""
    if request.api_key in SECRET_APIS:
        return True
    if request.api_key not in _SET_CONFIGS:
        return False
    resources = cast(Any, request).resources
    return any(each.name.endswith(_passwords()) for one in resources for each in one.configs)


@cache
def _passwords() -> tuple[str, ...]:
    """The configs that are passwords; with a listener's prefix they end so."""
    return tuple(name for name, row in broker_definitions().items() if row.is_sensitive)


_KEY_BYTES = 2


class TrafficStep(Step):
    reads_records = False

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        self._peers: WeakKeyDictionary[Sender, Peer] = WeakKeyDictionary()
        self._open: dict[Call, Exchange] = {}

    def before(self, call: Call, request: Request) -> Outcome:
        if has_secrets(request):
            return None
        assert call.frame is not None
        exchange = self.traffic.begin(self._peer(call.connection), call.frame, call.now)
        call.notes = exchange.notes
        self._open[call] = exchange
        return None

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        exchange = self._open.pop(call, None)
        if exchange is None:
            return None
        if response is None:
            self.traffic.end(exchange, NO_REPLY if call.is_open else CLOSED)
            return None
        body = response.parts(call.version)
        call.prepared = response, body
        header = write_response_header(call.correlation_id, call.api_key, call.version)
        self.traffic.answered(exchange, [header, *body])
        return None

    def malformed(self, connection: Sender, frame: Buffer, error: WireError, now: int) -> None:
        if len(frame) >= _KEY_BYTES and int.from_bytes(frame[:_KEY_BYTES]) in SECRET_APIS:
            return
        self.traffic.malformed(self._peer(connection), frame, str(error), now)

    def _peer(self, connection: Sender) -> Peer:
        peer = self._peers.get(connection)
        if peer is None:
            client, broker = connection.ends() or (NOWHERE, NOWHERE)
            peer = self.traffic.peer(Address(*client), Address(*broker), connection.node_id)
            self._peers[connection] = peer
        return peer
