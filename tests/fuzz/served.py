"""The APIs and versions that a release serves, whether it advertises them or not."""

from __future__ import annotations

from odradek.emulator.base.release import release_named
from odradek.emulator.handlers.registry import SERVED

from tests.differential.engine.served import Served


def served_by(release: str) -> Served:
    """What can be asked of a broker of this release."""
    serves = release_named(release).serves
    ranges = {}
    for key, each in sorted(SERVED.items()):
        cls = each.request
        versions = [v for v in range(cls.first_version, cls.last_version + 1) if serves(key, v)]
        if versions:
            ranges[cls] = versions[0], versions[-1]
    return Served(ranges, ())
