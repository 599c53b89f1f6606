"""`python -m tests.soak.polite ADDRESS`: a client that produces a record and fetches it, ten times
a second, and checks each answer.

For each line on standard input one of JSON is printed: what the rounds since the last line took, in
ms. It is alone in its process, so that no other client's work counts as the broker's.
"""

from __future__ import annotations

import json
import sys
import threading
import time

from tests.hostile.support.clients import create_topics
from tests.requests.fetch import asked, fetch_request, only, values
from tests.requests.produce import batch, produce
from tests.support.connection import Connection

TOPIC = "polite"
PAUSE_S = 0.1


class Rounds:
    """Produce and fetch, and how long each round took."""

    def __init__(self, address: str) -> None:
        create_topics(address, [TOPIC])
        self._connection = Connection(address)
        self._offset = 0
        self._took_s: list[float] = []

    def run(self) -> None:
        """One round after the other; what goes wrong ends the process."""
        while True:
            self._round()
            time.sleep(PAUSE_S)

    def taken(self) -> dict[str, float]:
        """Of the rounds since the last call; in ms."""
        took, self._took_s = sorted(self._took_s), []
        if not took:
            return {"rounds": 0}
        return {
            "rounds": len(took),
            "p50": round(took[len(took) // 2] * 1000, 2),
            "p99": round(took[len(took) * 99 // 100] * 1000, 2),
            "max": round(took[-1] * 1000, 2),
        }

    def _round(self) -> None:
        value = b"%d" % self._offset
        begin = time.perf_counter()
        data = batch(value, time=int(time.time() * 1000))
        result = produce(self._connection, data, topic=TOPIC)
        assert (result.error_code, result.base_offset) == (0, self._offset)
        request = fetch_request(asked(offset=self._offset), topic=TOPIC)
        assert values(only(self._connection.ask(request, 12))) == [value]
        self._took_s.append(time.perf_counter() - begin)
        self._offset += 1


def main(address: str) -> None:
    rounds = Rounds(address)
    runner = threading.Thread(target=rounds.run, daemon=True)
    runner.start()
    for _ in sys.stdin:
        if not runner.is_alive():
            sys.exit("a round of the polite client failed")
        print(json.dumps(rounds.taken()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
