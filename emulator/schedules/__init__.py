"""Schedules: small misfortunes that a real cluster may have, drawn from a seed.

- `misfortune`: one of them, as data; `sorts`: what each sort does to a broker.
- `legal`: which misfortunes may happen at which requests.
- `schedule`: several of them, at a broker; `horizon`: the requests that a run has; `drawing`: from
  a seed to a schedule.
- `shrinking`: to the fewest that still fail; `exploring`: a scenario under many schedules.

Each happens at the n-th request of an API, not at a time, so that a schedule can be played again.
"""

from .drawing import MOST, draw
from .exploring import explore
from .horizon import Horizon, watch
from .legal import KINDS, MORE_KINDS
from .misfortune import Misfortune
from .schedule import Schedule

__all__ = [
    "KINDS",
    "MORE_KINDS",
    "MOST",
    "Horizon",
    "Misfortune",
    "Schedule",
    "draw",
    "explore",
    "watch",
]
