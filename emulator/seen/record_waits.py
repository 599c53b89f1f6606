"""What a test waits for in a topic or a partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, Unpack, overload

from .matching import Expectation, expected_of, with_value
from .reading import READ_COMMITTED
from .record import Raw
from .search import Following, Search, Since
from .source import Source
from .span import Span
from .waiting import Wait, count_of, either

_OTHERS = "count, times, since, isolation, timeout, within"
Value: TypeAlias = str | bytes | Mapping[str, Any]


class Spanning(Protocol):
    """A view of some partitions."""

    name: str
    _source: Source
    _span: Span


class RecordWaits(Spanning):
    """Waits for records.

    With a number (`count` or `times`), for so many records, which are returned; without, for one,
    which is returned: the first one in the order of partitions and offsets. What is given without a
    name and is no number is the value: `wait_for(b"paid")`. What is expected of them, see
    emulator/seen/matching.py: `key`, `value`, `json` (of the value; a dict is a part), `text`,
    `headers` (a dict is a part), `where` (a function of the record, which is called in the broker's
    thread: it must not wait for anything). `since` is an offset, or a datetime, from which on
    records count; `timeout` (or `within`) in real seconds, by default that of the broker.

    Raises WaitTimeout; Refused if the topic is not there, TypeError and ValueError for an argument
    that makes no sense.
    """

    @overload
    def wait_for(
        self,
        count: Value | None = None,
        *,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> Raw: ...

    @overload
    def wait_for(
        self,
        count: int,
        *,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> list[Raw]: ...

    @overload
    def wait_for(
        self,
        count: Value | None = None,
        *,
        times: int,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> list[Raw]: ...

    def wait_for(
        self,
        count: int | Value | None = None,
        *,
        times: int | None = None,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> Raw | list[Raw]:
        """Wait for a record, or so many, as the class says."""
        __tracebackhide__ = True
        number, expected = _meant(count, times, expected)
        wait = _wait(self, "wait_for", number, since, isolation, expected)
        seconds = either("timeout", timeout, "within", within)
        return _result(self._source.wait(wait, seconds), number)

    @overload
    async def await_for(
        self,
        count: Value | None = None,
        *,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> Raw: ...

    @overload
    async def await_for(
        self,
        count: int,
        *,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> list[Raw]: ...

    @overload
    async def await_for(
        self,
        count: Value | None = None,
        *,
        times: int,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> list[Raw]: ...

    async def await_for(
        self,
        count: int | Value | None = None,
        *,
        times: int | None = None,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        timeout: float | None = None,
        within: float | None = None,
        **expected: Unpack[Expectation],
    ) -> Raw | list[Raw]:
        """`wait_for` in a coroutine."""
        __tracebackhide__ = True
        number, expected = _meant(count, times, expected)
        wait = _wait(self, "await_for", number, since, isolation, expected)
        seconds = either("timeout", timeout, "within", within)
        return _result(await self._source.wait_async(wait, seconds), number)


def _meant(
    count: int | Value | None, times: int | None, expected: Expectation
) -> tuple[int | None, Expectation]:
    """The number of records, and what is expected of each. Raises TypeError."""
    if isinstance(count, str | bytes | Mapping):
        return times, with_value(count, expected)
    return either("count", count, "times", times), expected


def _wait(
    view: Spanning,
    verb: str,
    count: int | None,
    since: Since,
    isolation: str,
    given: Expectation,
) -> Wait[list[Raw]]:
    expected = expected_of(verb, given, _OTHERS)
    following = Following(view._span, isolation, since)
    return Search(
        view.name, following, expected, count_of("count", 1 if count is None else count)
    ).wait()


def _result(found: list[Raw], count: int | None) -> Raw | list[Raw]:
    return found[0] if count is None else found[:count]
