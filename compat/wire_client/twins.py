"""Methods that wait, each in two ways: in the caller's thread, and in a coroutine, whose loop goes
on meanwhile. Both are made from one body, a generator that yields what may take long:

    @Waiting
    def wait_empty(self, *, timeout: float | None = None) -> Steps[None]:
        yield from waited(self._source, _empty(self), timeout)

    await_empty = wait_empty.in_coroutine

In the class both are functions, with the signature of the body.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial, wraps
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar, overload

from ...emulator.base.words import renamed
from .waiting import Wait, WaitSource, in_thread

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


class Step(NamedTuple):
    """What may take long."""

    now: Callable[[], Any]
    """Do it in the caller's thread."""
    awaited: Callable[[], Awaitable[Any]]
    """Do it in a coroutine."""


Steps: TypeAlias = Generator[Step, Any, T]
"""A body that waits; a step that raises does so within it."""


def waited(source: WaitSource, wait: Wait[T], timeout: float | None) -> Steps[T]:
    """Wait so many seconds, by default those of the source. Raises WaitTimeout, and what looking
    raises."""
    __tracebackhide__ = True
    step = Step(partial(source.wait, wait, timeout), partial(source.wait_async, wait, timeout))
    result: T = yield step
    return result


def blocking(action: Callable[[], T]) -> Steps[T]:
    """Call a function that blocks: in a coroutine, in another thread."""
    __tracebackhide__ = True
    result: T = yield Step(action, partial(in_thread, action))
    return result


class InCoroutine(Generic[S, P, T]):
    """The coroutine twin of a method that waits."""

    def __init__(self, body: Callable[Concatenate[S, P], Steps[T]]) -> None:
        self._body: Any = body

    def __set_name__(self, owner: type, name: str) -> None:
        function = _in_coroutine(renamed(self._body, f"{owner.__qualname__}.{name}"))
        function.__doc__ = f"`{self._body.__name__.lstrip('_')}` in a coroutine."
        setattr(owner, name, function)

    @overload
    def __get__(
        self, view: None, owner: type
    ) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, view: S, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, view: S | None, owner: type) -> Any:
        raise AssertionError("in its class a function stands in its place")


class Waiting(Generic[S, P, T]):
    """A method that waits in the caller's thread; `body` is a generator function."""

    def __init__(self, body: Callable[Concatenate[S, P], Steps[T]]) -> None:
        self._body: Any = body
        returned = body.__annotations__["return"]
        body.__annotations__["return"] = returned.removeprefix("Steps[").removesuffix("]")
        self.in_coroutine = InCoroutine(body)

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _at_once(renamed(self._body, f"{owner.__qualname__}.{name}")))

    @overload
    def __get__(self, view: None, owner: type) -> Callable[Concatenate[S, P], T]: ...

    @overload
    def __get__(self, view: S, owner: type) -> Callable[P, T]: ...

    def __get__(self, view: S | None, owner: type) -> Any:
        raise AssertionError("in its class a function stands in its place")


def _at_once(body: Any) -> Any:
    @wraps(body)
    def run(*args: Any, **more: Any) -> Any:
        __tracebackhide__ = True
        steps: Steps[Any] = body(*args, **more)
        try:
            step = next(steps)
            while True:
                try:
                    found = step.now()
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(found)
        except StopIteration as end:
            return end.value

    run.again = _at_once  # type: ignore[attr-defined]  # for a copy under another name
    return run


def _in_coroutine(body: Any) -> Any:
    @wraps(body)
    async def run(*args: Any, **more: Any) -> Any:
        __tracebackhide__ = True
        steps: Steps[Any] = body(*args, **more)
        try:
            step = next(steps)
            while True:
                try:
                    found = await step.awaited()
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(found)
        except StopIteration as end:
            return end.value

    run.again = _in_coroutine  # type: ignore[attr-defined]
    return run
