"""Clients that a test has left open: who they are, and how they are kept quiet."""

from __future__ import annotations

from ..wire.api.api_versions import ApiVersionsRequest
from .base.logger import log
from .broker_thread import BrokerThread
from .net.quiet import QUIET
from .seen import Inside, SeenClient

_SOFTWARE = {"client_software_name": "odradek", "client_software_version": "1"}


def keep_quiet(thread: BrokerThread, inside: Inside, owner: str) -> list[str]:
    """Keep the sockets of a broker's clients, before it stops. Returns the clients."""

    server = thread.running().server
    handed, clients = thread.call(lambda _: (server.hand_over(), inside.clients()))
    listeners, connections, ports = handed
    if not connections:
        return []
    versions = {}
    for version in range(ApiVersionsRequest.last_version + 1):
        answer = inside.ask(ApiVersionsRequest(**_SOFTWARE), version)
        versions[version] = answer.encode(version)
    QUIET.keep(listeners, connections, versions)
    names = sorted({_named(client) for client in clients if client.port in ports})
    log.warning("%s left clients open, which are kept quiet: %s", owner, ", ".join(names))
    return names


def _named(client: SeenClient) -> str:
    return f"{client.client_id!r} ({client.software_name} {client.software_version})"
