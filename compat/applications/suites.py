"""Another project's own tests, aimed at a broker that is started for them.

    python -m odradek.compat.applications.suites franz-go CHECKOUT            on Odradek
    python -m odradek.compat.applications.suites franz-go CHECKOUT --real     on a real Apache Kafka
    python -m odradek.compat.applications.suites franz-go CHECKOUT -- -run TestTxn

What follows `--` is put at the end of the project's command. Nothing is fetched: whoever runs it
has the checkout. suites.toml says how each project's tests are run, and which of them fail on a
real Kafka too. Exit status 1: others have failed, or no test has run; 2: there is no such suite.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..unavailable import Unavailable
from .application import HERE
from .brokers import KAFKA, ODRADEK, broker, is_free
from .job import filled

_SHOWN = 60


@dataclass(frozen=True)
class Suite:
    at: str
    folder: str
    command: list[str]
    passed: str
    failed: str
    skipped: str
    port: int = 0
    timing: str = "instant"
    environment: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    real: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    passed: set[str]
    failed: set[str]
    skipped: set[str]

    def unexpected(self, suite: Suite) -> set[str]:
        """Those that failed and are not known to fail on a real Kafka."""
        return self.failed - set(suite.real)


def suites() -> dict[str, Suite]:
    listed = tomllib.loads((HERE / "suites.toml").read_text())
    return {name: Suite(**each) for name, each in listed.items()}


def outcome(suite: Suite, output: str) -> Outcome:
    """What a suite's output says. A test that has failed in one place has failed."""
    passed, failed, skipped = (
        set(re.findall(pattern, output, re.M))
        for pattern in (suite.passed, suite.failed, suite.skipped)
    )
    return Outcome(passed - failed, failed, skipped)


def run(suite: Suite, checkout: Path, kind: str, more: Sequence[str] = ()) -> tuple[Outcome, str]:
    """Run it; what has become of its tests, and its output. Raises Unavailable."""
    with tempfile.TemporaryDirectory(prefix="odradek-suite-") as work:
        if suite.port and not is_free(suite.port):
            raise Unavailable(f"its tests ask port {suite.port}, where something else listens")
        started = broker(kind, Path(work), suite.config, suite.port, suite.timing)
        try:
            started.start()
            words = {"bootstrap": started.bootstrap_servers}
            environment = {name: filled(each, words) for name, each in suite.environment.items()}
            done = subprocess.run(
                [*(filled(each, words) for each in suite.command), *more],
                cwd=checkout / suite.folder,
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except FileNotFoundError as error:
            raise Unavailable(f"{error.filename} is not there") from None
        finally:
            started.close()
    return outcome(suite, done.stdout), done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    place = given.index("--") if "--" in given else len(given)
    own, more = given[:place], given[place + 1 :]
    options = _parser().parse_args(own)
    known = suites()
    if options.suite not in known:
        print(f"no such suite: {options.suite}; there is {', '.join(known)}", file=sys.stderr)
        return 2
    suite = known[options.suite]
    try:
        found, output = run(suite, options.checkout, KAFKA if options.real else ODRADEK, more)
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 2
    if options.output:
        options.output.write_text(output)
    return _report(suite, found, output)


def _report(suite: Suite, found: Outcome, output: str) -> int:
    for name in sorted(found.failed & set(suite.real)):
        print(f"{name} fails on a real Kafka too: {suite.real[name]}")
    unexpected = found.unexpected(suite)
    for name in sorted(unexpected):
        print(f"{name} failed")
    counts = f"{len(found.passed)} passed, {len(found.failed)} failed"
    has_run = bool(found.passed or found.failed)
    if not has_run:
        print("\n".join(output.splitlines()[-_SHOWN:]))
    print(f"{counts}, {len(found.skipped)} skipped")
    return int(bool(unexpected) or not has_run)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m odradek.compat.applications.suites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", metavar="SUITE", help="which project's")
    parser.add_argument("checkout", metavar="CHECKOUT", type=Path, help="where its source is")
    parser.add_argument("--real", action="store_true", help="on a real Apache Kafka")
    parser.add_argument("--output", type=Path, metavar="FILE", help="keep what the tests write")
    return parser


if __name__ == "__main__":
    sys.exit(main())
