"""The versions of an API that tests look at: the first and the last that a release serves."""

from __future__ import annotations

from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.wire import Request


def first_and_last(request: type[Request], release: Release = KAFKA_4_3) -> list[int]:
    """The lowest and the highest version of an API, once if they are one."""
    key = request.api_key
    served = [v for v in range(request.last_version + 1) if release.serves(key, v)]
    return sorted({served[0], served[-1]})
