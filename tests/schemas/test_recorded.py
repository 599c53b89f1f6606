"""What Confluent's registry 8.5 has answered to drawn requests, and what ours answers to them."""

from __future__ import annotations

import pytest

from .compare import RECORDED, differences, recorded
from .serving import registry

SEEDS = sorted(int(each.name.split(".")[0].split("-")[1]) for each in RECORDED.glob("*.gz"))
_OF_CHECK = 300


def test_ours_answers_like_the_real_one() -> None:
    with registry() as ours:
        assert list(differences(ours.url, recorded(SEEDS[0])[:_OF_CHECK])) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_ours_answers_like_the_real_one_to_all_of_it(seed: int) -> None:
    asked = recorded(seed)
    assert len(asked) >= 600
    with registry() as ours:
        assert list(differences(ours.url, asked)) == []


def test_at_least_two_thousand_requests_were_recorded() -> None:
    assert sum(len(recorded(seed)) for seed in SEEDS) >= 2_000
