"""Which changes of the source are possible, and a few hundred of them, drawn from a seed.

A change is one of a statement, or of the longest expression around it that is short enough to read.
Left alone are annotations, decorators, defaults, texts, asserts, and what writes to the log.
"""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

PACKAGES = ("wire", "storage", "emulator", "fixtures", "compat")
LONGEST = 100  # characters of a change's place
_NO_PLACE = (ast.Starred, ast.Slice, ast.FormattedValue)
_LEFT_ALONE = ("log.", "logger.", "logging.", "warnings.", "cast(")
_NO_NAMES = ("__slots__", "__all__", "TYPE_CHECKING")
# An operator, and what it becomes.
_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_COMPOUND = {
    ast.If: "test",
    ast.While: "test",
    ast.For: "iter",
    ast.AsyncFor: "iter",
    ast.Match: "subject",
    ast.match_case: "guard",
}
_DELETED = (ast.AugAssign, ast.Raise, ast.Delete, ast.Continue, ast.Break)
_Spot = tuple[ast.AST, str, int | None]  # a child of this node, by field and index


@dataclass
class Mutant:
    """`before` becomes `after` in a function; it is the nth there that reads so, from 0."""

    number: int
    file: str
    function: str
    nth: int
    before: str
    after: str
    verdicts: dict[str, str] = field(default_factory=dict)

    @property
    def room(self) -> str:
        return room_of(self.file)

    @property
    def at_import(self) -> bool:
        """Whether it is not in a function, and takes effect when the module is loaded."""
        return not self.function.endswith(")")


def room_of(file: str) -> str:
    """wire/api, emulator/groups; `emulator` are the files at its top."""
    return "/".join(file.split("/")[:2] if file.count("/") > 1 else file.split("/")[:1])


def _inside(node: ast.AST) -> Iterator[_Spot]:
    for name, value in ast.iter_fields(node):
        if name in (
            "annotation",
            "returns",
            "decorator_list",
            "args" if _is_function(node) else "",
        ):
            continue
        if isinstance(value, ast.AST):
            yield node, name, None
        elif isinstance(value, list):
            yield from ((node, name, at) for at, each in enumerate(value) if _is_node(each))


def _is_node(value: object) -> bool:
    return isinstance(value, ast.AST)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def at(spot: _Spot) -> ast.AST:
    node, name, index = spot
    value = getattr(node, name)
    found = value if index is None else value[index]
    assert isinstance(found, ast.AST)
    return found


def _put(spot: _Spot, child: ast.AST) -> None:
    node, name, index = spot
    if index is None:
        setattr(node, name, child)
    else:
        getattr(node, name)[index] = child


def statements(tree: ast.Module) -> Iterator[tuple[str, _Spot]]:
    """Each simple statement, and what decides at the head of each compound one, with the name of
    its class or function: `Log.append()`, `Log`, or nothing at the module's level."""

    def walk(body: ast.AST, name: str) -> Iterator[tuple[str, _Spot]]:
        for spot in _inside(body):
            node = at(spot)
            if isinstance(node, ast.ClassDef):
                yield from walk(node, f"{name}.{node.name}".removeprefix("."))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(node, f"{name}.{node.name}()".removeprefix("."))
            elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                continue
            elif isinstance(node, ast.stmt) and not hasattr(node, "body") and not _is_match(node):
                if not _is_left_alone(node):
                    yield name, spot
            elif isinstance(node, ast.stmt | ast.match_case | ast.excepthandler | ast.withitem):
                head = _COMPOUND.get(type(node))
                if head is not None and getattr(node, head) is not None:
                    yield name, (node, head, None)
                yield from walk(node, name)

    yield from walk(tree, "")


def _is_match(node: ast.AST) -> bool:
    return isinstance(node, ast.Match)


def _is_left_alone(node: ast.stmt) -> bool:
    text = ast.unparse(node)
    imports = isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Global | ast.Nonlocal)
    logs = text.removeprefix("self.").lstrip("_").startswith(_LEFT_ALONE)
    return imports or logs or any(name in text for name in _NO_NAMES)


def places(spot: _Spot) -> Iterator[tuple[ast.AST, list[_Spot]]]:
    """Each node of a statement, and the way to it from there."""
    way = [spot]

    def walk(node: ast.AST) -> Iterator[tuple[ast.AST, list[_Spot]]]:
        yield node, way
        for each in _inside(node):
            way.append(each)
            yield from walk(at(each))
            way.pop()

    yield from walk(at(spot))


def _changes(node: ast.AST, way: list[_Spot]) -> Iterator[ast.AST]:
    """What a node may become."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        changed = _OPERATORS[type(node.ops[0])]()
        yield ast.Compare(node.left, [changed], node.comparators)  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(_OPERATORS[type(node.op)](), node.values)  # type: ignore[arg-type]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS:
        yield from _arithmetic(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Name) and node.id in _CALLED and _is_called(way):
        yield ast.Name(_CALLED[node.id])
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield ast.Return(ast.Constant(None))
    if _decides(way) and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), node)  # type: ignore[arg-type]
    if isinstance(node, _DELETED) or _is_effect(node):
        yield ast.Pass()  # the statement is left out


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    """Not of what is text, a list or bytes: these only add."""
    changed = _OPERATORS[type(node.op)]()
    if isinstance(node, ast.AugAssign):
        if not _is_no_number(node.value):
            yield ast.AugAssign(node.target, changed, node.value)  # type: ignore[arg-type]
    elif not any(_is_no_number(each) for each in (node.left, node.right)):
        yield ast.BinOp(node.left, changed, node.right)  # type: ignore[arg-type]


def _is_no_number(node: ast.AST) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return text or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp | ast.Dict)


def _is_called(way: list[_Spot]) -> bool:
    return isinstance(way[-1][0], ast.Call) and way[-1][1] == "func"


def _decides(way: list[_Spot]) -> bool:
    return isinstance(way[-1][0], ast.If | ast.While | ast.IfExp) and way[-1][1] == "test"


def _is_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    return isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)


def _is_place(node: ast.AST) -> bool:
    stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    expression = isinstance(node, ast.expr) and not isinstance(node, _NO_PLACE) and not stored
    return expression or isinstance(node, ast.stmt)


def _widest(way: list[_Spot]) -> int | None:
    """The place on this way that is shown: none within a formatted text, whose parts have no
    position of their own."""
    for index, spot in enumerate(way):
        if _is_place(at(spot)) and len(ast.unparse(at(spot))) <= LONGEST:
            return index
        if isinstance(at(spot), ast.JoinedStr):
            return None
    return None


def changes(spot: _Spot) -> list[tuple[list[_Spot], ast.AST]]:
    """The ways to change a statement: where in it, and what stands there then."""
    return [(list(way), changed) for node, way in places(spot) for changed in _changes(node, way)]


def _mutant(
    file: str, tree: ast.Module, function: str, way: list[_Spot], changed: ast.AST
) -> Mutant | None:
    widest = _widest(way)
    if widest is None:
        return None
    place, node = at(way[widest]), at(way[-1])
    before, after = ast.unparse(place), _changed(way, widest, node, changed)
    same = [each for each, _ in same_places(tree, function, before)]
    nth = next((n for n, each in enumerate(same) if each is place), None)
    return None if nth is None or before == after else Mutant(0, file, function, nth, before, after)


def _changed(way: list[_Spot], widest: int, node: ast.AST, changed: ast.AST) -> str:
    _put(way[-1], changed)
    try:
        return ast.unparse(ast.fix_missing_locations(at(way[widest])))
    finally:
        _put(way[-1], node)


def same_places(tree: ast.Module, function: str, text: str) -> list[tuple[ast.AST, _Spot]]:
    """The places of a function that read so, and the statement that each is in."""
    return [
        (node, spot)
        for name, spot in statements(tree)
        if name == function
        for node, way in places(spot)
        if _is_place(node) and not isinstance(way[-1][0], ast.Expr) and ast.unparse(node) == text
    ]


def shares(lines: dict[str, int], count: int, least: int) -> dict[str, int]:
    """How many of `count` each room has: some at least, and the rest by its lines."""
    given = {room: min(least, lines[room] // 10) for room in lines}
    rest, whole = count - sum(given.values()), sum(lines.values())
    exact = {room: rest * lines[room] / whole for room in lines}
    for room in lines:
        given[room] += int(exact[room])
    by_part = sorted(lines, key=lambda room: int(exact[room]) - exact[room])
    for room in by_part[: count - sum(given.values())]:
        given[room] += 1
    return given


def choose(root: Path, count: int, seed: int, least: int = 3) -> list[Mutant]:
    """One at most of each statement. Statements are drawn first, and then what happens to one, so
    that a table of numbers is no more likely to be hit than a line of code."""
    draw = random.Random(seed)
    files = sorted(path for each in PACKAGES for path in (root / each).rglob("*.py"))
    names = {path: str(path.relative_to(root)) for path in files}
    lines: dict[str, int] = defaultdict(int)
    found: dict[str, list[tuple[str, ast.Module, str, _Spot]]] = defaultdict(list)
    for path in files:
        name, tree = names[path], ast.parse(path.read_text())
        lines[room_of(name)] += len(path.read_text().splitlines())
        found[room_of(name)] += [(name, tree, *each) for each in statements(tree)]
    chosen: list[Mutant] = []
    ways: Iterator[Mutant] = iter(())
    for room, share in sorted(shares(lines, count, least).items()):
        draw.shuffle(found[room])
        ways = filter(None, (_drawn(draw, *each) for each in found[room]))
        chosen += islice(ways, share)
    chosen += islice(ways, count - len(chosen))  # in place of those that small rooms have not
    for number, mutant in enumerate(chosen, 1):
        mutant.number = number
    return chosen


def _drawn(
    draw: random.Random, file: str, tree: ast.Module, function: str, spot: _Spot
) -> Mutant | None:
    ways = changes(spot)
    return _mutant(file, tree, function, *draw.choice(ways)) if ways else None
