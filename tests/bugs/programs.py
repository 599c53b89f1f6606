"""Services in other languages, each a program that has several bugs: built once into the cache
directory from the files here and their registries.

    app BUG bug|right
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from odradek.compat import Unavailable
from odradek.compat.java.jars import cache_dir, classpath, java, resolve
from odradek.compat.java.process import JVM, QUIET, compiled
from odradek.compat.real_kafka import VERSION

from tests.bench.programs import built

HERE = Path(__file__).parent
_INSTALL_S = 300.0


@dataclass(frozen=True)
class Program:
    """A bug of one of them."""

    language: str
    """Of LANGUAGES."""
    bug: str
    what: str
    """What it does, in a sentence."""

    def command(self, right: bool) -> list[str]:
        """What is to be run, built now if need be. Raises Unavailable."""
        return [*LANGUAGES[self.language](), self.bug, "right" if right else "bug"]


def _go() -> list[str]:
    return [str(built("go", HERE))]


@cache
def _js() -> list[str]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Unavailable("no Node: there is no `node` or no `npm` command in PATH")
    sources = sorted((HERE / "js").iterdir())
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:8]
    target = cache_dir() / f"bugs-js-{digest}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as work:
            for each in sources:
                shutil.copy(each, work)
            command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"]
            done = subprocess.run(
                command, cwd=work, capture_output=True, text=True, timeout=_INSTALL_S
            )
            if done.returncode:
                raise Unavailable(f"npm could not install kafkajs: {done.stderr.strip()}")
            os.rename(shutil.copytree(work, f"{work}-done", symlinks=True), target)
    return [node, str(target / "app.js")]


@cache
def _java() -> list[str]:
    libraries = [
        f"org.apache.kafka:kafka-clients:{VERSION}",
        "com.fasterxml.jackson.core:jackson-databind:2.19.0",
        "org.slf4j:slf4j-simple:1.7.36",
    ]
    archives = resolve("bugs-java", libraries)
    texts = {each.name: each.read_text("utf-8") for each in (HERE / "java").iterdir()}
    classes = compiled("bugs", VERSION, texts, archives)
    path = os.pathsep.join([str(classes), classpath(archives)])
    return [java(), *JVM, QUIET, "-cp", path, "App"]


LANGUAGES: dict[str, Callable[[], list[str]]] = {"go": _go, "java": _java, "js": _js}
