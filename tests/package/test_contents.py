"""The sdist and the wheel: what is in them, and that both install and run, compiler or not."""

from __future__ import annotations

import email
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.building import ROOT, build_wheel, installed, names_of, run, texts_of
from tests.support.sessions import run as run_session

pytestmark = pytest.mark.slow  # a build takes seconds
PACKAGES = ("compat", "emulator", "fixtures", "storage", "wire")
TRY = """
import sys, odradek
from odradek import Emulator
from odradek.wire.scan import HAVE_C
with Emulator(topics={"orders": 3}) as kafka:
    print(odradek.__file__, odradek.__version__, HAVE_C, kafka.topics())
"""


def sources(packages: tuple[str, ...]) -> set[str]:
    found = {path for each in packages for path in (ROOT / each).rglob("*.py")}
    return {str(path.relative_to(ROOT)) for path in found}


def test_the_wheel_has_the_packages_and_no_more(plain: Path) -> None:
    names = set(names_of(plain))
    code = {name for name in names if name.startswith("odradek/")}
    wanted = {f"odradek/{name}" for name in sources(PACKAGES)}
    root = {each for each in wanted if each.startswith("odradek/fixtures/root/")}
    wanted = wanted - root | {f"odradek/{Path(each).name}" for each in root}
    assert {name for name in code if name.endswith(".py")} == wanted
    # Those have sources and files of their languages.
    foreign = {name for name in code if re.match(r"odradek/compat/(applications|clients)/\w", name)}
    others = {name for name in code - foreign if not name.endswith(".py")}
    assert {Path(name).suffix or Path(name).name for name in others} == {
        *(".typed", ".java"),
        ".tsv",  # the tables of releases
        *(".html", ".css", ".js"),  # the page of the control API
    }
    assert "odradek/py.typed" in others
    about = {name.partition(".dist-info/")[2] for name in names - code}
    files = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt"}
    assert about == files | {"licenses/LICENSE"}


def test_the_sdist_has_what_is_built_from_and_what_packagers_need(sdist: Path) -> None:
    names = set(names_of(sdist))
    assert names >= sources((*PACKAGES, "tests"))
    assert names >= {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    top = {name for name in names if "/" not in name}
    files = {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "setup.py"}
    files |= {"CITATION.cff", "SECURITY.md"}
    assert top == files | {"MANIFEST.in", "PKG-INFO", "pyproject.toml", "setup.cfg"}
    assert "wire/_scan.c" in names
    tops = {name.partition("/")[0] for name in names - top}
    assert tops == {*PACKAGES, "tests", "docs", "odradek.egg-info"}
    left_out = ("__pycache__", ".pyc", ".so", ".cache", ".git")
    assert [name for name in names if any(each in name for each in left_out)] == []


def test_nothing_of_the_machine_is_in_them(sdist: Path, plain: Path) -> None:
    places = [str(ROOT).encode(), sys.prefix.encode()]
    for archive in (sdist, plain):
        for name, text in texts_of(archive).items():
            assert [place for place in places if place in text] == [], name


def test_it_runs_without_the_extension_and_says_so(plain: Path, tmp_path: Path) -> None:
    python = installed(plain, tmp_path / "venv")
    environment = {"PATH": "", "TMPDIR": str(tmp_path)}
    said = run([python, "-c", TRY], env=environment, cwd=tmp_path).stdout
    file, version, have_c, topics = said.split()
    assert Path(file).is_relative_to(tmp_path / "venv")
    assert version in plain.name
    assert (have_c, topics) == ("False", "['orders']")
    shown = run([python, "-m", "odradek", "--version"], env=environment, cwd=tmp_path)
    assert shown.stdout == f"odradek {version}\n"
    serve = [str(python), "-m", "odradek", "serve", "--no-file", "--port", "0"]
    process = subprocess.Popen(
        serve, env=environment, cwd=tmp_path, stdout=-1, stderr=-1, text=True
    )
    assert process.stdout is not None
    ready = process.stdout.readline()
    process.terminate()
    _, output = process.communicate(timeout=60)
    assert "records scanned up to 1000 a batch" in ready
    assert "the C extension is not installed" in output
    assert process.returncode == 0


def test_the_extension_is_built_where_there_is_a_compiler(sdist: Path, tmp_path: Path) -> None:
    from odradek.wire.scan import HAVE_C

    if not HAVE_C:
        pytest.skip("there is no C compiler")
    wheel = build_wheel(sdist, tmp_path / "dist", tmp_path)
    if sys.implementation.name == "cpython":
        assert "-cp311-abi3-" in wheel.name  # one for 3.11 and newer
    found = [name for name in names_of(wheel) if name.endswith(".so")]
    assert [name.partition(".")[0] for name in found] == ["odradek/wire/_scan"]


def test_what_an_index_shows_is_true_there(plain: Path) -> None:
    texts = texts_of(plain)
    (name,) = (each for each in texts if each.endswith(".dist-info/METADATA"))
    about = email.message_from_bytes(texts[name])
    assert about["Author"] == "The Odradek authors"
    assert about.get_all("Project-URL") is None  # until there are true ones
    assert "Programming Language :: Python :: 3.14" in (about.get_all("Classifier") or [])
    text = str(about.get_payload())
    assert text == (ROOT / "docs/package.md").read_text()
    assert re.findall(r"\]\((?!https://)", text) == []


def test_codecs_that_pypy_may_not_have_are_not_needed_there(plain: Path) -> None:
    texts = texts_of(plain)
    (name,) = (each for each in texts if each.endswith(".dist-info/METADATA"))
    needed = email.message_from_bytes(texts[name]).get_all("Requires-Dist") or []
    always = {re.split(r"[<>=~; ]", each)[0] for each in needed if ";" not in each}
    assert always == {"crc32c"}


def test_the_page_of_an_index_runs(pytester: pytest.Pytester) -> None:
    first, second = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/package.md").read_text(), re.DOTALL
    )
    pytester.makepyfile(first)
    run_session(pytester).assert_outcomes(passed=1)
    exec(second, {})
