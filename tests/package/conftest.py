"""An sdist of this tree, and its wheel, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package.building import build_sdist, build_wheel


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("sdist")
    return build_sdist(work / "dist", work)


@pytest.fixture(scope="session")
def plain(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a machine without a compiler."""
    work = tmp_path_factory.mktemp("plain")
    return build_wheel(sdist, work / "dist", work, compiler=False)
