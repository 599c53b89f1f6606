"""`python -m tests.package`: builds sdist and wheel into build/dist, and tries them.

Each line is a check. Environments are empty but for pip; what odradek depends on is taken from the
package index. `--extras` also asks whether each extra can be installed (dev and spark are large);
`--pages` tries the first example of each page (spark's needs Java and Maven, too).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from tests.package import pages
from tests.package.building import (
    ROOT,
    build_sdist,
    build_wheel,
    names_of,
    run,
    without_compiler,
)

DIST = ROOT / "build/dist"
FIRST_STEPS = """
import odradek
from odradek import Emulator
from odradek.wire.scan import HAVE_C
with Emulator(topics={"orders": 3}) as kafka:
    kafka.seed({"orders": ["one espresso"]})
    assert kafka.topic("orders").values() == [b"one espresso"]
print(odradek.__version__, "with the C extension" if HAVE_C else "in plain Python")
"""
TEST = """
def test_orders_are_delivered(kafka):
    orders = kafka.create_topic("orders", partitions=3)
    kafka.seed({"orders": ["one espresso"]})
    assert orders.values() == [b"one espresso"]
"""


def main() -> None:
    """Build, and try everything; ends with the first thing that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.package", description=__doc__)
    parser.add_argument("--extras", action="store_true", help="resolve all extras, too")
    parser.add_argument("--pages", action="store_true", help="try the pages' first examples, too")
    asked = parser.parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="odradek-package-") as name:
        work = Path(name)
        sdist = build_sdist(DIST, work / "sdist", isolated=True)
        tell(f"{sdist.name}: {len(names_of(sdist)):,} files, {size(sdist)}")
        wheel = build_wheel(sdist, DIST, work / "wheel", isolated=True)
        tell(f"{wheel.name}: {len(names_of(wheel)):,} files, {size(wheel)}")
        with_compiler = environment(work / "compiled", [wheel])
        first_steps(with_compiler, work)
        bin = work / "bin"
        plain = environment(work / "plain", [sdist], without_compiler(bin))
        first_steps(plain, work)
        outside(with_compiler, work)
        demo(with_compiler, work)
        if asked.extras:
            extras(with_compiler, wheel)
        if asked.pages:
            first_examples(work / "pages", wheel)


def tell(line: str) -> None:
    print(f"{monotonic() - BEGIN:6.1f} s  {line}", flush=True)


def size(path: Path) -> str:
    """As in "1.1 MB"."""
    return f"{path.stat().st_size / 1e6:.1f} MB"


def environment(venv: Path, what: list[Path | str], env: dict[str, str] | None = None) -> Path:
    """The Python of a new environment into which pip installs what is given."""
    run([sys.executable, "-m", "venv", venv])
    python = venv / "bin/python"
    run([python, "-m", "pip", "install", "--quiet", *what], env=env)
    run([python, "-m", "pip", "check"])
    return python


def first_steps(python: Path, work: Path) -> None:
    """What README begins with, from another directory."""
    said = run([python, "-c", FIRST_STEPS], cwd=work).stdout.strip()
    for command in ((python, "-m", "odradek"), (python.parent / "odradek",)):
        run((*command, "--version"), cwd=work)
        run((*command, "serve", "--help"), cwd=work)
    tell(f"odradek {said}: installed, pip check, Emulator, `python -m odradek`, `odradek`")


def outside(python: Path, work: Path) -> None:
    """A broker, its shell and a test with the fixture."""
    odradek = python.parent / "odradek"
    serve = [str(odradek), "serve", "--port", "0", "--topic", "orders:3", "--quiet"]
    with subprocess.Popen(serve, cwd=work, stdout=subprocess.PIPE, text=True) as broker:
        assert broker.stdout is not None
        address = broker.stdout.readline().split()[3]
        run([odradek, "health", address, "--wait", "30"], cwd=work)
        produce = [odradek, "produce", address, "orders", "--key", "42"]
        run(produce, cwd=work, input="one espresso\n")
        assert "one espresso" in run([odradek, "records", address, "orders"], cwd=work).stdout
        broker.terminate()
    assert broker.returncode == 0
    run([python, "-m", "pip", "install", "--quiet", "pytest"])
    (work / "test_orders.py").write_text(TEST)
    run([python, "-m", "pytest", "-q", "test_orders.py"], cwd=work)
    tell("serve, health, produce, records, and a test with the fixture `kafka`")


def demo(python: Path, work: Path) -> None:
    """`make demo` from the wheel, with two stock clients."""
    run([python, "-m", "pip", "install", "--quiet", "confluent-kafka", "kafka-python>=3.0"])
    said = run([python, "-m", "odradek.compat.demo"], cwd=work).stdout
    tell(f"the demo from the wheel: {said.strip().splitlines()[-1]}")


def extras(python: Path, wheel: Path) -> None:
    """Whether pip finds a set of packages for each extra."""
    for extra in _extras():
        command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", os.devnull]
        run([*command, f"{wheel}[{extra}]"])
        tell(f"odradek[{extra}] can be installed")


def first_examples(work: Path, wheel: Path) -> None:
    """Each page's, pasted into an empty directory."""
    for needs, found in pages.by_needs().items():
        place = work / str(len(list(work.glob("*"))))
        words = [pages.requirement(each, wheel) for each in sorted(needs)]
        python = environment(place / "venv", [wheel, *words])
        for example in found:
            pages.paste(example, place / example.page)
            run([python, *example.command], cwd=place / example.page, env=pages.outside())
            tell(f"the first example of {example.page}")


def _extras() -> Iterator[str]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    yield from table["project"]["optional-dependencies"]


BEGIN = monotonic()
if __name__ == "__main__":
    main()
