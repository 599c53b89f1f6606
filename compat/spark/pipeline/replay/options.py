"""The values of the options of `odradek replay`; each function is a `type=` of argparse."""

from __future__ import annotations

import argparse
import math
import os
import re
from pathlib import Path

from ..errors import PipelineError
from .masks import Path as JsonPath
from .masks import parse_path

SECRET = "ODRADEK_SECRET"
_FASTEST = "max"
NOW = "now"


def speed(text: str) -> float:
    """So many times as fast; infinite for `max`."""
    if text == _FASTEST:
        return math.inf
    value = _number(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"neither a number above 0 nor max: {text!r}")
    return value


def shift(text: str) -> float | str:
    """Seconds, or `now`."""
    if text == NOW:
        return text
    value = _number(text)
    if not -1e12 < value < 1e12:
        raise argparse.ArgumentTypeError(f"neither a number of seconds nor now: {text!r}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def partition(text: str) -> int:
    """A partition's number."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"no partition: {text!r}")
    return int(text)


def at_path(text: str) -> tuple[JsonPath, str]:
    """PATH=REGEX."""
    path, equals, regex = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"not of the form PATH=REGEX: {text!r}")
    return json_path(path), regex


def json_path(text: str) -> JsonPath:
    try:
        return parse_path(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def secret_of(file: str | None) -> bytes:
    """The secret in a file, without the end of its line; else that of the environment."""
    secret = os.environ.get(SECRET, "").encode() if file is None else Path(file).read_bytes()
    if not secret.strip():
        where = f"the environment has no {SECRET}" if file is None else f"{file} is empty"
        raise PipelineError(f"masks are made with a secret, and {where}: --secret FILE")
    return secret.strip(b"\r\n")
