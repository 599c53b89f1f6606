"""The two engines: Arrow in a few processes of this machine, or the same tasks on Spark.

A task is a picklable function of one piece, and returns something small (counts, names of files):
rows go from where a task reads to where it writes, never through the driver. `run` gives each
piece's number with its result, as soon as it is there, in any order. Both engines run the same
function, so that they give the same result.

The engine is chosen by size: at most `--engine-limit` bytes are Arrow's, more are Spark's.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...unavailable import Unavailable
from .errors import PipelineError
from .workers import Workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P = TypeVar("P")
R = TypeVar("R")

LIMIT_BYTES = 10 << 30
"""The default limit of input for the Arrow engine of one machine."""
IN_PROCESS_BYTES = 16 << 20
"""Starting a process costs more than reading so little."""
_POLL_S = 0.1
_MASTER = re.compile(
    r"local(\[([0-9]+|\*)( *, *[0-9]+)?\])?|local-cluster\[.+\]|spark://.+|k8s://.+|yarn"
)
_PYTHON_ERROR = re.compile(r"[A-Za-z_]\w*(Error|Exception|Exit): ")


class Engine(Protocol):
    name: str

    def start(self) -> None:
        """Start what cannot be started, perhaps: before anything is written. Raises PipelineError,
        Unavailable."""

    def run(
        self, task: Callable[[P], R], pieces: Sequence[P], size: int | None = None
    ) -> Iterator[tuple[int, R]]:
        """Run the task on each piece; `size`: about how many bytes all of them have."""

    def close(self) -> None:
        """Stop what was started."""


class ArrowEngine:
    """Processes of this machine; small work is done in this one."""

    name = "arrow"

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes or os.cpu_count() or 1
        self._workers = Workers(self._processes)

    def start(self) -> None:
        """Processes start with the work for them."""

    def run(
        self, task: Callable[[P], R], pieces: Sequence[P], size: int | None = None
    ) -> Iterator[tuple[int, R]]:
        processes = min(self._processes, len(pieces))
        if processes <= 1 or (size is not None and size <= IN_PROCESS_BYTES):
            for number, piece in enumerate(pieces):
                yield number, task(piece)
        else:
            yield from self._workers.run(task, pieces)

    def close(self) -> None:
        self._workers.close()


class SparkEngine:
    """Spark's tasks, one a piece; the session starts with the first use."""

    name = "spark"

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._session: SparkSession | None = None
        self._is_mine = False

    @property
    def session(self) -> SparkSession:
        """The session, with the stock Kafka connector. Raises PipelineError, Unavailable."""
        if self._session is None:
            from ..session import is_running, spark_session

            self._is_mine = not is_running()
            try:
                self._session = spark_session("odradek", **self._settings)
            except Unavailable:
                raise
            except Exception as error:  # of pyspark, of py4j, or of Java
                raise PipelineError(f"Spark cannot be started: {_of_java(error)}") from error
        return self._session

    def start(self) -> None:
        assert self.session is not None

    def run(
        self, task: Callable[[P], R], pieces: Sequence[P], size: int | None = None
    ) -> Iterator[tuple[int, R]]:
        if not pieces:
            return
        context = self.session.sparkContext
        results = context.accumulator([], _Lists())
        numbered = context.parallelize(list(enumerate(pieces)), len(pieces))

        def work(these: Iterator[tuple[int, P]]) -> None:
            for number, piece in these:
                results.add([(number, task(piece))])

        taken = 0
        with _in_thread(lambda: numbered.foreachPartition(work)) as is_over:
            while True:
                over = is_over()  # asked first: what is there after that is all
                new = results.value[taken:]
                taken += len(new)
                yield from new
                if over:
                    break
                time.sleep(_POLL_S)

    def close(self) -> None:
        if self._session is not None and self._is_mine:
            self._session.stop()
        self._session = None


class _Lists:
    """Results as an accumulator of Spark: a task's are added once, when it has succeeded."""

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, one: list[Any], other: list[Any]) -> list[Any]:
        one += other
        return one


@contextmanager
def _in_thread(job: Callable[[], object]) -> Iterator[Callable[[], bool]]:
    """Run a job beside; gives whether it is over, and raises what it raised."""
    failed: list[Exception] = []

    def run() -> None:
        try:
            job()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def is_over() -> bool:
        if thread.is_alive():
            return False
        if failed:
            raise explained(failed[0]) from failed[0]
        return True

    yield is_over


def explained(error: Exception) -> PipelineError:
    """A failed job in one line of Python's, without Spark's pages of frames."""
    lines = [line.strip() for line in str(error).splitlines()]
    ours = [line for line in lines if line.startswith("odradek.") and ": " in line]
    if ours:
        return PipelineError(ours[0].partition(": ")[2])
    of_tasks = [line for line in lines if _PYTHON_ERROR.match(line)]
    if of_tasks:
        return PipelineError(f"a task of Spark failed: {of_tasks[0]}")
    return PipelineError(f"Spark: {_of_java(error)}")


def _of_java(error: Exception) -> str:
    """Java's message: py4j's first line has only the call."""
    lines = [line.strip() for line in str(error).splitlines()]
    return lines[1].removeprefix(": ") if len(lines) > 1 else str(error)


def choose(options: Any, size: int, *, fallback: bool = False) -> Engine:
    """The engine that was asked for, or the one for so many bytes; with `fallback` Arrow where
    Spark would be chosen and is not installed. Raises PipelineError."""
    if options.engine == "arrow" or (options.engine is None and size <= options.engine_limit):
        return ArrowEngine(options.processes)
    if find_spec("pyspark") is not None:
        return SparkEngine(spark_settings(options))
    if options.engine == "spark":
        raise PipelineError("pyspark is not installed: pip install 'odradek[spark]'")
    if fallback:
        return ArrowEngine(options.processes)
    raise PipelineError(
        f"about {in_bytes(size)} are more than --engine-limit ({in_bytes(options.engine_limit)}), "
        "and pyspark is not installed: pip install 'odradek[spark]', or use --engine arrow"
    )


def spark_settings(options: Any) -> dict[str, str]:
    """Settings of the session, from --master, --packages and --conf. Raises PipelineError."""
    settings = {"spark.driver.memory": "2g"}
    if "spark.remote" in dict(options.conf):
        raise PipelineError("--conf spark.remote: Spark Connect has no RDDs; use --master")
    if options.master is not None:
        settings["spark.master"] = options.master
    if options.packages:
        settings["spark.jars.packages"] = ",".join(options.packages)
    settings |= dict(options.conf)
    master = settings.get("spark.master", "local")
    if not _MASTER.fullmatch(master):
        raise PipelineError(
            f"{master} is no master of Spark: local, local[N], spark://HOST:PORT, k8s://URL or yarn"
        )
    return settings


def in_bytes(size: float) -> str:
    """A number of bytes for people: `1.5 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 100 or unit == "B" else f"{size:.1f} {unit}"
