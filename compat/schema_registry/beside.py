"""Beside: the broker of this process, as the cluster of a registry; asked without a socket."""

from __future__ import annotations

from typing import Any

from ...emulator.embedded.embedded import Embedded
from ...wire import Request
from ..wire_client.inside import Inside, source_of


class Beside:
    """Its requests pass the broker's rules and log-ins."""

    def __init__(self, kafka: Embedded) -> None:
        self._inside: Inside = source_of(kafka)
        self._kafka = kafka

    @property
    def incarnation(self) -> object:
        """The cluster: another one takes its place where a state is put back."""
        return self._kafka.run(id)

    def ask(self, request: Request, version: int) -> Any:
        """The broker's answer. Raises ConnectionError."""
        try:
            return self._inside.ask(request, version)
        except RuntimeError as error:
            raise ConnectionError(str(error)) from None
