"""Builds the sdist from a copy of the tree, and wheels from the sdist; says what is in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LEFT_OUT = (".git", ".venv", "build", "dist", "*.egg-info", "artifacts", "*.so")
_COMPILERS = ("cc", "gcc", "c++", "g++", "clang", "tcc")


def run(command: Sequence[object], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; raises AssertionError with what it said if it fails."""
    done = subprocess.run(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done


def build_sdist(into: Path, work: Path, *, isolated: bool = False) -> Path:
    """The sdist of a copy of this tree; caches are in the copy, as in a tree that is worked in."""
    copy = work / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
    _build("--sdist", copy, into, isolated, None)
    (found,) = into.glob("*.tar.gz")
    return found


def build_wheel(
    sdist: Path, into: Path, work: Path, *, isolated: bool = False, compiler: bool = True
) -> Path:
    """The wheel that pip makes of the sdist, on a machine with a compiler or without."""
    with tarfile.open(sdist) as archive:
        archive.extractall(work, filter="data")
    source = work / sdist.name.removesuffix(".tar.gz")
    environment = None if compiler else without_compiler(work / "bin")
    _build("--wheel", source, into, isolated, environment)
    (found,) = into.glob("*.whl")
    return found


def without_compiler(bin: Path) -> dict[str, str]:
    """An environment whose PATH has this Python, and no compiler."""
    bin.mkdir(parents=True)
    (bin / "python").symlink_to(sys.executable)
    environment = {name: text for name, text in os.environ.items() if name not in ("CC", "CXX")}
    environment["PATH"] = str(bin)
    assert all(shutil.which(each, path=environment["PATH"]) is None for each in _COMPILERS)
    return environment


def installed(wheel: Path, venv: Path) -> Path:
    """The Python of an environment with this wheel; what it depends on is borrowed from ours."""
    run([sys.executable, "-m", "venv", "--without-pip", venv])
    # pip's --prefix would take away what is installed here.
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install"]
    run([*pip, "--quiet", "--no-deps", "--no-index", wheel])
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("platlib"))
    return venv / "bin/python"


def names_of(archive: Path) -> list[str]:
    """The files in a wheel, or in an sdist (without its folder)."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [each for each in wheel.namelist() if not each.endswith("/")]
    with tarfile.open(archive) as sdist:
        files = [member.name for member in sdist.getmembers() if member.isfile()]
    return [each.partition("/")[2] for each in files]


def texts_of(archive: Path) -> dict[str, bytes]:
    """What is in the files."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {each: wheel.read(each) for each in wheel.namelist()}
    texts = {}
    with tarfile.open(archive) as sdist:
        for member in sdist.getmembers():
            if (file := sdist.extractfile(member)) is not None:
                texts[member.name] = file.read()
    return texts


def _build(
    what: str, source: Path, into: Path, isolated: bool, environment: Mapping[str, str] | None
) -> None:
    options = [] if isolated else ["--no-isolation", "--skip-dependency-check"]
    command = [sys.executable, "-m", "build", what, *options, "--outdir", into, source]
    run(command, env=environment, cwd=source)
