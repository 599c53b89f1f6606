"""`python -m tests.clients.spark.versions VERSION...`: what works with which pyspark.

Each version gets a virtual environment of its own (in --venvs), with the connector that Maven has
for it, and the tests of the connector and of the kit run there. A row of the table in docs/spark.md
is made of what passed; --docs writes the rows there, in the place of those of the same versions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/spark.md"
BEGIN, END = "<!-- versions: begin -->\n", "<!-- versions: end -->\n"
PACKAGES = ["hypothesis", "pytest", "confluent-kafka", "kafka-python", "pandas<3", "setuptools"]
# pyspark[connect] asks for numpy before 2 there, which later ones do not work with.
BEFORE_4 = "pyarrow<22"
HERE, KIT = "tests/clients/spark", "tests/fixtures/spark"
SOURCE = '`format("odradek")`'
GROUPS = {
    "batches": [f"{HERE}/test_batches.py"],
    "streams": [f"{HERE}/test_streams.py", f"{HERE}/test_topic_changes.py"],
    "the kit": [f"{KIT}/test_{each}.py" for each in ("stream", "comparing", "kafka_utils")],
    "Spark Connect": [f"{KIT}/test_connect.py"],
    SOURCE: ["tests/compat/spark/source"],
}
CONNECTOR = """
import json, platform, warnings
from odradek.compat import Unavailable
from odradek.compat.spark.connector import connector_jars, scala, pyspark_version

version = pyspark_version()
found = {"python": platform.python_version(), "scala": scala(version), "jars": [], "why": ""}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        found["jars"] = sorted(path.name for path in connector_jars().glob("*.jar"))
        found["why"] = " ".join(str(each.message) for each in caught)
    except Unavailable as error:
        found["why"] = str(error)
print(json.dumps(found))
"""
TIMEOUT_S = 7200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+")
    parser.add_argument("--venvs", type=Path, default=Path(tempfile.gettempdir(), "sparkversions"))
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--only", nargs="*", choices=GROUPS, help="of the groups of tests")
    chosen = parser.parse_args()
    rows = []
    for version in chosen.versions:
        path = chosen.venvs / f"{version}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(tried(version, chosen.venvs, chosen.only or list(GROUPS))))
        rows.append(json.loads(path.read_text()))
    text = table(rows)
    print(text)
    if chosen.docs:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        known, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{merged(known, text)}{END}{after}")
    return 0


def merged(known: str, new: str) -> str:
    """The rows of two tables by version; those of the second one count."""
    head, line, *rows = new.splitlines()
    by_version = {row.split()[1]: row for row in [*known.splitlines()[2:], *rows]}
    numbers = sorted(by_version, key=lambda version: [int(each) for each in version.split(".")])
    return "\n".join([head, line, *(by_version[each] for each in numbers), ""])


def tried(version: str, venvs: Path, groups: list[str]) -> dict[str, Any]:
    python = installed(version, venvs)
    if python is None:
        return {"version": version, "why": "PyPI's could not be installed", "jars": []}
    result = subprocess.run([python, "-c", CONNECTOR], capture_output=True, text=True, check=True)
    row = {"version": version, **json.loads(result.stdout.splitlines()[-1])}
    if row["jars"]:
        if version.startswith("3."):  # no Python data sources: nothing can be imported
            groups = [name for name in groups if name != SOURCE]
        row["groups"] = {name: counted(python, GROUPS[name]) for name in groups}
    return row


def installed(version: str, venvs: Path) -> str | None:
    """The Python of an environment with that pyspark; None if it cannot be had."""
    path = venvs / f"v{version}"
    python = str(path / "bin" / "python")
    if not path.exists():
        subprocess.run([sys.executable, "-m", "venv", path], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", f"pyspark[connect]=={version}"]
    if version.startswith("3."):
        pip.append(BEFORE_4)
    done = subprocess.run([*pip, *PACKAGES, "--editable", f"{ROOT}[pipeline]"])
    return python if done.returncode == 0 else None


def counted(python: str, tests: list[str]) -> dict[str, Any]:
    """How many tests passed, and which did not."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        command.append(f"--junitxml={report.name}")
        subprocess.run(command, cwd=ROOT, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
        cases = list(ET.parse(report.name).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None]
    failed += [case for case in cases if case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    names = sorted({f"{case.get('name')}" for case in failed})
    return {"of": len(cases) - len(skipped), "failed": names, "skipped": len(skipped)}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    names = list(GROUPS)
    lines = [f"| pyspark | Scala | kafka-clients | {' | '.join(names)} |"]
    lines.append("|" + " --- |" * (3 + len(names)))
    for row in rows:
        client = next((jar for jar in row["jars"] if jar.startswith("kafka-clients")), None)
        if client is None:
            cells = ["", "no connector", *len(names) * [""]]
        else:
            number = client.removeprefix("kafka-clients-").removesuffix(".jar")
            cells = [row["scala"], number, *(cell(row["groups"].get(name)) for name in names)]
        lines.append(f"| {row['version']} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def cell(group: dict[str, Any] | None) -> str:
    if group is None:
        return ""
    passed = group["of"] - len(group["failed"])
    if not group["of"]:
        return "no"
    return f"{passed}" if not group["failed"] else f"{passed} of {group['of']}"


if __name__ == "__main__":
    sys.exit(main())
