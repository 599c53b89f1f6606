"""`python -m tests.tasks`: see the package."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from tests.tasks.doing import Done, do, programs, scripts
from tests.tasks.tasks import KCAT, SCRIPTS, TASKS, TOOLS

PAGE = Path(__file__).parents[2] / "docs/tasks.md"
BEGIN, END = "<!-- made by `python -m tests.tasks --write` -->\n", "<!-- end of the table -->\n"


def main() -> None:
    """Do all tasks with all tools, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tasks", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write it into {PAGE.name}")
    asked = parser.parse_args()
    tools = [tool for tool in TOOLS if tool != KCAT or shutil.which("kcat")]
    results = {}
    for tool in tools:
        with tempfile.TemporaryDirectory(prefix="odradek-tasks-") as name:
            programs(Path(name))
            if tool == SCRIPTS:
                scripts(Path(name))
            results[tool] = list(do(tool, TASKS, Path(name)))
    lines = table(results)
    print(lines, end="")
    if asked.write:
        text = PAGE.read_text()
        before, after = text[: text.index(BEGIN)], text[text.index(END) :]
        PAGE.write_text(f"{before}{BEGIN}{lines}{after}")


def table(results: dict[str, list[Done | None]]) -> str:
    """Markdown: a row for each task, commands and seconds of each tool."""
    lines = [
        "| task |" + "".join(f" {tool} |" for tool in results),
        "|---|" + "---|" * len(results),
    ]
    for number, task in enumerate(TASKS):
        cells = [_cell(of_tool[number]) for of_tool in results.values()]
        note = f" ({task.but})" if task.but else ""
        lines.append(f"| {number + 1}. {task.name}{note} | {' | '.join(cells)} |")
    sums = []
    for of_tool in results.values():
        done = [each for each in of_tool if each is not None]
        commands, seconds = sum(each.commands for each in done), sum(each.seconds for each in done)
        sums.append(f"{len(done)} tasks, {commands} commands, {seconds:.0f} s")
    lines.append(f"| in all | {' | '.join(sums)} |")
    return "\n".join(lines) + "\n"


def _cell(done: Done | None) -> str:
    if done is None:
        return "-"
    return f"{done.commands}, {done.seconds:.1f} s"


if __name__ == "__main__":
    main()
