"""Java archives, resolved by Maven into a cache, once.

The rules:

- `resolve` writes a pom that names the wanted artifacts and lets `mvn dependency:copy-dependencies`
  do the rest, so repositories, mirrors and proxies are those of the user's Maven.
- A directory in the cache is complete or absent: Maven fills a temporary directory beside it,
  which is renamed into place. Its name carries a digest of the pom, so another list of artifacts
  is another directory. A file lock lets parallel test runs resolve once, where the platform has
  one; elsewhere the last rename fails and is ignored.
- Whatever is missing (Java, Maven, a network) is one exception, `Unavailable`, with one sentence.

Left out: checksums and signatures (Maven's business), and cleaning the cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..unavailable import Unavailable

RESOLVE_TIMEOUT_S = 600.0
SCALA = "2.13"
_OTHER_LOGGERS = ["org.slf4j:slf4j-log4j12", "log4j:log4j"]
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_REASON_MAX = 300


def cache_dir() -> Path:
    """Where resolved archives are kept: ODRADEK_CACHE, or the platform's cache directory."""
    if chosen := os.environ.get("ODRADEK_CACHE"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "odradek"


def java() -> str:
    """Return the path of the `java` command: JAVA_HOME's, or the one in PATH.

    Raises Unavailable if there is none.
    """
    if home := os.environ.get("JAVA_HOME"):
        path = shutil.which("java", path=os.path.join(home, "bin"))
        if path:
            return path
    path = shutil.which("java")
    if path is None:
        raise Unavailable("there is no `java` command in PATH or JAVA_HOME.")
    return path


def jars(version: str) -> Path:
    """Return the directory with Apache Kafka's broker and tools of that version, e.g. "4.3.1".

    The broker logs through slf4j, for which Kafka's artifacts bring no backend (4.x) or one
    configured by file (3.x); slf4j-simple writes to standard error instead. Before 3.0 the broker
    needs the classes of log4j itself; before 2.0 Java 17 lacks some that it was built with, and
    the tools are in the broker's archive. The ZooKeeper of 2.0 to 2.3 resolves no address on Java
    17: that of 1.1 is in its place. 0.8.2 to 4.3 were tried.
    Raises Unavailable if Java or Maven is missing or the version cannot be resolved.
    """
    release = numbers(version)
    scala = SCALA if release >= (2, 4) else "2.12" if release >= (0, 10, 2) else "2.11"
    artifacts = [f"org.apache.kafka:kafka_{scala}:{version}"]
    artifacts += [f"org.apache.kafka:kafka-tools:{version}"] * (release >= (1, 0))
    if release >= (3, 0):
        artifacts.append("org.slf4j:slf4j-simple:1.7.36")
        return resolve(f"kafka-{version}", artifacts, exclude=["org.slf4j:slf4j-reload4j"])
    artifacts.append("org.slf4j:slf4j-reload4j:1.7.36")
    artifacts += ["javax.xml.bind:jaxb-api:2.3.1"] * (release < (2, 0))
    artifacts += ["org.apache.zookeeper:zookeeper:3.4.10"] * ((2, 0) <= release < (2, 4))
    return resolve(f"kafka-{version}", artifacts, exclude=_OTHER_LOGGERS)


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared: (3, 9, 2)."""
    return tuple(int(each) for each in version.split("."))


def resolve(name: str, artifacts: Sequence[str], *, exclude: Sequence[str] = ()) -> Path:
    """Return a directory that holds the artifacts' archives and their runtime dependencies.

    `artifacts` are "group:artifact:version"; `exclude` are "group:artifact" (either may be `*`),
    left out wherever they would be pulled in. Takes seconds the first time, nothing later.
    Raises Unavailable.
    """
    pom = _pom(artifacts, exclude)
    target = cache_dir() / f"{name}-{hashlib.sha256(pom.encode()).hexdigest()[:8]}"
    if target.is_dir():
        return target
    java()
    if (maven := shutil.which("mvn")) is None:
        raise Unavailable(
            "there is no `mvn` command (Maven), needed once to resolve the Java archives."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.with_name(target.name + ".lock")):
        if not target.is_dir():
            _fill(target, maven, pom, name)
    return target


def classpath(directory: Path) -> str:
    return str(directory / "*")


def _fill(target: Path, maven: str, pom: str, name: str) -> None:
    """Let Maven fill a directory beside `target`, then rename it there."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=target.name + ".") as work:
        pom_path, out = Path(work, "pom.xml"), Path(work, "out")
        pom_path.write_text(pom)
        command = [maven, "-B", "-q", "-f", str(pom_path), "dependency:copy-dependencies"]
        command += ["-Dstyle.color=never", "-DincludeScope=runtime", f"-DoutputDirectory={out}"]
        try:
            done = subprocess.run(
                command, cwd=work, capture_output=True, text=True, timeout=RESOLVE_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(
                f"Maven did not resolve {name} within {RESOLVE_TIMEOUT_S:.0f} s."
            ) from None
        if done.returncode != 0 or not out.is_dir():
            lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
            said = _COLOUR.sub("", lines[0]).strip() if lines else ""
            reason = said[:_REASON_MAX] or f"exit status {done.returncode}"
            raise Unavailable(f"Maven could not resolve {name}: {reason}")
        try:
            out.rename(target)
        except OSError:
            if not target.is_dir():  # else another process, without a lock, was first
                raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file while the block runs, where the platform has flock."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _pom(artifacts: Sequence[str], exclude: Sequence[str]) -> str:
    exclusions = "".join(
        "<exclusion><groupId>{}</groupId><artifactId>{}</artifactId></exclusion>".format(
            *item.split(":")
        )
        for item in exclude
    )
    dependencies = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
        "<exclusions>{}</exclusions></dependency>\n".format(*artifact.split(":"), exclusions)
        for artifact in artifacts
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>\n"
        "<groupId>odradek</groupId><artifactId>jars</artifactId><version>1</version>\n"
        f"<dependencies>\n{dependencies}</dependencies></project>\n"
    )
