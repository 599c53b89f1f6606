"""Which tests a day's run leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.parts import PARTS, chosen, parts_of

ROOT = Path(__file__).parent.parent
TESTS = [f"tests/test_x.py::test_it[{number}]" for number in range(100)]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 200])
def test_every_test_is_in_a_part(parts: int) -> None:
    found = [chosen(TESTS, parts, part) for part in range(parts)]
    assert set().union(*found) == set(TESTS)
    assert all(found)
    if parts < 10:  # and in one alone
        assert sum(map(len, found)) == len(TESTS)
    assert chosen(TESTS, parts, 365) == chosen(TESTS, parts, 365 % parts + parts)


def test_a_file_has_the_parts_of_its_directory() -> None:
    for place, parts in PARTS.items():
        assert parts > 1
        assert (ROOT / place).exists(), place
        assert parts_of(f"{place}/test_x.py") == parts
    assert parts_of("tests/test_parts.py") == 1


def test_a_run_without_the_option_is_whole(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "tests/clients/test_admin_sweep": """
                import pytest

                @pytest.mark.parametrize("number", range(40))
                def test_it(number):
                    pass
            """,
            "tests/test_small": "def test_it(): pass",
        }
    )
    run = ("-p", "tests.support.parts", "-p", "no:randomly")
    whole = pytester.runpytest_inprocess(*run).parseoutcomes()
    assert whole == {"passed": 41}
    parts = [pytester.runpytest_inprocess(*run, f"--part={n}").parseoutcomes() for n in range(4)]
    assert sum(found["passed"] - 1 for found in parts) == 40
    assert all(found["passed"] + found["deselected"] == 41 for found in parts)
