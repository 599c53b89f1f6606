"""What is pasted of a page, and what the page says to install; `python -m tests.package --pages`
pastes and installs."""

from __future__ import annotations

from pathlib import Path

from tests.package.pages import NEEDS_MORE, by_needs, examples, requirement

FOUND = {example.page: example for example in examples()}


def test_each_page_with_python_has_an_example_that_does_something() -> None:
    assert len(FOUND) > 25
    assert set(NEEDS_MORE).isdisjoint(FOUND)
    for example in FOUND.values():
        assert len(example.files) == 1 or "conftest.py" in example.files
        compile("".join(example.files.values()), example.page, "exec")


def test_what_it_needs_is_what_the_page_says_and_what_the_example_imports() -> None:
    assert FOUND["README.md"].needs == {"pytest", "confluent-kafka"}
    assert FOUND["files.md"].needs == set()
    assert FOUND["control.md"].needs == {"httpx", "odradek[console]"}
    assert "odradek[tls]" in FOUND["security.md"].needs
    assert list(FOUND["spark.md"].files) == ["conftest.py", "test_example.py"]
    assert sum(map(len, by_needs().values())) == len(FOUND)


def test_a_test_is_run_by_pytest_and_a_script_by_python() -> None:
    assert FOUND["README.md"].command == ["-m", "pytest", "-q", "test_example.py"]
    assert FOUND["files.md"].command == ["example.py"]


def test_an_extra_is_the_wheel_s() -> None:
    wheel = Path("/dist/odradek.whl")
    assert requirement("odradek[tls]", wheel) == "odradek[tls] @ file:///dist/odradek.whl"
    assert requirement("kazoo", wheel) == "kazoo"
