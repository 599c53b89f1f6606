"""Views of a cluster under a manual clock, without a server."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster

from tests.emulator.seen.support.seen import Seen


@pytest.fixture
def seen(cluster: Cluster) -> Seen:
    return Seen(cluster)
