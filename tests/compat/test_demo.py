"""The demo's parts that do not need a broker; `make demo` itself is the test of the rest."""

from __future__ import annotations

from odradek.compat import CLIENTS
from odradek.compat.demo import CODECS


def test_every_client_has_a_codec_of_its_own() -> None:
    assert set(CODECS) == set(CLIENTS)
    assert len(set(CODECS.values())) == len(CODECS)
