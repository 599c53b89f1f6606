"""Which API a rule is about: by the class of its request, or by its name."""

from __future__ import annotations

import difflib
import re

from ....wire import Request
from ....wire.api import API_MODULES, api_name, request_class
from ...handlers.registry import SERVED


def name_of(request: type[Request]) -> str:
    """As in "Produce"."""
    return request.__name__.removesuffix("Request")


def api_of(given: type[Request] | str) -> type[Request]:
    """The request of an API, given as its class or its name. Raises TypeError, ValueError."""
    if isinstance(given, str):
        return _named(given)
    if not isinstance(given, type) or not issubclass(given, Request):
        raise TypeError(f'an API is the class of its request, or a name as "Produce": {given!r}')
    if given.api_key not in SERVED:
        raise ValueError(f"this broker does not serve {name_of(given)}")
    return given


def _named(given: str) -> type[Request]:
    known = {_plain(module): key for key, module in API_MODULES.items()}
    key = known.get(_plain(given).removesuffix("request"))
    if key is not None:
        return api_of(request_class(key))
    names = [api_name(key) for key in SERVED]
    lower = {_plain(name): name for name in names}
    near = [lower[each] for each in difflib.get_close_matches(_plain(given), lower, 3, 0.5)]
    likely = f"; do you mean {' or '.join(near)}?" if near else f". There are {', '.join(names)}"
    raise ValueError(f"there is no API {given!r}{likely}")


def _plain(name: str) -> str:
    return re.sub(r"[_\s]", "", name).lower()
