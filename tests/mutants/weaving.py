"""All mutants in one copy of the sources, each asleep until it is switched on by its number."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

from .choosing import PACKAGES, Mutant, same_places

_HEAD = "from mutant_switch import is_on as _mutant"


def _span(node: ast.AST) -> tuple[int, int, int, int]:
    """Its first and last line, from 0, and columns in bytes."""
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno - 1, node.col_offset, node.end_lineno - 1, node.end_col_offset


def _choice(node: ast.AST, mutant: Mutant) -> str:
    if isinstance(node, ast.stmt):
        indent = " " * node.col_offset
        then = f"if _mutant({mutant.number}): {mutant.after}"
        return f"{then}\n{indent}else: {mutant.before}"
    return f"(({mutant.after}) if _mutant({mutant.number}) else ({mutant.before}))"


def _entries(tree: ast.Module, mutants: list[Mutant]) -> dict[tuple[int, int, int, int], str]:
    """A mutant outside functions has its effect at import: reached is what reaches any function of
    its file."""
    asked = "; ".join(f"_mutant({each.number})" for each in mutants if each.at_import)
    found = {}
    for node in ast.walk(tree) if asked else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0]
            line, column = first.lineno - 1, first.col_offset
            if first.lineno > node.lineno and not hasattr(first, "decorator_list"):
                found[line, column, line, column] = f"{asked}\n{' ' * column}"
    return found


def _start(tree: ast.Module) -> int:
    """The line before which an import may stand, from 0."""
    for node in tree.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            return node.lineno - 1 - len(getattr(node, "decorator_list", ()))
    return len(tree.body)


def woven(source: str, mutants: list[Mutant]) -> tuple[str, list[Mutant]]:
    """The source with these mutants, and those whose place is not there."""
    tree = ast.parse(source)
    changes = _entries(tree, mutants)
    gone = []
    for mutant in mutants:
        found = same_places(tree, mutant.function, mutant.before)
        if mutant.nth < len(found):
            place = found[mutant.nth][0]
            changes[_span(place)] = _choice(place, mutant)
        else:
            gone.append(mutant)
    start = _start(tree)
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    # From the end; an empty span before what begins there.
    for first, left, last, right in sorted(changes, reverse=True):
        text = changes[first, left, last, right].encode()
        lines[first : last + 1] = [lines[first][:left] + text + lines[last][right:]]
    lines.insert(start, _HEAD.encode() + b"\n")
    return b"".join(lines).decode(), gone


def weave(root: Path, into: Path, mutants: list[Mutant]) -> list[Mutant]:
    """A copy of the checkout in `into/tree`, and in `into/path` what has to stand in PYTHONPATH.
    Returns the mutants whose place is not there."""
    shutil.rmtree(into, ignore_errors=True)
    tree, path = into / "tree", into / "path"
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=root, text=True).split("\0")
    built = (str(each.relative_to(root)) for each in root.glob("wire/*.so"))
    for name in {*filter(None, listed), *built}:
        if (root / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, tree / name)
    (path / "odradek").mkdir(parents=True)
    for package in PACKAGES:
        (path / "odradek" / package).symlink_to(f"../../tree/{package}")
    for file in (tree / "fixtures/root").glob("*.py"):
        (path / "odradek" / file.name).symlink_to(f"../../tree/fixtures/root/{file.name}")
    for name in ("switch", "plugin"):
        shutil.copy2(Path(__file__).parent / f"{name}.py", path / f"mutant_{name}.py")
    by_file = defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    gone = []
    for name, its in by_file.items():
        file = tree / name
        if not file.exists():
            gone += its
            continue
        text, missing = woven(file.read_text(), its)
        file.write_text(text)
        gone += missing
    return gone
