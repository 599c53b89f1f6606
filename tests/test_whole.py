"""What `make test` does about tests that failed: run once more alone, or red at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
# The state of the process that another test leaves is what these hang on.
HANGS = """
import os


def test_leaves():
    os.environ["LEFT"] = "1"


def test_hangs():
    assert "LEFT" not in os.environ
"""


PROCESSES = pytest.mark.parametrize(
    "options",
    [[], ["-p", "xdist", "-n", "2", "--dist=loadfile"]],
    ids=["one process", "two processes"],
)


def command(directory: Path, *options: str) -> list[str]:
    own = ["-p", "no:cacheprovider", f"--rootdir={directory}"]
    return [sys.executable, "-m", "tests.whole", "-q", *own, *options]


def environment() -> dict[str, str]:
    mine = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    return {**mine, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(directory: Path, text: str, *options: str) -> tuple[int, str]:
    """The exit status of a run of these tests, and what it has printed."""
    (directory / "test_it.py").write_text(text)
    done = subprocess.run(
        command(directory, *options),
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def last_lines(expected: str) -> list[str]:
    """What is said between the last two of the lines that catch the eye."""
    return expected.rstrip().split("!" * 100)[-2].strip().splitlines()


@PROCESSES
def test_one_that_passes_alone_is_named_and_not_red(tmp_path: Path, options: list[str]) -> None:
    status, output = run(tmp_path, HANGS, *options)
    assert status == 0, output
    assert last_lines(output) == [
        "FAILED AMONG THE OTHERS AND PASSED ALONE: a test that hangs on others, to be mended:",
        "    test_it.py::test_hangs",
    ]


def test_one_that_fails_alone_too_is_red(tmp_path: Path) -> None:
    status, output = run(tmp_path, HANGS + FAILS)
    assert status == 1
    assert "FAILED among the others AND ALONE:\n    test_it.py::test_fails\n" in output
    assert last_lines(output)[1:] == ["    test_it.py::test_hangs"]


def test_nothing_is_run_again_where_all_passed(tmp_path: Path) -> None:
    status, output = run(tmp_path, PASSES)
    assert (status, "!!" in output) == (0, False)


def test_ids_that_a_shell_would_read_are_found_again(tmp_path: Path) -> None:
    text = """
import os
import pytest


@pytest.mark.parametrize("text", ["a b", "$HOME", "a::b[*]", "'", "ü"])
def test_it(text):
    assert "LEFT" in os.environ or os.environ.pop("ALONE", None) is None
    os.environ["ALONE"] = "no"
"""
    status, output = run(tmp_path, text)
    assert status == 0, output
    assert len(last_lines(output)) == 3, "every second one"


@pytest.mark.parametrize("where", ["yield", "raise LookupError\n    yield"])
def test_errors_before_and_after_a_test_are_failures(tmp_path: Path, where: str) -> None:
    text = f"""
import pytest


@pytest.fixture
def broken():
    {where}
    raise LookupError


def test_it(broken): pass
"""
    status, output = run(tmp_path, text)
    assert status == 1
    assert last_lines(output) == ["FAILED among the others AND ALONE:", "    test_it.py::test_it"]


def test_one_that_is_skipped_alone_is_red(tmp_path: Path) -> None:
    text = """
import os
import pytest

BEGAN = os.path.exists("began")
open("began", "w").close()


def test_it():
    if BEGAN:
        pytest.skip("not alone")
    assert False
"""
    status, output = run(tmp_path, text)
    assert status == 1
    assert last_lines(output)[0] == "FAILED among the others AND ALONE:"


def test_many_failures_are_red_at_once(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.parametrize('n', range(6))\n" + "def test_it(n): assert 0\n"
    status, output = run(tmp_path, text)
    assert (status, last_lines(output)) == (1, ["not run again, alone:", "    6 tests failed"])


@PROCESSES
def test_what_cannot_be_collected_is_red(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "test_other.py").write_text("import not_there")
    status, output = run(tmp_path, HANGS, *options, "--continue-on-collection-errors")
    assert status in (1, 2), output
    assert "PASSED ALONE" not in output


def test_a_process_that_crashed_is_red(tmp_path: Path) -> None:
    text = "import os\n" + PASSES + "def test_dies(): os._exit(3)\n"
    status, output = run(tmp_path, text, "-p", "xdist", "-n", "1")
    assert status == 1, output
    assert "PASSED ALONE" not in output
    text = "import os\ndef test_dies(): os._exit(3)\n" + FAILS
    status, output = run(tmp_path, text, "-p", "xdist", "-n", "1")
    assert status == 1, output
    assert last_lines(output)[0] == "not run again, alone:"
    assert "    a process crashed in test_it.py::test_dies" in last_lines(output)


def test_a_run_that_stops_before_its_end_is_red(tmp_path: Path) -> None:
    for options in (["-x"], ["-x", "-p", "xdist", "-n", "1"]):
        status, output = run(tmp_path, HANGS + PASSES, *options)
        assert status in (1, 2), output
        assert "PASSED ALONE" not in output


def test_an_interrupt_is_not_a_failure_to_try_again(tmp_path: Path) -> None:
    text = FAILS + "import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGINT)\n"
    status, output = run(tmp_path, text)
    assert status == 2, output
    assert "alone" not in output


def test_wrong_options_and_no_tests_have_their_own_status(tmp_path: Path) -> None:
    assert run(tmp_path, PASSES, "--not-an-option")[0] == 4
    assert run(tmp_path, PASSES, "-k", "nothing")[0] == 5
