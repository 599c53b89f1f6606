"""Small Java programs that use Kafka's classes: compiled once, controlled by lines of JSON.

The rules:

- The sources are compiled by `javac` against the archives of a Kafka version (jars.py); the classes
  are kept in the cache under a digest of their source.
- One process answers one line of JSON on standard output for each on standard input. It ends when
  its standard input does, so it never outlives this process; an answer that does not come in time
  ends it too.
- Bytes travel in base64, null as null.
- Whatever is missing (a JDK, Maven, a network) is `Unavailable`.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from ..unavailable import Unavailable
from .jars import cache_dir, classpath, jars, java

COMPILE_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 120.0
JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"


class JavaProcess:
    """A Java program that answers lines of JSON; a subclass names it and adds its commands."""

    def __init__(self, version: str, main: str, sources: Path) -> None:
        """`main`: its class; `sources`: the directory of its Java files."""
        self.version = version
        self._main = main
        self._sources = sources
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Compile what needs to be compiled, and start Java. Raises Unavailable."""
        classes = compiled(self._main.lower(), self.version, self.texts())
        path = os.pathsep.join([str(classes), classpath(jars(self.version))])
        self._process = subprocess.Popen(
            [java(), *JVM, QUIET, "-cp", path, self._main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def texts(self) -> dict[str, str]:
        """The sources, file name to text; a subclass may edit them to suit the version."""
        return {path.name: path.read_text("utf-8") for path in self._sources.glob("*.java")}

    def close(self) -> None:
        """Kill the process; it has nothing to save."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate(timeout=STOP_TIMEOUT_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, timeout: float = ANSWER_TIMEOUT_S, **command: Any) -> dict[str, Any]:
        """Send one command and return its answer.

        Raises EOFError if Java is gone, TimeoutError if it says nothing for `timeout` seconds.
        """
        process = self._process
        assert process is not None, "not started"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(command).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], timeout)[0]:
            self.close()
            raise TimeoutError(f"{self._main} has not answered {command} in {timeout} s")
        line = process.stdout.readline()
        if not line:
            raise EOFError(f"Java ended with status {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def to_base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def from_base64(text: str | None) -> bytes | None:
    """The bytes, or null, that `to_base64` was given."""
    return None if text is None else b64decode(text)


def javac() -> str:
    """Return the path of the `javac` command: JAVA_HOME's, or the one in PATH.

    Raises Unavailable if there is none.
    """
    home = os.environ.get("JAVA_HOME")
    path = shutil.which("javac", path=os.path.join(home, "bin")) if home else None
    path = path or shutil.which("javac")
    if path is None:
        raise Unavailable("there is no `javac` command (a JDK) in PATH or JAVA_HOME.")
    return path


def compiled(
    name: str, version: str, texts: Mapping[str, str], archives: Path | None = None
) -> Path:
    """Return the directory of the classes of these sources (file name to text), which use the
    archives of that directory, or those of the version of Kafka.

    Raises Unavailable.
    """
    archives = archives or jars(version)
    digest = hashlib.sha256(json.dumps([archives.name, dict(texts)]).encode()).hexdigest()[:8]
    target = cache_dir() / f"{name}-{version}-{digest}"
    if not target.is_dir():
        _compile(target, texts, classpath(archives))
    return target


def _compile(target: Path, texts: Mapping[str, str], path: str) -> None:
    """Compile into a directory beside `target`, then rename it there."""
    compiler = javac()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=target.name + ".") as work:
        for name, text in texts.items():
            Path(work, name).write_text(text, encoding="utf-8")
        out = Path(work, "out")
        command = [compiler, "-encoding", "UTF-8", "-cp", path, "-d", str(out), *texts]
        done = subprocess.run(
            command, cwd=work, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S
        )
        if done.returncode != 0:
            raise RuntimeError(f"{target.name} does not compile:\n{done.stderr}")
        try:
            out.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was first
                raise
