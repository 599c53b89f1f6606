"""The same conversations with both brokers, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from .brokers import Address
from .cases import CASES
from .certificates import BARE, context_of
from .limits import ALONE
from .talk import Open, Talk, divided

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

    chosen = list(names)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(asked, (name for name in chosen if name not in ALONE)))
    found += [asked(name) for name in chosen if name in ALONE]
    return {name: (said, expected) for name, said, expected in found if said != expected}


def _opener(addresses: dict[str, Address]) -> Open:
    def opened(name: str) -> Talk:
        if name.endswith(BARE):
            return Talk(addresses[name.removesuffix(BARE)])
        named, source = divided(name)
        listener, context = context_of(named)
        return Talk(addresses[listener], context if listener in _TLS else None, source)

    return opened
