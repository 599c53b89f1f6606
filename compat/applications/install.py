"""Sets an application up from its registry: once, in the cache directory.

`install` returns where, and the words that stand in its commands. A directory is known by a digest
of the application's files, so a change sets it up anew; it is complete once it has a file `done`.

    go       {program}      built from go.mod and its sources
    node     {node}         with node_modules beside the sources, in {home}
    python   {python}       of a virtual environment with requirements.txt
    rust     {program}      built from Cargo.toml
    java     {java}, {classpath}  the archives, by Maven, and the classes of *.java
    debian   {bin}, {lib}   the folders of the packages' programs and libraries; nothing is
                            installed

Whatever is missing (a compiler, a registry, a package) is Unavailable. Left out: cleaning the
cache.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ..java.jars import cache_dir, classpath, java, locked, resolve
from ..java.process import compiled
from ..real_kafka import VERSION
from ..real_kafka.tools import JVM
from ..unavailable import Unavailable


class SetUp(Protocol):
    """What can be set up: an application, or the clients of a language."""

    @property
    def name(self) -> str:
        """Of its directory in the cache."""

    @property
    def folder(self) -> Path:
        """Where its sources are."""

    @property
    def language(self) -> str:
        """One of those above."""

    @property
    def archives(self) -> list[str]:
        """Of Java and Debian."""


INSTALL_S = 1200.0
_REASON_MAX = 300


def install(what: SetUp) -> Mapping[str, str]:
    """The words of its commands. Raises Unavailable."""
    home = cache_dir() / f"application-{what.name}-{_digest(what)}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with locked(home.with_name(home.name + ".lock")):
        if not (home / "done").exists():
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(what.folder, home)
            _SET_UP[what.language](what, home)
            (home / "done").touch()
    return {"home": str(home), **_WORDS[what.language](what, home)}


def command(name: str) -> str:
    """The path of a command. Raises Unavailable."""
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"there is no `{name}` command in PATH")
    return path


def _digest(what: SetUp) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(each for each in what.folder.rglob("*") if each.is_file()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]


def _run(home: Path, *words: str) -> None:
    """Run it there. Raises Unavailable with the last line of what it says."""
    try:
        done = subprocess.run(
            words, cwd=home, capture_output=True, text=True, timeout=INSTALL_S, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{shlex.join(words)} took longer than {INSTALL_S:.0f} s") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()
        text = f"{shlex.join(words)} ended with {done.returncode}: {said[-1].strip()}"
        raise Unavailable(text[:_REASON_MAX])


def _go(_: SetUp, home: Path) -> None:
    _run(home, command("go"), "build", "-trimpath", "-ldflags=-s -w", "-o", "program", _main(home))


def _main(home: Path) -> str:
    """What is built: the sources here, or the program of a module that go.mod names as a tool."""
    if any(home.glob("*.go")):
        return "."
    (tool,) = [each for each in (home / "go.mod").read_text().splitlines() if "tool " in each]
    return tool.split()[1]


def _node(_: SetUp, home: Path) -> None:
    _run(home, command("npm"), "install", "--no-audit", "--no-fund", "--loglevel=error")


def _python(_: SetUp, home: Path) -> None:
    venv.create(home / "venv", with_pip=True)
    pip = [str(home / "venv/bin/python"), "-m", "pip", "install", "--quiet"]
    _run(home, *pip, "--disable-pip-version-check", "-r", "requirements.txt")


def _rust(_: SetUp, home: Path) -> None:
    _run(home, command("cargo"), "build", "--quiet", "--release")


def _java(what: SetUp, home: Path) -> None:
    _java_words(what, home)


def _java_words(what: SetUp, home: Path) -> dict[str, str]:
    archives = resolve(f"application-{what.name}", what.archives)
    path = [classpath(archives)]
    if texts := {each.name: each.read_text("utf-8") for each in home.glob("*.java")}:
        path.insert(0, str(compiled(f"application-{what.name}", VERSION, texts, archives)))
    return {"java": java(), "classpath": os.pathsep.join(path), "archives": str(archives)}


def _debian(what: SetUp, home: Path) -> None:
    _run(home, command("apt-get"), "download", "--quiet", *what.archives)
    for package in home.glob("*.deb"):
        _run(home, command("dpkg-deb"), "--extract", str(package), str(home / "root"))


_SET_UP: dict[str, Callable[[SetUp, Path], None]] = {
    "go": _go,
    "node": _node,
    "python": _python,
    "rust": _rust,
    "java": _java,
    "debian": _debian,
}
_WORDS: dict[str, Callable[[SetUp, Path], dict[str, str]]] = {
    "go": lambda _, home: {"program": str(home / "program")},
    "node": lambda _, __: {"node": command("node")},
    "python": lambda _, home: {"python": str(home / "venv/bin/python")},
    "rust": lambda _, home: {"program": str(home / "target/release/application")},
    "java": _java_words,
    "debian": lambda _, home: {
        "bin": str(home / "root/usr/bin"),
        "lib": ":".join(map(str, home.glob("root/usr/lib/*-linux-*"))),
    },
}
JAVA_OPTIONS = JVM
"""Put after `{java}`, where it is the first word of a command."""
