"""What the requests that describe the groups of one type have in common (KIP-848 and its
successors): each group is found once, however often it is asked for, and an error is told with an
empty group. Groups of the classic protocol are described in another form (describe_groups.py).

Authorized operations are those of a broker without an authorizer: all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from ...wire import Error, Refused
from ..base.turns import Slices, each_of
from .describe_groups import GROUP_OPERATIONS

G = TypeVar("G")


def described_groups(
    request: Any, empty: Callable[..., G], describe: Callable[[str], G], *, is_served: bool
) -> Slices[list[G]]:
    """The groups of an answer. `describe` finds one, or raises Refused; `empty` makes the group of
    an error of what all types have in common, and adds what only its type has."""

    @cache
    def group(group_id: str) -> Any:
        try:
            if not is_served:
                raise Refused(Error.UNSUPPORTED_VERSION)
            found: Any = describe(group_id)
        except Refused as refused:
            return empty(
                error_code=refused.error,
                error_message=refused.message,
                group_id=group_id,
                group_state="",
                group_epoch=0,
                assignment_epoch=0,
                members=[],
            )
        if request.include_authorized_operations:
            found.authorized_operations = GROUP_OPERATIONS
        return found

    return (yield from each_of(request.group_ids, group))
