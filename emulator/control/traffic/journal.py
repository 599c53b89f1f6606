"""RequestJournal: `kafka.journal`, off until it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack, overload

from ....wire import Error
from .chosen import Api, Chosen
from .exchange import Exchange
from .traffic import FRAME_BYTES, MOST, MOST_BYTES, Traffic

if TYPE_CHECKING:
    from ..request_matcher import Narrowed

T = TypeVar("T")
_OFF = (
    "the journal is off, and has kept nothing: call kafka.journal.start(), or use "
    "`with kafka.journal:`, before what it should keep"
)


class Host(Protocol):
    """Who has the requests: an emulator, or a proxy."""

    traffic: Traffic

    def in_its_thread(self, action: Callable[[], T]) -> T:
        """Call it where requests are served, or here if nothing is served."""
        ...

    def keep_traffic(self, is_on: bool) -> None:
        """Begin or end to fill the journal. Called in its thread."""
        ...

    def known_topics(self) -> dict[bytes, str]:
        """The topics that there are now, by id. Called in its thread."""
        ...


class RequestJournal(Sequence[Exchange]):
    """Every request and its answer, decoded when looked at, bounded.

        with kafka.journal:
            ...
        assert len(kafka.journal.of("Produce", topic="orders")) == 1

    It is off until `start` is called or a `with` is entered; then it keeps the last 10,000 requests
    and 64 MiB of their bytes. What it has kept stays readable when it is stopped, and when the
    broker is. Looking into one that was never on raises RuntimeError.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._was_on = False
        self._is_on = False
        self._was_on_before: list[bool] = []  # of each `with` that has not ended

    @property
    def traffic(self) -> Traffic:
        """The exchanges that are kept. Use it only in the thread that fills it."""
        return self._host.traffic

    @property
    def is_on(self) -> bool:
        """Whether requests are kept now."""
        return self._is_on

    def start(
        self, most: int = MOST, most_bytes: int = MOST_BYTES, frame_bytes: int = FRAME_BYTES
    ) -> Self:
        """Keep requests from now on: the last `most` of them, with at most `most_bytes` of frames
        in all, and of each frame at most `frame_bytes`. One that waits already is not seen. Raises
        ValueError for a bound below 1."""
        for name, bound in (
            ("most", most),
            ("most_bytes", most_bytes),
            ("frame_bytes", frame_bytes),
        ):
            if bound < 1:
                raise ValueError(f"{name} is at least 1, not {bound}")
        self._host.traffic.bound(most, most_bytes, frame_bytes)
        self._switch(is_on=True)
        return self

    def stop(self) -> None:
        """Keep no more; what there is stays."""
        self._switch(is_on=False)

    def clear(self) -> None:
        """Forget what there is."""
        self._host.in_its_thread(self._host.traffic.clear)

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
        """The requests that fit all that is given: see Chosen.of (control/traffic/chosen.py)."""
        return self.all().of(
            api, connection=connection, error=error, outcome=outcome, where=where, **narrowed
        )

    def all(self) -> Chosen:
        """All that is kept now. Raises RuntimeError if it was never on."""
        if not self._was_on:
            raise RuntimeError(_OFF)
        host = self._host

        def copied() -> Chosen:
            host.traffic.learn_topics()
            host.traffic.topic_names.update(host.known_topics())
            return Chosen(host.traffic.exchanges, host.traffic.dropped)

        return host.in_its_thread(copied)

    @property
    def dropped(self) -> int:
        """How many older requests were dropped, so that it stays within its bounds."""
        return self._host.traffic.dropped

    def save(self, path: str | Path, *, port: int | None = 9092) -> Path:
        """Write all of it to a file: see Chosen.save (control/traffic/chosen.py)."""
        return self.all().save(path, port=port)

    def __enter__(self) -> Self:
        self._was_on_before.append(self._is_on)
        return self if self._is_on else self.start()

    def __exit__(self, *_: object) -> None:
        if not self._was_on_before.pop():
            self.stop()

    def __len__(self) -> int:
        return len(self.all())

    @overload
    def __getitem__(self, index: int) -> Exchange: ...

    @overload
    def __getitem__(self, index: slice) -> Chosen: ...

    def __getitem__(self, index: int | slice) -> Any:
        return self.all()[index]

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.all())

    def __bool__(self) -> bool:
        return True  # so that `if kafka.journal` does not depend on what is in it

    def __repr__(self) -> str:
        return repr(self.all()) if self._was_on else "<journal: off>"

    def _switch(self, *, is_on: bool) -> None:
        def switched() -> None:
            if self._is_on != is_on:
                self._host.keep_traffic(is_on)
                self._is_on = is_on
            self._was_on |= is_on

        self._host.in_its_thread(switched)
