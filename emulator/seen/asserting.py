"""What a test asserts of the records in a topic or a partition.

Each verb waits a little, `within` so many seconds, for what may still be on its way; a test whose
assertion holds does not wait. Failures are AssertionErrors that show the nearest records, and how
each differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from ..base.words import number_of
from .in_order import InOrder
from .matching import UNSET, Expectation, expected_of, with_value
from .reading import READ_COMMITTED
from .record import Raw
from .record_waits import Spanning
from .search import FROM_NOW, Following, Search, Since, lines_of, with_
from .waiting import WITHIN_S, WaitTimeout, count_of, either, seconds_of

NOTHING_WITHIN_S = 0.2
_OTHERS = "times, count, within, timeout, since, isolation"
_OTHERS_OF_NOTHING = "within, since, isolation"


class RecordAsserts(Spanning):
    """Assertions about records. What is expected of them, `since` and `isolation`: as for
    `wait_for`."""

    def assert_produced(
        self,
        value: Any = UNSET,
        /,
        *,
        times: int | None = None,
        count: int | None = None,
        within: float | None = None,
        timeout: float | None = None,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        **expected: Unpack[Expectation],
    ) -> Raw:
        """So many records (`times` or `count`, 1), no more, are as expected within so many seconds
        (`within` or `timeout`, 2); returns the first of them. What is given without a name is the
        value: `assert_produced("paid")`."""
        __tracebackhide__ = True
        number = either("times", times, "count", count)
        seconds = seconds_of("within", either("within", within, "timeout", timeout), WITHIN_S)
        if value is not UNSET:
            expected = with_value(value, expected)
        search = _search(self, "assert_produced", number, since, isolation, expected)
        return _exactly(search, self._source.wait(search.wait(), seconds))

    async def aassert_produced(
        self,
        value: Any = UNSET,
        /,
        *,
        times: int | None = None,
        count: int | None = None,
        within: float | None = None,
        timeout: float | None = None,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        **expected: Unpack[Expectation],
    ) -> Raw:
        """`assert_produced` in a coroutine."""
        __tracebackhide__ = True
        number = either("times", times, "count", count)
        seconds = seconds_of("within", either("within", within, "timeout", timeout), WITHIN_S)
        if value is not UNSET:
            expected = with_value(value, expected)
        search = _search(self, "aassert_produced", number, since, isolation, expected)
        return _exactly(search, await self._source.wait_async(search.wait(), seconds))

    def assert_produced_in_order(
        self,
        expected: Iterable[Any],
        *,
        by_key: bool = False,
        within: float = WITHIN_S,
        since: Since = None,
        isolation: str = READ_COMMITTED,
    ) -> None:
        """These come in this order, whatever lies between them: values, or NewRecords, whose key
        and headers count too. With `by_key` the order counts among those of one key, and each is a
        pair of key and value, or a NewRecord with a key. Without it there has to be one partition:
        between partitions there is no order."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        following = Following(self._span, isolation, since)
        in_order = InOrder(self.name, following, expected, by_key=by_key)
        self._source.wait(in_order.wait(), seconds)

    async def aassert_produced_in_order(
        self,
        expected: Iterable[Any],
        *,
        by_key: bool = False,
        within: float = WITHIN_S,
        since: Since = None,
        isolation: str = READ_COMMITTED,
    ) -> None:
        """`assert_produced_in_order` in a coroutine."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, WITHIN_S)
        following = Following(self._span, isolation, since)
        in_order = InOrder(self.name, following, expected, by_key=by_key)
        await self._source.wait_async(in_order.wait(), seconds)

    def assert_nothing_produced(
        self,
        *,
        within: float = NOTHING_WITHIN_S,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        **expected: Unpack[Expectation],
    ) -> None:
        """For so many seconds from the call on there comes no record, or none as expected. With
        `since` those count too that have come before, from there on. Waits to the end of that
        time."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, NOTHING_WITHIN_S)
        search = _search_new(self, "assert_nothing_produced", since, isolation, expected)
        try:
            found = self._source.wait(search.wait(describes=False), seconds)
        except WaitTimeout:
            return
        raise _produced(search, found, seconds)

    async def aassert_nothing_produced(
        self,
        *,
        within: float = NOTHING_WITHIN_S,
        since: Since = None,
        isolation: str = READ_COMMITTED,
        **expected: Unpack[Expectation],
    ) -> None:
        """`assert_nothing_produced` in a coroutine."""
        __tracebackhide__ = True
        seconds = seconds_of("within", within, NOTHING_WITHIN_S)
        search = _search_new(self, "aassert_nothing_produced", since, isolation, expected)
        try:
            found = await self._source.wait_async(search.wait(describes=False), seconds)
        except WaitTimeout:
            return
        raise _produced(search, found, seconds)


def _search(
    view: Spanning,
    verb: str,
    given_times: int | None,
    since: Since,
    isolation: str,
    given: Expectation,
) -> Search:
    expected = expected_of(verb, given, _OTHERS)
    times = 1 if given_times is None else given_times
    if times == 0 and times is not False:
        raise ValueError("times is a whole number from 1 on, not 0: use assert_nothing_produced")
    following = Following(view._span, isolation, since)
    return Search(view.name, following, expected, count_of("times", times))


def _search_new(
    view: Spanning, verb: str, since: Since, isolation: str, given: Expectation
) -> Search:
    expected = expected_of(verb, given, _OTHERS_OF_NOTHING)
    following = Following(view._span, isolation, FROM_NOW if since is None else since)
    return Search(view.name, following, expected, 1)


def _exactly(search: Search, found: list[Raw]) -> Raw:
    __tracebackhide__ = True
    if len(found) > search.count:
        noun = number_of(search.count, "record")
        text = f"{search.name} was to have {noun}{with_(search.expected)}, but has {len(found)}:"
        raise AssertionError("\n".join([text, *lines_of(found)]))
    return found[0]


def _produced(search: Search, found: list[Raw], seconds: float) -> AssertionError:
    no = f"no record{with_(search.expected)}"
    text = f"{search.name} was to get {no} within {seconds:g} s, but got {len(found)}:"
    return AssertionError("\n".join([text, *lines_of(found)]))
