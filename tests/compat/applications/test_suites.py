"""Another project's own tests are run from a checkout, counted, and held against what a real Kafka
fails too."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest
from odradek.compat.applications import suites as module
from odradek.compat.applications.suites import Suite, main, outcome, suites

SUITE = Suite(
    at="1",
    folder=".",
    command=["sh", "tests.sh", "{bootstrap}"],
    passed=r"^PASS (\S+)",
    failed=r"^FAIL (\S+)",
    skipped=r"^SKIP (\S+)",
    environment={"ADDRESS": "{bootstrap}"},
    real={"known": "a real one does so too"},
)
SCRIPT = """
test "$ADDRESS" = "$1" && echo "PASS address" || echo "FAIL address"
python3 -c 'import socket, sys; socket.create_connection(sys.argv[1].split(":"))' "$1" \\
    && echo "PASS connected" || echo "FAIL connected"
echo "SKIP rest"
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "suites", lambda: {"theirs": SUITE})
    return tmp_path


def test_they_run_against_a_broker(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "tests.sh").write_text(SCRIPT)
    assert main(["theirs", str(checkout)]) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed, 1 skipped\n"


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ("echo FAIL known", 0, "known fails on a real Kafka too: a real one does so too\n"),
        ("echo FAIL other", 1, "other failed\n"),
    ],
)
def test_what_fails_is_named(
    checkout: Path, capsys: pytest.CaptureFixture[str], more: str, status: int, said: str
) -> None:
    (checkout / "tests.sh").write_text(f"echo PASS one\n{more}")
    assert main(["theirs", str(checkout)]) == status
    assert capsys.readouterr().out == f"{said}1 passed, 1 failed, 0 skipped\n"


def test_none_that_has_run_is_a_failure(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "tests.sh").write_text("echo does not compile")
    assert main(["theirs", str(checkout)]) == 1
    assert "does not compile" in capsys.readouterr().out


def test_what_failed_once_has_failed() -> None:
    found = outcome(replace(SUITE, real={}), "PASS a\nFAIL a\nPASS b")
    assert (found.passed, found.failed) == ({"b"}, {"a"})


def test_an_unknown_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense", "."]) == 2
    assert "no such suite: nonsense" in capsys.readouterr().err


def test_each_suite_is_described() -> None:
    for suite in suites().values():
        assert suite.at
        assert suite.port or "{bootstrap}" in str([suite.command, suite.environment])


def test_one_whose_port_is_taken_is_refused(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(module, "suites", lambda: {"theirs": replace(SUITE, port=port)})
        assert main(["theirs", str(checkout)]) == 2
    assert capsys.readouterr().err == f"its tests ask port {port}, where something else listens\n"
