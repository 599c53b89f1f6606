"""Threads that share one Emulator's start and stop: each call succeeds, or says why not."""

from __future__ import annotations

from tests.hostile.support.script import run

SIX = """
import threading
from odradek.emulator import Emulator

kafka, errors = Emulator(), set()
together = threading.Barrier(6)

def start_and_stop():
    for number in range(15):
        together.wait()
        try:
            kafka.start()
        except RuntimeError as error:
            errors.add(str(error))
        try:
            kafka.stop()
        except RuntimeError as error:
            errors.add(str(error))

threads = [threading.Thread(target=start_and_stop, daemon=True) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
kafka.stop()
print(sum(thread.is_alive() for thread in threading.enumerate() if thread.name == "odradek"))
print(sum(thread.is_alive() for thread in threads))
print([error for error in errors if not error.startswith("the broker is ")])
"""


def test_six_threads_start_and_stop_one_broker() -> None:
    assert run(SIX).splitlines() == ["0", "0", "[]"]
