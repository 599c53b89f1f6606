"""Misfortune: one thing that goes wrong, at one request. Data alone: it can be written as a text,
and as the rule that does the same by hand."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import quote, unquote

from ...wire import Error
from .legal import (
    COORDINATOR,
    CRASH,
    DELAY,
    DELAYED,
    ERRORS,
    LEADER,
    NETWORK,
    NOT_LEADER,
    PARTITIONS,
    REBALANCE,
    REFUSAL,
    RETENTION,
    SLOW,
    TIMEOUT,
)

SHAPES: dict[str, tuple[str, ...]] = {
    "delay": ("seconds",),
    "disconnect": (),
    "cut": (),
    "reset": (),
    "fail": ("error", "times"),
    "rebalance": ("group",),
    "kick": ("group",),
    "restart": (),
    "kill": (),
    "timeout": (),
    "overtake": (),
    "grow": (),
    "lag": ("partition", "times"),
}
"""What may happen, and the fields that say more about it."""
_KINDS = {
    "delay": DELAY,
    **dict.fromkeys(("disconnect", "cut", "reset"), NETWORK),
    **dict.fromkeys(("rebalance", "kick"), REBALANCE),
    **dict.fromkeys(("restart", "kill"), CRASH),
    "timeout": TIMEOUT,
    "overtake": RETENTION,
    "grow": PARTITIONS,
    "lag": SLOW,
}
STALL_S = 90
"""Longer than sessions and transactions are by default, in all clients."""
_SIMPLER = {"kill": "disconnect", "restart": "disconnect", "reset": "disconnect"}
_SHORTEST_S = 0.01
_LONGEST_S = 10.0
_MOST_TIMES = 100
MOMENTS = ("before", "after")
_MEMBER = "kafka.group({0!r}).kick(kafka.group({0!r}).members[0])"


@dataclass(frozen=True, slots=True)
class Misfortune:
    """At the so-manieth request of an API, by whatever client: what happens."""

    api: str
    """As in "Produce"."""
    number: int
    """Of the request, from 1 on, since the schedule began."""
    what: str
    """"delay", "disconnect"; "cut": the answer is cut short; "reset": all connections are reset;
    "fail": answered with an error; "rebalance"; "kick": a member is removed; "restart"; "kill":
    killed and started again; "timeout": more time passes than members and transactions have;
    "overtake": all records there are deleted; "grow": each topic has a partition more; "lag":
    Fetch gets nothing of a partition, but of its sisters."""
    when: str = "before"
    """The request is carried out, or "after" that."""
    seconds: float = 0.0
    """Of a delay."""
    error: str = ""
    """Of "fail"."""
    times: int = 1
    """So many requests fail, this one and those after it."""
    group: str = ""
    """That rebalances, or whose member is removed."""
    partition: int = 0
    """That lags."""

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if self.what not in SHAPES:
            raise ValueError(f"what is one of {', '.join(SHAPES)}, not {self.what!r}")
        if self.when not in MOMENTS:
            raise ValueError(f"when is 'before' or 'after', not {self.when!r}")
        if self.api not in DELAYED:
            raise ValueError(f"api is one of {', '.join(DELAYED)}, not {self.api!r}")
        if self.number < 1:
            raise ValueError(f"number is that of a request, from 1 on, not {self.number}")
        if not 0 <= self.seconds <= _LONGEST_S or not 1 <= self.times <= _MOST_TIMES:
            limits = f"seconds are from 0 to {_LONGEST_S}, times from 1 to {_MOST_TIMES}"
            raise ValueError(f"{limits}, not {self.seconds} and {self.times}")
        if self.what == "fail" and self.error not in Error.__members__:
            raise ValueError(f"error is the name of an error, not {self.error!r}")
        if "group" in SHAPES[self.what] and not self.group:
            raise ValueError(f"{self.what} needs the id of a group")

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.what == "fail":
            if self.error in ERRORS[REFUSAL].get(self.api, ()):
                return REFUSAL
            return LEADER if self.api in ERRORS[LEADER] else COORDINATOR
        return _KINDS[self.what]

    # As a text

    def __str__(self) -> str:
        more = [quote(str(getattr(self, name)), safe="") for name in SHAPES[self.what]]
        return " ".join([f"{self.api}#{self.number}", self.when, self.what, *more])

    @classmethod
    def parse(cls, text: str) -> Misfortune:
        """From what `str` makes of one. Raises ValueError."""
        example = "as in 'EndTxn#2 after disconnect'"
        place, *words = text.split()
        api, _, number = place.partition("#")
        if len(words) < 2 or not number.isdecimal() or words[1] not in SHAPES:
            raise ValueError(
                f"a misfortune is a request, a moment and what happens, {example}: {text!r}"
            )
        when, what, *more = words
        if len(more) != len(SHAPES[what]):
            has = " and ".join(SHAPES[what]) or "nothing more"
            raise ValueError(f"{what} is followed by {has}: {text!r}")
        types: dict[str, Any] = {"seconds": float, "times": int, "partition": int}
        given = {
            name: types.get(name, str)(unquote(each))
            for name, each in zip(SHAPES[what], more, strict=True)
        }
        return cls(api, int(number), what, when, **given)

    # As a rule

    @property
    def code(self) -> str:
        """The sentence that does the same: `kafka.on('Produce').once().disconnect('after')`."""
        first = f".after({self.number - 1})" if self.number > 1 else ""
        often = f".times({self.times})" if self.times > 1 else ".once()"
        where = f", partition={self.partition}" if self.what == "lag" else ""
        return f"kafka.on({self.api!r}{where}){first}{often}.{self._verb()}"

    def _verb(self) -> str:
        after = ", 'after'" if self.when == "after" else ""
        if self.what == "delay":
            return f"delay({self.seconds:g}{after})"
        if self.what == "disconnect":
            return f"disconnect({self.when!r})"
        if self.what == "cut":
            return "truncate_reply(6)"
        if self.what in ("fail", "lag"):
            return f"fail(Error.{self.error or NOT_LEADER})"
        return f"call({self.function}{after})"

    @property
    def function(self) -> str:
        """What is called, as code; "" if nothing is."""
        return {
            "reset": "lambda: kafka.network.down().remove()",
            "rebalance": f"kafka.group({self.group!r}).rebalance",
            "kick": f"lambda: {_MEMBER.format(self.group)}",
            "restart": "kafka.restart",
            "kill": "lambda: kafka.restart(clean=False)",
            "timeout": f"lambda: kafka.advance(seconds={STALL_S})",
            "overtake": "lambda: [kafka.topic(each).empty() for each in kafka.topics()]",
            "grow": "lambda: [kafka.topic(each).add_partitions(1) for each in kafka.topics()]",
        }.get(self.what, "")

    # Smaller ones

    def smaller(self) -> list[Misfortune]:
        """What is less of a misfortune at the same request."""
        found = []
        if self.what in _SIMPLER:
            found.append(replace(self, what=_SIMPLER[self.what]))
        if self.what == "kick":
            found.append(replace(self, what="rebalance"))
        if self.times > 1:
            found.append(replace(self, times=1))
        if self.what == "delay" and self.seconds > 2 * _SHORTEST_S:
            found.append(replace(self, seconds=round(self.seconds / 2, 3)))
        return found


assert {field.name for field in fields(Misfortune)} >= {each for s in SHAPES.values() for each in s}
