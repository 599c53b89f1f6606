"""FileSink: a journal that is written to a file while the broker runs.

The broker does not wait for the disk: a thread writes what it is given, in order. What comes faster
than it can be written is left out, requests and answers of the same exchange together; of an answer
to a request from before that, only its size is there. A failing disk ends the file. All this is
said at the end, by `close`.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from typing import BinaryIO

from ...base.logger import log
from ...base.words import number_of
from . import jsonl
from .capture.writing import Capture
from .exchange import Exchange
from .files import ending

_WAITING_MAX = 10_000
_WAITING_BYTES = 64 << 20
_IDLE_S = 0.5
_Item = tuple[Exchange, bool] | None


class FileSink:
    """Writes exchanges to a file by its ending, `.jsonl` or `.pcapng`, until it is closed."""

    def __init__(self, path: str | Path, topic_names: dict[bytes, str], port: int | None = 9092):
        """Raises ValueError for another ending, OSError if the file cannot be written."""
        self.path = Path(path)
        is_capture = ending(path) == ".pcapng"
        self._file: BinaryIO = self.path.open("wb")
        self._capture = Capture(self._file, port) if is_capture else None
        if not is_capture:
            self._file.write(jsonl.head(0, topic_names).encode())
        self._queue: Queue[_Item] = Queue()
        self._given_bytes = self._written_bytes = 0  # each is counted in one thread
        self._left_out: set[int] = set()
        self.left_out = 0
        """How many exchanges are not in the file."""
        self.without_answer = 0
        """Of how many only the size of the answer is."""
        self.failure: OSError | None = None
        self._file.flush()
        self._thread = threading.Thread(target=self._write, name="odradek-journal", daemon=True)
        self._thread.start()

    def began(self, exchange: Exchange) -> None:
        """A request is taken up. Never waits."""
        if self._queue.qsize() > _WAITING_MAX or self._waiting_bytes > _WAITING_BYTES:
            self._left_out.add(exchange.number)
            self.left_out += 1
            return
        self._given_bytes += len(exchange.request_frame)
        if self._capture is not None:
            self._queue.put((exchange, False))

    def ended(self, exchange: Exchange) -> None:
        """It has come to its end. Never waits."""
        if exchange.number in self._left_out:
            self._left_out.remove(exchange.number)
            return
        if exchange.response_frame and self._waiting_bytes > _WAITING_BYTES:
            exchange = replace(exchange, response_frame=b"")
            self.without_answer += 1
        self._given_bytes += len(exchange.response_frame or b"")
        self._queue.put((exchange, True))

    @property
    def _waiting_bytes(self) -> int:
        return self._given_bytes - self._written_bytes

    def close(self) -> None:
        """Write what waits, and close the file. Logs what is not in it."""
        self._queue.put(None)
        self._thread.join()
        if self.left_out:
            many = number_of(self.left_out, "request")
            log.warning("not in %s because they came too fast: %s", self.path, many)
        if self.without_answer:
            many = number_of(self.without_answer, "answer")
            log.warning("not whole in %s because they came too fast: %s", self.path, many)
        if self.failure is not None:
            log.error("%s is not complete: %s", self.path, self.failure.strerror)

    def _write(self) -> None:
        try:
            while self._write_next():
                pass
            self._file.close()
        except OSError as error:
            self.failure = error
            while self._queue.get() is not None:
                self.left_out += 1

    def _write_next(self) -> bool:
        """A function of its own, so that nothing is kept of one while there is no other."""
        item = self._next()
        if item is not None:
            self._write_one(*item)
        return item is not None

    def _next(self) -> _Item:
        """The next item; while there is none, the file has all there is."""
        try:
            return self._queue.get(timeout=_IDLE_S)
        except Empty:
            self._file.flush()
            return self._queue.get()

    def _write_one(self, exchange: Exchange, is_end: bool) -> None:
        if self._capture is None:
            self._file.writelines(map(str.encode, jsonl.line_in_pieces(exchange)))
        elif is_end:
            self._capture.ended(exchange)
        else:
            self._capture.began(exchange)
        if is_end:
            written = len(exchange.request_frame) + len(exchange.response_frame or b"")
            self._written_bytes += written
