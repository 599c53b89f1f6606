"""Answers in which some entries are refused: put together, or found in an answer that is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ....wire import Error, Request, Response
from .places import Part as Place
from .places import answered, asked
from .refusing import given_in_error


class Part(NamedTuple):
    """What was taken out of a request."""

    request: Request
    """As it came."""
    taken: Any
    """The request with what is refused alone; None if nothing was taken out."""
    answer: Any
    """The response to that."""


def place_of(answer: Response, version: int) -> Place:
    """Where an answer has its entries, and their errors."""
    return answered(type(answer), version)


def has_error(answer: Any, version: int) -> bool:
    """Whether any part of an answer has an error."""
    return _has_error(answer, place_of(answer, version))


def _has_error(item: Any, place: Place) -> bool:
    if place.code and getattr(item, place.code):
        return True
    return any(
        _has_error(each, below) for name, below in place.lists for each in getattr(item, name) or ()
    )


def merge(own: Any, part: Part, version: int) -> None:
    """Add the refusals to the answer for the rest: under the same topic, group, ... as what is
    there. Answers that say nothing of what they are about stand in the order of the request."""
    place = place_of(own, version)
    (name, below), *_ = place.lists
    if below.fields or below.lists:
        _merge(own, part.answer, place)
        return
    (asked_as, _), *_ = asked(type(part.request), version).lists
    taken = {id(each) for each in getattr(part.taken, asked_as)}
    refused, rest = iter(getattr(part.answer, name)), iter(getattr(own, name))
    each_asked = getattr(part.request, asked_as)
    setattr(own, name, [next(refused if id(each) in taken else rest) for each in each_asked])


def _merge(own: Any, other: Any, place: Place) -> None:
    for name, below in place.lists:
        there = getattr(own, name)
        for item in getattr(other, name):
            same = next((each for each in there if _is_same(each, item, below)), None)
            if same is None or not below.lists:
                there.append(item)
            else:
                _merge(same, item, below)


def _is_same(one: Any, other: Any, place: Place) -> bool:
    """Whether both are about the same."""
    return all(getattr(one, name) == getattr(other, name) for name, _ in place.fields)


def refuse_entries(
    own: Any, version: int, where: int, error: Error, is_meant: Callable[[dict[str, Any]], bool]
) -> None:
    """Put an error, and nothing else, in the place of answers at a level."""

    def walk(item: Any, place: Place, above: dict[str, Any], depth: int) -> None:
        for name, below in place.lists[:1]:
            items = getattr(item, name) or []
            for number, each in enumerate(items):
                values = {**above, **{role: getattr(each, field) for field, role in below.fields}}
                if depth + 1 < where:
                    walk(each, below, values, depth + 1)
                elif is_meant(values):
                    items[number] = _refused(each, below, version, error)

    walk(own, place_of(own, version), {}, 0)


def _refused(item: Any, place: Place, version: int, error: Error) -> Any:
    assert place.struct is not None
    made = place.struct(**given_in_error(item, place, version))
    for name, _ in place.fields:
        setattr(made, name, getattr(item, name))
    setattr(made, place.code, error)
    return made
