"""Small Go programs: built once into the cache directory, never into the repository.

A program is known by a digest of its sources and of the Go release, so a change builds another one.
Left out: cleaning the cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from odradek.compat import Unavailable
from odradek.compat.java.jars import cache_dir

BUILD_TIMEOUT_S = 900.0  # the first time, kfake's modules are fetched and compiled
HERE = Path(__file__).parent


def go_version() -> str:
    """Return what `go version` says of itself, such as "go1.26.1". Raises Unavailable."""
    done = subprocess.run(
        [_go(), "env", "GOVERSION"], cwd=HERE / "kfake", capture_output=True, text=True
    )
    if done.returncode != 0:
        raise Unavailable(f"Go does not work: {_last_line(done.stderr)}")
    return done.stdout.strip()


def required_version(name: str, module: str) -> str:
    """Return the version of a module that the program's go.mod asks for."""
    for line in (HERE / name / "go.mod").read_text().splitlines():
        words = line.removeprefix("require").split()
        if words[:1] == [module]:
            return words[1]
    raise LookupError(f"{name}/go.mod does not require {module}")


def built(name: str, above: Path = HERE) -> Path:
    """Return the executable of that program, whose sources are in a folder of that name, built now
    if need be. Raises Unavailable."""
    source = above / name
    digest = hashlib.sha256(go_version().encode())
    for path in sorted(source.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    target = cache_dir() / f"bench-{name}-{digest.hexdigest()[:8]}{'.exe' * (os.name == 'nt')}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as work:
            _build(source, Path(work, "program"))
            Path(work, "program").replace(target)
    return target


def _build(source: Path, output: Path) -> None:
    command = [_go(), "build", "-trimpath", "-ldflags=-s -w", "-o", str(output), "."]
    try:
        done = subprocess.run(
            command, cwd=source, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"Go did not build {source.name} within {BUILD_TIMEOUT_S:.0f} s"
        ) from None
    if done.returncode != 0:
        raise Unavailable(f"Go could not build {source.name}: {_last_line(done.stderr)}")


def _go() -> str:
    path = shutil.which("go")
    if path is None:
        raise Unavailable("no Go: there is no `go` command in PATH")
    return path


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason given"
