"""Chosen: some exchanges of a journal, in order, as a test looks at them.

    fetches = kafka.journal.of("Fetch", topic="orders")
    assert len(fetches) == 2 and not fetches[0].errors

Its `repr` is what a failing assert shows: a line for each exchange, the last ones of many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from ....wire import Error, Request
from ...base.words import number_of
from .exchange import OUTCOMES, Exchange

if TYPE_CHECKING:
    from ...division.entries import Entry
    from ..request_matcher import Narrowed, RequestMatcher

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
        connection: int | None = None,
        error: Error | None = None,
        outcome: str | None = None,
        where: Callable[[Exchange], bool] | None = None,
        **narrowed: Unpack[Narrowed],
    ) -> Chosen:
        """Those that fit all that is given.

        api         "Fetch", or FetchRequest
        connection  its number
        error       somewhere in the answer
        outcome     "waiting", "answered", "no reply", "closed" or "malformed"
        where       a function of the exchange

        Others are as in `kafka.on(...)`, and may be matchers: `client_id`, `client_software`,
        `broker`, `version`, `topic`, `partition`, `group`, `member`, `transactional_id`. A topic
        is one that the request or the answer names; a fetch in a session (KIP-227) names only what
        has changed. None is as if it was not given.

        Raises ValueError for an API or an outcome that there is not, and for what requests of the
        API do not say, TypeError.
        """
        from ..request_matcher import Narrowed, RequestMatcher, api_of, check_keywords

        own = ("connection", "error", "outcome", "where")
        check_keywords("of", narrowed, (*Narrowed.__annotations__, *own))
        request = Request if api is None else api_of(api, served=False)
        if outcome is not None and outcome not in OUTCOMES:
            raise ValueError(f"outcome is {' or '.join(map(repr, OUTCOMES))}, not {outcome!r}")
        given = {name: each for name, each in narrowed.items() if each is not None}
        matcher = RequestMatcher(request, given)
        found = [
            each
            for each in self._exchanges
            if (request is Request or each.api_key == request.api_key)
            and (connection is None or each.connection.number == connection)
            and (outcome is None or each.outcome == outcome)
            and (not given or _is_meant(matcher, each))
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


def _is_meant(matcher: RequestMatcher, exchange: Exchange) -> bool:
    if not matcher.of_entry:
        return not matcher.differences(exchange, None, ())
    return not matcher.differences(exchange, exchange.request, _entries(exchange))


def _entries(exchange: Exchange) -> Iterator[Entry]:
    """What is asked for, and what the answer names."""
    from ...division.entries import ALL, entries

    request, names = exchange.request, exchange.connection.topic_names.get
    for entry in [] if request is None else entries(request, exchange.version, names):
        if not any(each is ALL for each in entry.values()):  # what it found is in its answer
            yield entry
    for topic in exchange.topics:
        yield {"topic": topic}
