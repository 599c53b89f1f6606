"""The same conversations with both brokers, and where they differ."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from .brokers import Address
from .cases import BARE, CASES, Open
from .talk import Talk

Said = list[str]
_AT_ONCE = 8
_TLS = ("TLS", "MUTUAL")


def differences(
    ours: dict[str, Address], theirs: dict[str, Address], names: Iterable[str]
) -> dict[str, tuple[Said, Said]]:
    """What both have said in those cases in which it was not the same."""

    def asked(name: str) -> tuple[str, Said, Said]:
        case = CASES[name]
        return name, case(_opener(ours)), case(_opener(theirs))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(asked, names))
    return {name: (said, expected) for name, said, expected in found if said != expected}


def _opener(addresses: dict[str, Address]) -> Open:
    def opened(name: str) -> Talk:
        if name.endswith(BARE):
            return Talk(addresses[name.removesuffix(BARE)])
        return Talk(addresses[name], _trusting() if name in _TLS else None)

    return opened


def _trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
