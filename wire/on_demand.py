"""Names of a package that are imported when they are first asked for.

A type checker reads the imports in `if TYPE_CHECKING:`, and a process takes the modules it uses.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: dict[str, Any], modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package with these globals: of each module, which names it has."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def imported(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        found = package[name] = getattr(import_module(homes[name], package["__name__"]), name)
        return found

    return imported
