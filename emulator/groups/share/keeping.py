"""A coordinator of groups without share coordinators: it initialises no state."""

from __future__ import annotations

from typing import NoReturn

from ....wire.errors import Error, Refused
from ...share.state import ShareKey


class NoStates:
    """Where nothing keeps the states of share groups."""

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int) -> None:
        """Raises Refused(COORDINATOR_NOT_AVAILABLE)."""
        self._refuse()

    def delete(self, key: ShareKey) -> None:
        """Raises Refused(COORDINATOR_NOT_AVAILABLE)."""
        self._refuse()

    def summary(self, key: ShareKey) -> NoReturn:
        """Raises Refused(COORDINATOR_NOT_AVAILABLE)."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise Refused(Error.COORDINATOR_NOT_AVAILABLE)
