"""`odradek serve --security SASL_SSL --user alice:secret`: who may connect, and what clients need.

Passwords are never printed back, nor is a wrong option quoted.
"""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...wire_client.security.settings import PROTOCOLS

if TYPE_CHECKING:  # a broker's: other verbs do without
    from ....emulator.config.listener_configs import ListenerConfig
    from ....emulator.embedded.embedded import Embedded
    from ....emulator.security.listeners import Listener


def add_security(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--security",
        metavar="PROTOCOL",
        choices=list(PROTOCOLS),
        help=f"what clients speak: {', '.join(PROTOCOLS)} (PLAINTEXT)",
    )
    serve.add_argument(
        "--user",
        metavar="NAME:PASSWORD",
        action=_Users,
        default=[],
        type=_user,
        help="who may log in, with PLAIN or SCRAM; may be repeated",
    )


class _Users(argparse.Action):
    """Several users, each once: with two passwords, one would be lost without a word."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        name, password = values
        if name in dict(before):
            raise argparse.ArgumentError(self, f"{name} is there twice")
        setattr(namespace, self.dest, [*before, (name, password)])


def _user(text: str) -> tuple[str, str]:
    name, colon, password = text.partition(":")
    if not colon or not name or not password:
        raise argparse.ArgumentTypeError("not of the form NAME:PASSWORD")
    return name, password


def tell_access(
    emulator: Embedded, running: ExitStack, say: Callable[[str], None], home: str | None = None
) -> None:
    """Say who can reach the broker, and what a client needs, if that is more than its address.
    Where data stays (`home`), the authority of its certificate stays with it. Raises OSError."""
    listeners = emulator.run(lambda cluster: list(cluster.security.listeners.values()))
    if not any(listener.has_tls or listener.has_sasl for listener in listeners):
        return
    needs_ca = any(listener.has_tls for listener in listeners) and emulator.shows_own_certificate
    ca = None
    if needs_ca and home is not None:
        ca = emulator.certificates.keep(Path(home).absolute())
        say(f"the certificate authority is kept in {ca.parent}: clients trust {ca.name}")
    elif needs_ca:
        passing = running.enter_context(TemporaryDirectory(prefix="odradek-ca-"))
        ca = emulator.certificates.write_ca(Path(passing, "ca.pem"))
    for listener in listeners:
        say(f"clients of {listener.name} need {', '.join(_needs(emulator, listener, ca))}")


def _needs(emulator: Embedded, listener: Listener, ca: Path | None) -> list[str]:
    from ....emulator.config.listener_configs import ListenerConfig
    from ....emulator.security.mechanisms import mechanisms_of

    name = listener.name
    places = emulator.run(lambda cluster: [each.at(name) for each in cluster.nodes.values()])
    servers = ",".join(f"{host}:{port}" for host, port in places)
    found = [f"bootstrap.servers={servers}", f"security.protocol={listener.protocol}"]
    if listener.has_sasl:
        config = emulator.run(lambda cluster: ListenerConfig(cluster.config, name))
        found.append(f"sasl.mechanism={' or '.join(mechanisms_of(config))}")
        if emulator.user_names:
            found.append(f"sasl.username={' or '.join(emulator.user_names)}")
    if listener.has_tls and ca is not None:
        found.append(f"ssl.ca.location={ca}")
    return found


def tell_reach(emulator: Embedded, say: Callable[[str], None]) -> None:
    """Say so, if others can reach the broker, and nobody has to log in there."""
    open_ones = [
        f"{host or '*'} ({name})"
        for host, name in emulator.run(lambda cluster: list(cluster.security.bound))
        if not _is_local(host) and not _is_closed(emulator, name)
    ]
    if open_ones:
        say(f"anyone who reaches this machine can use the broker: {', '.join(open_ones)}")


def _is_closed(emulator: Embedded, name: str) -> bool:
    from ....emulator.config.listener_configs import ListenerConfig

    def closed(listener: Listener, config: ListenerConfig) -> bool:
        return listener.has_sasl or (
            listener.has_tls and config.get("ssl.client.auth") == "required"
        )

    return emulator.run(
        lambda cluster: closed(
            cluster.security.listeners[name], ListenerConfig(cluster.config, name)
        )
    )


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
