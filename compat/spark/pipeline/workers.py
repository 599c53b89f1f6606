"""A few Python processes that run a task on pieces.

Each worker is a process of its own session that reads pieces from its standard input and writes
results to its standard output, pickled. Ctrl-C is thus the parent's alone, which ends the workers;
and a worker whose parent was killed ends too, as its input does. What a task prints goes to
standard error. A task's exception is raised in the parent, with the worker's traceback as its note.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, TypeVar, cast

from .errors import PipelineError

P = TypeVar("P")
R = TypeVar("R")

_PROGRAM = f"from {__name__} import serve; serve()"


@dataclass(frozen=True)
class _Failed:
    error: BaseException
    trace: str


class Workers:
    """At most so many processes, started when there is work for them, kept until `close`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._processes: list[subprocess.Popen[bytes]] = []

    def run(self, task: Callable[[P], R], pieces: Sequence[P]) -> Iterator[tuple[int, R]]:
        """Give each piece's number and result as they come. Raises what a task raised first, and
        then ends all processes."""
        waiting: queue.SimpleQueue[tuple[int, P]] = queue.SimpleQueue()
        for numbered in enumerate(pieces):
            waiting.put(numbered)
        done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        wanted = min(self._most, len(pieces))
        try:
            while len(self._processes) < wanted:
                self._processes.append(_start())
            for process in self._processes[:wanted]:
                arguments = (process, task, waiting, done)
                threading.Thread(target=_feed, args=arguments, daemon=True).start()
            for _ in pieces:
                number, result = done.get()
                if isinstance(result, _Failed):
                    if result.trace:
                        result.error.add_note(result.trace)
                    raise result.error
                yield number, cast(R, result)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        self._processes = []


def _start() -> subprocess.Popen[bytes]:
    # What is imported here can be imported there.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )


def _feed(
    worker: subprocess.Popen[bytes],
    task: Callable[[P], R],
    waiting: queue.SimpleQueue[tuple[int, P]],
    done: queue.SimpleQueue[tuple[int, Any]],
) -> None:
    """Give one worker a piece after the other, as long as there are any."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    while True:
        try:
            number, piece = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            worker.stdin.write(pickle.dumps((task, piece)))
            worker.stdin.flush()
            done.put((number, pickle.load(worker.stdout)))
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            status = worker.wait()
            what = getattr(piece, "name", f"piece {number}")
            error = PipelineError(f"a process that worked on {what} ended with status {status}")
            done.put((number, _Failed(error, "")))
            return
        except Exception as error:  # the piece or the task cannot be pickled
            done.put((number, _Failed(error, "")))
            return


def serve() -> None:
    pieces = sys.stdin.buffer
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pieces, received), daemon=True).start()
    while True:
        task, piece = received.get()
        try:
            answer = pickle.dumps(task(piece))
        except BaseException as error:
            answer = _pickled(error)
        results.write(answer)
        results.flush()


def _receive(pieces: IO[bytes], received: queue.SimpleQueue[Any]) -> None:
    """Read pieces; with the end of the input, or of the parent, this process ends at once."""
    while True:
        try:
            received.put(pickle.load(pieces))
        except EOFError:
            os._exit(0)


def _pickled(error: BaseException) -> bytes:
    trace = traceback.format_exc()
    try:
        answer = pickle.dumps(_Failed(error, trace))
        pickle.loads(answer)  # what the parent does; an exception's class may not be made for it
        return answer
    except Exception:
        return pickle.dumps(_Failed(PipelineError(repr(error)), trace))
