"""What the journal of requests costs: `python -m tests.bench.bench_traffic [--rounds N]`.

One broker in this process is asked the same over a socket, with `kafka.journal` on and off in turn,
ABBA, as in bench_journal.py, whose requests these are. Shown is the CPU time of the broker's thread
for one request, in microseconds (medians of the rounds), and the median of the ratios of
neighbouring rounds. Then what a hundred thousand records cost a stock client's produce.
"""

from __future__ import annotations

import argparse
import statistics
import time

from odradek import Emulator

from tests.bench.bench_journal import RECORDS, VALUE, Side, measure, rows


class JournalSide(Side):
    """The same broker, whose requests are kept or not."""

    def keep(self, is_on: bool) -> None:
        """Switch the journal of requests."""
        if is_on:
            self.kafka.journal.start()
        else:
            self.kafka.journal.stop()


def throughput(rounds: int) -> float:
    """The median ratio of a stock client's records a second, on to off."""
    from confluent_kafka import Producer

    ratios = []
    with Emulator(topics={"t": 1}) as kafka:

        def rate(is_on: bool) -> float:
            (kafka.journal.start if is_on else kafka.journal.stop)()
            producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
            begin = time.perf_counter()
            for number in range(RECORDS):
                producer.produce("t", VALUE)
                if not number % 10_000:
                    producer.poll(0)
            producer.flush()
            return RECORDS / (time.perf_counter() - begin)

        for number in range(rounds + 1):
            first = bool(number % 2)
            found = {on: rate(on) for on in (first, not first)}
            ratios.append(found[True] / found[False])
    return statistics.median(ratios[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':24}{'on':>8}{'off':>8}{'ratio':>8}   us of CPU a request")
    for name, data in rows().items():
        for kind, at_once in (("one by one", 1), ("in a row", 100)):
            on, off, ratio = measure(JournalSide(), data, at_once, rounds)
            print(f"{name:24}{on:8.1f}{off:8.1f}{ratio:8.3f}   {kind}")
    print(f"confluent-kafka, records a second, on to off: {throughput(5):.3f}")


if __name__ == "__main__":
    main()
