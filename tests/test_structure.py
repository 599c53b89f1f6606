"""The source, read: imports point one way, files and functions stay small, no file is dead."""

from __future__ import annotations

import ast
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from odradek.emulator.handlers.registry import SERVED
from odradek.wire import Request
from odradek.wire.api import API_MODULES

from tests.support.rooms import NO_FILE, ROOMS
from tests.support.versions import first_and_last

ROOT = Path(__file__).parent.parent
# Each package, and those it may import from.
MAY_IMPORT = {
    "wire": set(),
    "storage": {"wire"},
    "emulator": {"wire", "storage"},
    "compat": {"wire", "storage", "emulator"},
    "fixtures": {"wire", "storage", "emulator", "compat"},
}
# What holds a folder's rooms together, and the rooms to the left of it that may name its type.
ONLY_AS_A_TYPE = {
    ("emulator", "cluster", "Cluster"): (*("handlers", "control", "guards", "readiness", "net"),),
    ("fixtures", "kafka", "emulator", "Emulator"): None,  # any room
}
LONGEST_FILE = 600
LONGEST_FUNCTION = 50
LONGEST_CHAIN = 2
# Where the chains of wire's messages end: these are tables of fields, and inherit how one is read.
ROOT_OF_MESSAGES = "Struct"
# Named by packaging or by a command line, or there for those who use the library.
ENTRY_POINTS = {
    "compat/commands.py": "the `odradek` command",
    "compat/cli/completion.py": "odradek completion",
    "compat/cli/journal.py": "odradek journal",
    "compat/cli/proxy.py": "odradek proxy",
    "compat/cli/repair.py": "odradek repair",
    "compat/cli/versions.py": "odradek versions",
    "compat/cli/serving/check.py": "odradek check",
    "compat/cli/inert_configs.py": "python -m odradek.compat.cli.inert_configs",
    "fixtures/control/server.py": "odradek serve --control, kafka.control_url",
    "fixtures/schemas/served.py": "kafka.schema_registry_url, kafka.schemas",
    "fixtures/hypothesis.py": "strategies and a state machine for Hypothesis",
    "fixtures/plugin.py": "the pytest plugin",
    "fixtures/testcontainers.py": "a drop-in for testcontainers",
    "fixtures/unittest.py": "test cases of unittest",
    "compat/applications/suites.py": "make suites",
    "compat/demo.py": "make demo",
    "compat/schema_registry/command.py": "odradek registry",
    "compat/schema_registry/console.py": "odradek schemas",
    "fixtures/control/command.py": "odradek console",
    "compat/http_server.py": "what serves a page or a registry, when one is asked for",
    "compat/real_kafka/dump_tool.py": "Kafka's dump tool over a data directory, for tests",
    "compat/spark/pipeline/export.py": "odradek export",
    "compat/table.py": "make table",
    "wire/legacy/kafka_0_7.py": "the format of Kafka 0.7, for readers of its files",
}


# Its folders are programs of their own, which nothing here imports.
APPLICATIONS = ROOT / "compat/applications"


def sources() -> list[Path]:
    found = (path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in found if APPLICATIONS not in path.parent.parents)


def differential() -> list[Path]:
    """The differential engine: part of the tests, and held to the same as the packages."""
    files = (ROOT / "tests/differential").rglob("*.py")
    return sorted(path for path in files if not path.stem.startswith("test_"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@pytest.fixture(scope="module", autouse=True)
def _forget_the_trees() -> Iterator[None]:
    """They are hundreds of megabytes, and other modules are run by this process."""
    yield
    tree_of.cache_clear()


@cache
def imports(path: Path) -> list[tuple[tuple[str, ...], bool]]:
    """Each name that a file imports from this project, as its path from the root, and whether it
    is imported as a type only."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[tuple[str, ...], bool]]:
    tree = tree_of(path)
    typing = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    folder = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            if node.level:
                parts = [*folder[: len(folder) - node.level + 1], *parts]
            elif parts[0] == "odradek":
                parts = parts[1:]
            else:
                continue
            for alias in node.names:
                yield (*parts, alias.name), node in typing
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("odradek."):
                    yield tuple(alias.name.split("."))[1:], node in typing


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """The modules that a file imports from this project, as paths from the root."""
    for name, _ in imports(path):
        yield name[:-1]
        yield name


def test_imports_point_one_way() -> None:
    for path in sources():
        package = path.relative_to(ROOT).parts[0]
        others = {module[0] for module in imported_modules(path) if module} - {package}
        assert others <= MAY_IMPORT[package], name_of(path)


def rooms(folder: str) -> dict[str, int]:
    """Files and folders in a folder, to the number of their room; a line is indented further
    where it goes on with the room before."""
    lines = ROOMS[folder].strip("\n").splitlines()
    found, number = {}, 0
    for line in lines:
        number += not line.startswith(" " * 12)
        found.update(dict.fromkeys(line.split(), number))
    return found


def wrong_ways(path: Path, folder: str) -> Iterator[str]:
    """What a file imports from rooms of this folder below its own."""
    inside = path.relative_to(ROOT / folder).with_suffix("").parts
    if inside == ("__init__",):
        return
    order, above = rooms(folder), tuple(folder.split("/"))
    for name, is_type in imports(path):
        inner = name[len(above) :]
        if name[: len(above)] != above or len(inner) < 2:
            continue
        may_name = ONLY_AS_A_TYPE.get(name, ())
        if is_type and (may_name is None or inside[0] in may_name):
            continue
        if order[inner[0]] > order[inside[0]]:
            yield ".".join(name)


def test_rooms_import_one_way() -> None:
    for path in sources():
        for folder in ROOMS:
            if path.is_relative_to(ROOT / folder):
                assert list(wrong_ways(path, folder)) == [], name_of(path)


@pytest.mark.parametrize("folder", ROOMS)
def test_the_rooms_are_those_of_the_files(folder: str) -> None:
    inside_it = [path for path in sources() if path.is_relative_to(ROOT / folder)]
    here = {path.relative_to(ROOT / folder).parts[0] for path in inside_it}
    inside = {Path(each).stem for each in here} - {"__init__"}
    assert inside == set(rooms(folder)) - NO_FILE


Name = tuple[str, ...]


def is_interface(node: ast.ClassDef) -> bool:
    """Whether a class has no behaviour: a Protocol, or an ABC with abstract methods alone."""
    bases = {ast.unparse(base).split("[")[0] for base in node.bases}
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    is_abstract = all("abstractmethod" in map(ast.unparse, m.decorator_list) for m in methods)
    return "Protocol" in bases or ("ABC" in bases and is_abstract)


def chains(trees: dict[Name, ast.Module]) -> dict[str, list[str]]:
    """Each class of these modules, and the classes of these modules that it inherits from, one
    after the other. Interfaces do not count."""
    bases: dict[Name, list[str]] = {}
    interfaces: set[Name] = set()
    origins: dict[Name, Name] = {}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                heads = [ast.unparse(base).split("[")[0] for base in node.bases]
                bases[(*module, node.name)] = [head.split(".")[-1] for head in heads]
                if is_interface(node):
                    interfaces.add((*module, node.name))
            elif isinstance(node, ast.ImportFrom):
                above = module[: len(module) - node.level] if node.level else ()
                inside = node.module.split(".") if node.module else []
                for alias in node.names:
                    known_as = (*module, alias.asname or alias.name)
                    origins[known_as] = (*above, *inside, alias.name)

    def chain(name: Name) -> list[str]:
        name = origins.get(name, name)
        if name not in bases or name in interfaces:
            return []
        inherited = (chain((*name[:-1], base)) for base in bases[name])
        return [name[-1], *max(inherited, key=len, default=[])]

    return {".".join(name): chain(name) for name in bases}


def test_classes_are_composed_rather_than_inherited() -> None:
    trees = {path.relative_to(ROOT).with_suffix("").parts: tree_of(path) for path in sources()}
    found = chains(trees)
    assert found["storage.disk.memory.MemoryFile"] == ["MemoryFile", "File"]
    implementations = (chain for chain in found.values() if chain[-1:] != [ROOT_OF_MESSAGES])
    assert [chain for chain in implementations if len(chain) > LONGEST_CHAIN] == []


def test_a_chain_of_classes_is_followed_from_file_to_file() -> None:
    trees = {
        ("p", "a"): ast.parse("class A(Protocol[T]): ...\nclass B(A, ABC):\n def f(self): ..."),
        ("p", "b"): ast.parse("from .a import B as Base\nclass C(list[int], Base): ..."),
        ("p", "q", "c"): ast.parse("from ..b import C\nclass D(Generic[T], C): ..."),
    }
    assert chains(trees)["p.q.c.D"] == ["D", "C", "B"]


def test_a_file_holds_one_idea() -> None:
    for path in sources() + differential():
        count = len(path.read_text().splitlines())
        assert count <= LONGEST_FILE, f"{name_of(path)} has {count} lines"
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                length = node.end_lineno - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{name_of(path)}: {node.name}: {length} lines"


def test_time_is_taken_from_what_no_test_can_freeze() -> None:
    """`time.monotonic` and its like are replaced by freezegun; those of real_time are not."""
    times = re.compile(r"\btime\.(time|monotonic|perf_counter)(_ns)?\(|^from time import", re.M)
    where = [*ROOT.glob("emulator/**/*.py"), *ROOT.glob("fixtures/**/*.py")]
    files = [path for path in where if not path.is_relative_to(ROOT / "compat/cli")]
    found = {name_of(path) for path in files if times.search(path.read_text())}
    assert found == {"emulator/base/real_time.py"}  # which says whose wall clock it reads


def test_a_file_says_at_its_head_what_it_is() -> None:
    paths = sources() + differential()
    assert [name_of(each) for each in paths if not ast.get_docstring(tree_of(each))] == []


def named_files(path: Path) -> set[str]:
    """The modules that a file's comments and docstrings name."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    texts = [each.string for each in tokens if each.type in (tokenize.COMMENT, tokenize.STRING)]
    return set(re.findall(r"(?<![\w./*<-])[a-z_0-9/]+\.py\b", " ".join(texts)))


def test_a_module_that_a_text_names_exists() -> None:
    modules = [*sources(), *(ROOT / "tests").rglob("*.py")]
    ends = [f"/{name_of(path)}" for path in modules]
    missing = [
        f"{name_of(path)}: {name}"
        for path in sources()
        for name in sorted(named_files(path))
        if not any(end.endswith(f"/{name}") for end in ends)
    ]
    assert missing == []


@pytest.mark.parametrize("files", [sources(), differential()], ids=["packages", "differential"])
def test_no_file_is_dead(files: list[Path]) -> None:
    used = {module for path in files for module in imported_modules(path)}
    # Loaded by name: handlers, APIs, views, scenarios. Tables of stored records are for readers.
    loaded_by_name = {
        ("compat", "scenarios"),
        ("emulator", "handlers"),
        ("compat", "cli", "console"),
        ("wire", "api"),
        ("wire", "stored"),
    }
    dead = [
        name_of(path)
        for path in files
        if path.stem not in ("__init__", "__main__")
        and path.relative_to(ROOT).with_suffix("").parts not in used
        and path.relative_to(ROOT).parent.parts not in loaded_by_name
        and name_of(path) not in ENTRY_POINTS
    ]
    assert dead == []


def test_every_package_is_installed() -> None:
    """setup.py finds packages by their `__init__`: a folder without one would be left out."""
    folders = {path.parent for path in sources()}
    assert [name_of(each) for each in folders if not (each / "__init__.py").is_file()] == []


def test_every_test_is_run() -> None:
    paths = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    tests = ROOT / "tests"
    named = {path for path in tests.rglob("test_*.py") if "bench" not in path.parts}
    listed = [ROOT / path for path in paths["testpaths"]]
    assert named == {path for path in named if any(path.is_relative_to(each) for each in listed)}


def test_no_test_module_imports_another() -> None:
    """What several of them need stands in tests/requests, tests/support, or a `support` nearby."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.level or "tests" in f"{node.module}"):
                names = [*f"{node.module}".split("."), *(alias.name for alias in node.names)]
                borrowed = [each for each in names if each.startswith(("test_", "conftest"))]
                assert not borrowed, f"{name_of(path)}:{node.lineno} imports {borrowed}"


def test_every_handler_is_found() -> None:
    """By the name of its API's module in wire."""
    modules = (ROOT / "emulator/handlers").glob("*.py")
    registering = {path.stem for path in modules if "\n@handler(" in path.read_text()}
    assert registering == set(API_MODULES.values())
    for key, served in SERVED.items():
        assert served.handler.__module__ == f"odradek.emulator.handlers.{API_MODULES[key]}"


def served() -> dict[str, type[Request]]:
    """The module of each handler, to its request."""
    return {each.handler.__module__.rpartition(".")[2]: each.request for each in SERVED.values()}


def test_every_handler_has_its_tests() -> None:
    """One test module for each API, named after its handler; what helps handlers has none."""
    tests = (ROOT / "tests/emulator/handlers").glob("test_*.py")
    assert {path.stem.removeprefix("test_") for path in tests} == set(served())


def test_every_handler_is_tried_in_its_first_and_last_version() -> None:
    for module, request in served().items():
        text = (ROOT / f"tests/emulator/handlers/test_{module}.py").read_text()
        asks = f"first_and_last({request.__name__}"
        assert asks in text or len(first_and_last(request)) == 1, module


def test_no_error_is_swallowed() -> None:
    for path in sources() + differential():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None, f"{name_of(path)}:{node.lineno} catches everything"
                swallowed = [type(statement) for statement in node.body] == [ast.Pass]
                assert not swallowed, f"{name_of(path)}:{node.lineno} swallows an error"
