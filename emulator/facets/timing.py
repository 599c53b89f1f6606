"""The broker's time, as a test moves it."""

from __future__ import annotations

from functools import partial

from ..base.clock import whole_ms
from ..cluster import Cluster
from .facet import Facet

_SLICE_S = 0.01


class Timing(Facet):
    """The broker's clock."""

    def advance(self, milliseconds: int) -> None:
        """Move a ManualClock forward; everything due on the way happens, in order.

        Clients are served meanwhile. Ctrl-C ends it where the clock then is.
        """
        left = whole_ms("milliseconds", milliseconds)
        while left := self.run(partial(Cluster.advance, milliseconds=left, seconds=_SLICE_S)):
            continue
