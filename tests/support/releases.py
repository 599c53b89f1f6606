"""The releases of Kafka, for tests."""

from __future__ import annotations

from odradek.emulator.base.release import Release, release_named, releases

KAFKA_3_9 = release_named("3.9")
RELEASES: dict[str, Release] = {each.name: each for each in releases()}
"""Every one by its name, the newest first."""
