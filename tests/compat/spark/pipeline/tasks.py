"""Tasks for the engines: what a worker imports by name."""

from __future__ import annotations

import os
import signal
import time

from odradek.compat.spark.pipeline.errors import PipelineError


def doubled(number: int) -> int:
    return 2 * number


def pid(number: int) -> int:
    return os.getpid()


def printing(number: int) -> int:
    print("not a result")
    return number


def refused(number: int) -> int:
    if number == 1:
        raise PipelineError("the second piece is refused")
    return number


def missing(number: int) -> int:
    return len(open("/no/such/file").read())


def killed(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Needy(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


def awkward(number: int) -> int:
    raise Needy("cannot be", "pickled")


def slow(path: str) -> str:
    """Say who works, and work on."""
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
    return path
