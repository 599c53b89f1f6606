"""What Confluent's registry 8.5 has answered to drawn requests, and what ours answers to them."""

from __future__ import annotations

import pytest

from .compare import RECORDED, differences, recorded
from .serving import registry

SEEDS = sorted(
    (kind.upper(), int(seed))
    for kind, seed in (each.name.split(".")[0].split("-") for each in RECORDED.glob("*.gz"))
)
_OF_CHECK = 300


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_ours_answers_like_the_real_one(kind: str) -> None:
    with registry() as ours:
        assert list(differences(ours.url, recorded(kind, 1)[:_OF_CHECK])) == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), SEEDS)
def test_ours_answers_like_the_real_one_to_all_of_it(kind: str, seed: int) -> None:
    asked = recorded(kind, seed)
    assert len(asked) >= 600
    with registry() as ours:
        assert list(differences(ours.url, asked)) == []


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_at_least_two_thousand_requests_were_recorded(kind: str) -> None:
    assert sum(len(recorded(*each)) for each in SEEDS if each[0] == kind) >= 2_000
