"""Odradek as pip installs it, of a commit or of the working tree: what is measured in turn.

Each is built from its own sources, its C extension too, into a directory of build/weigh that is
named after them, and kept there. Its bytecode is compiled, whatever the environment says. What it
depends on is the same for all: the packages of this interpreter.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent.parent.parent
KEPT = ROOT / "build/weigh"
# Of a tree only these go into the package.
SOURCES = ("wire", "storage", "emulator", "fixtures", "compat", "pyproject.toml", "README.md")
WORKING_TREE = "the working tree"


class Site:
    """One installation, and the sources that it was made of, tests included."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.sources = directory / "sources"
        self.packages = directory / "packages"

    @property
    def environment(self) -> Mapping[str, str]:
        """In which this interpreter imports it, and writes and looks for bytecode beside it."""
        left_out = ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        return {
            **kept,
            "PYTHONPATH": str(self.packages),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # of all that is installed here
        }


def site_of(commit: str) -> Site:
    """The installation of a commit. Raises ValueError if there is none of that name."""
    done = _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", check=False)
    if done.returncode:
        raise ValueError(f"no commit {commit!r} in this repository")
    name = done.stdout.decode().strip()[:12]
    listed = _git("ls-tree", "-r", "-z", "--name-only", name).stdout.decode()
    site = Site(commit, KEPT / name)
    if not site.packages.exists():
        with tempfile.TemporaryFile() as archive:
            _git("archive", name, *_wanted(listed), stdout=archive)
            archive.seek(0)
            site.sources.mkdir(parents=True, exist_ok=True)
            subprocess.run(["tar", "x", "-C", site.sources], stdin=archive, check=True)
        _install(site)
    return site


def site_here() -> Site:
    """The installation of the working tree, as it is now."""
    listed = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout.decode()
    names = [name for name in _wanted(listed) if (ROOT / name).exists()]
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    site = Site(WORKING_TREE, KEPT / f"here-{digest.hexdigest()[:12]}")
    if not site.packages.exists():
        for old in KEPT.glob("here-*"):
            shutil.rmtree(old)
        for name in names:
            (site.sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, site.sources / name)
        _install(site)
    return site


def _wanted(listed: str) -> list[str]:
    """Of a list of paths, sorted: those of the package and of the tests."""
    tops = {*SOURCES, "LICENSE", "MANIFEST.in", "docs", "setup.py", "tests"}
    return sorted(name for name in listed.split("\0") if name.partition("/")[0] in tops)


def _install(site: Site) -> None:
    print(f"building {site.name} ...", file=sys.stderr, flush=True)
    made = site.packages.with_name("unfinished")
    shutil.rmtree(made, ignore_errors=True)
    options = ("--no-deps", "--no-build-isolation", "--no-compile", "--quiet")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options]
    done = subprocess.run(
        [*command, "--target", str(made), "."], cwd=site.sources, capture_output=True, text=True
    )
    if done.returncode or not list(made.glob("odradek/wire/_scan*")):
        raise RuntimeError(f"{site.name} could not be built:\n{done.stderr}")
    _compile(made, site.packages)


def _compile(made: Path, place: Path) -> None:
    """Compile what was installed, at the place where it is from now on."""
    made.rename(place)
    prefix, sys.pycache_prefix = sys.pycache_prefix, None
    try:
        compileall.compile_dir(place, quiet=1)
    finally:
        sys.pycache_prefix = prefix


def _git(
    *arguments: str, check: bool = True, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=check, stdout=stdout)


def python(site: Site, arguments: Iterable[str], place: Path) -> subprocess.Popen[bytes]:
    """This interpreter with the packages of a site, in a directory where there is nothing else."""
    return subprocess.Popen(
        [sys.executable, "-P", *arguments],
        cwd=place,
        env={**site.environment, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
