"""Another checkout of this repository, to be measured in turn with this one."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGES = ("wire", "storage", "emulator", "fixtures", "compat")


def environment(checkout: Path, links: Path) -> dict[str, str]:
    """The environment in which this interpreter imports the packages of a checkout. They are
    mapped under one name: a tree of links is made for them in the directory `links`."""
    tree = links / checkout.name
    (tree / "odradek").mkdir(parents=True, exist_ok=True)
    root = checkout / "fixtures/root/__init__.py"
    linked = [checkout / package for package in PACKAGES] + [root] * root.exists()
    for path in linked:
        link = tree / "odradek" / path.name
        if not link.is_symlink():
            link.symlink_to(path)
    return {**os.environ, "PYTHONPATH": str(tree)}
