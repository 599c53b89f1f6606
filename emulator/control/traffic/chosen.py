"""Chosen: some exchanges of a journal, in order, as a test looks at them.

    fetches = kafka.journal.of("Fetch", topic="orders")
    assert len(fetches) == 2 and not fetches[0].errors

Its `repr` is what a failing assert shows: a line for each exchange, the last ones of many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import overload

from ....wire import Error, Request
from ....wire.api import API_MODULES, api_name
from ...base.words import number_of
from .exchange import OUTCOMES, Exchange

_MOST_SHOWN = 50
Api = str | type[Request]


class Chosen(Sequence[Exchange]):
    """Exchanges, the oldest first."""

    def __init__(self, exchanges: Sequence[Exchange], dropped: int = 0) -> None:
        self._exchanges = list(exchanges)
        self.dropped = dropped
        """How many older ones the journal had to drop, of any kind."""

    def of(
        self,
        api: Api | None = None,
        *,
        client_id: str | None = None,
        topic: str | None = None,
        connection: int | None = None,
        error: Error | None = None,
        outcome: str | None = None,
        where: Callable[[Exchange], bool] | None = None,
    ) -> Chosen:
        """Those that fit all that is given.

        api         "Fetch", or FetchRequest
        client_id   of the client that asked
        topic       that the request or the answer names; a fetch in a session (KIP-227) names only
                    what has changed
        connection  its number
        error       somewhere in the answer
        outcome     "waiting", "answered", "no reply", "closed" or "malformed"
        where       a function of the exchange

        Raises ValueError for an API or an outcome that there is not.
        """
        key = None if api is None else key_of(api)
        if outcome is not None and outcome not in OUTCOMES:
            raise ValueError(f"outcome is {' or '.join(map(repr, OUTCOMES))}, not {outcome!r}")
        found = [
            each
            for each in self._exchanges
            if (key is None or each.api_key == key)
            and (client_id is None or each.client_id == client_id)
            and (connection is None or each.connection.number == connection)
            and (outcome is None or each.outcome == outcome)
            and (topic is None or topic in each.topics)
            and (error is None or error in each.errors)
            and (where is None or where(each))
        ]
        return Chosen(found, self.dropped)

    def save(self, path: str | Path, *, port: int | None = 9092) -> Path:
        """Write them to a file, by its ending: `.jsonl` (JSON Lines), or `.pcapng`, which Wireshark
        opens. `port` is the one that brokers have in a `.pcapng`: Wireshark takes 9092 for Kafka;
        None leaves them their own. Returns the path. Raises ValueError for another ending, OSError.
        """
        from .files import save  # a test that saves nothing need not import it

        return save(self._exchanges, path, port, self.dropped)

    def __len__(self) -> int:
        return len(self._exchanges)

    @overload
    def __getitem__(self, index: int) -> Exchange: ...

    @overload
    def __getitem__(self, index: slice) -> Chosen: ...

    def __getitem__(self, index: int | slice) -> Exchange | Chosen:
        if isinstance(index, slice):
            return Chosen(self._exchanges[index], self.dropped)
        return self._exchanges[index]

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self._exchanges)

    def __repr__(self) -> str:
        lost = f", {self.dropped} older ones dropped" if self.dropped else ""
        head = f"{number_of(len(self), 'request')}{lost}"
        shown = self._exchanges[-_MOST_SHOWN:]
        lines = [f"  {each}" for each in shown]
        if len(shown) < len(self):
            lines.insert(0, f"  ({len(self) - len(shown)} before)")
        return "\n".join([f"<journal: {head}", *lines]) + ">"


def key_of(api: Api) -> int:
    """The key of an API, given by its name or its request. Raises ValueError, TypeError."""
    if isinstance(api, type) and issubclass(api, Request):
        return api.api_key
    if not isinstance(api, str):
        raise TypeError(f"api is the name of an API or its request class, not {api!r}")
    known = _keys()
    plain = api.lower().replace("_", "")
    if plain not in known:
        close = [api_name(known[name]) for name in get_close_matches(plain, known, 3)]
        likely = f"; do you mean {' or '.join(close)}?" if close else ""
        raise ValueError(f"there is no API {api!r}{likely}")
    return known[plain]


@cache
def _keys() -> dict[str, int]:
    return {api_name(key).lower(): key for key in API_MODULES}
