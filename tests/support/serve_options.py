"""The options of `odradek serve` as its file and environment make them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import pytest
from odradek.compat.cli.serve import add_serve
from odradek.compat.cli.serving.configure import configure


def serve_options(
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    *given: str,
    environment: Mapping[str, str] = {},
) -> argparse.Namespace:
    monkeypatch.chdir(directory)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    commands = argparse.ArgumentParser().add_subparsers(dest="command")
    add_serve(commands)
    serve: argparse.ArgumentParser = commands.choices["serve"]
    configure(serve, serve.parse_args(given))
    return serve.parse_args(given)
