"""One request again and again until it succeeds: what was answered, and for how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

from odradek.wire import Error

GIVE_UP_S = 60.0


@dataclass
class Sight:
    """The errors before one success, in order, each with how often and until when (ms)."""

    errors: list[tuple[Error, int, float]] = field(default_factory=list)
    done_ms: float = 0.0

    def add(self, error: Error, now_ms: float) -> None:
        if self.errors and self.errors[-1][0] is error:
            _, times, _ = self.errors.pop()
            self.errors.append((error, times + 1, now_ms))
        else:
            self.errors.append((error, 1, now_ms))


def until_success(ask: Callable[[], int], since: float | None = None) -> Sight:
    """Ask until the answer's code is 0. Raises TimeoutError after 20 s."""
    begin = perf_counter() if since is None else since
    sight = Sight()
    while True:
        error = Error(ask())
        now = perf_counter() - begin
        if not error:
            sight.done_ms = now * 1000
            return sight
        sight.add(error, now * 1000)
        if now > GIVE_UP_S:
            raise TimeoutError(f"{error.name} for {now:.0f} s")


def sight_rows(sights: Iterable[Sight]) -> list[str]:
    """What was seen, as rows: each error, in how many runs, how often in one, until when."""
    sights = list(sights)
    orders = Counter(" > ".join(error.name for error, _, _ in each.errors) for each in sights)
    rows = [f"{count} of {len(sights)}: {order or 'no error'}" for order, count in orders.items()]
    for error in dict.fromkeys(error for each in sights for error, _, _ in each.errors):
        seen = [each for sight in sights for each in sight.errors if each[0] is error]
        until = sorted(ms for _, _, ms in seen)
        times = median(times for _, times, _ in seen)
        rows.append(
            f"  {error.name} x{times:g}, until {median(until):.1f} ms (at most {until[-1]:.1f})"
        )
    done = sorted(each.done_ms for each in sights)
    rows.append(f"  done after {spread(done)} ms")
    return rows


def spread(values: Iterable[float]) -> str:
    """Minimum, quartiles, 95 % and maximum."""
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return " / ".join(f"{at(share):.2f}" for share in (0, 0.25, 0.5, 0.75, 0.95, 1))
