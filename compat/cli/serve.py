"""`odradek serve`: a broker that runs until Ctrl-C, SIGTERM or SIGHUP.

It prints one line on standard output when it is ready, with the address; everything else goes to
standard error. Exit status 0 after a clean stop, 2 for a wrong option, setting or config, 1 when it
cannot start. Options have defaults by a file and the environment (serving/configure.py).
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence, Sized
from contextlib import ExitStack
from typing import Any

from ...emulator.base.release import KAFKA_4_3, release_named
from .console.arguments import setting, whole
from .console.output import fail
from .journal_file import journal_file
from .serving.apply import DEFAULT_PORT, brokers_of
from .serving.configure import add_settings
from .serving.security import add_security

_COLLECT_S = 60.0
_PUT_OFF_MAX = 9
_NEVER = 1_000_000_000
MOST_BROKERS = 1000
CONTROL = "127.0.0.1:9644"
REGISTRY = "127.0.0.1:8081"
ZOOKEEPER_PORT = 2181


def add_serve(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    serve: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help="run a broker until Ctrl-C",
        description="Run a broker until Ctrl-C. Prints one line when it is ready.",
    )
    _add_addresses(serve)
    serve.add_argument(
        "--data-dir", metavar="DIR", help="keep everything there (a temporary directory)"
    )
    serve.add_argument(
        "--naming",
        default="kafka",
        choices=["kafka", "documented"],
        help="of directories and files: topic-0/….log, or topic_0/….kafka (kafka)",
    )
    add_security(serve)
    _add_cluster_options(serve)
    _add_behaviour(serve)
    add_settings(serve)


def _add_addresses(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serve.add_argument(
        "--port",
        type=port_number,
        default=DEFAULT_PORT,
        help="port; 0 takes a free one; of several brokers the first (9092)",
    )
    serve.add_argument(
        "--listen",
        metavar="HOST:PORT",
        action="append",
        type=_addresses,
        help="where each broker listens, with commas or repeated, instead of --host and --port",
    )
    serve.add_argument(
        "--advertised",
        metavar="HOST:PORT",
        type=_advertised,
        help="address that clients are given; {id} and {port} stand for those of a broker, "
        "else the port counts up",
    )
    serve.add_argument(
        "--brokers", metavar="N", type=whole(1, MOST_BROKERS), help="how many brokers (1)"
    )
    serve.add_argument(
        "--rack",
        "--racks",
        metavar="NAME",
        action="append",
        type=_names,
        help="the rack of each broker, with commas or repeated",
    )


def _add_cluster_options(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--topic",
        metavar="NAME[:PARTITIONS]",
        action="append",
        default=[],
        type=_topic,
        help="create this topic at the start; may be repeated",
    )
    serve.add_argument(
        "--set",
        metavar="CONFIG=VALUE",
        action="append",
        default=[],
        type=setting,
        help="a broker config by Kafka's name; may be repeated",
    )
    serve.add_argument(
        "--kafka-version",
        metavar="VERSION",
        default=KAFKA_4_3.name,
        type=_release,
        help="the release to emulate: `odradek versions` has them (4.3)",
    )
    serve.add_argument(
        "--feature",
        metavar="NAME=LEVEL",
        action="append",
        default=[],
        type=_feature,
        help="the level of a feature, e.g. transaction.version=1; may be repeated",
    )
    serve.add_argument(
        "--scan-limit",
        metavar="RECORDS",
        default=argparse.SUPPRESS,
        type=_scan_limit,
        help="of larger batches check header and CRC only; `all` checks every record",
    )


def _add_behaviour(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--journal",
        metavar="FILE",
        type=journal_file,
        help="write every request and answer there: FILE.jsonl, or FILE.pcapng for Wireshark",
    )
    serve.add_argument(
        "--timing",
        default="instant",
        choices=["instant", "kafka"],
        help="how soon things are ready: at once, or as at a real node (instant)",
    )
    serve.add_argument(
        "--ready-file", metavar="FILE", help="write addresses and more there as JSON when ready"
    )
    _add_beside(serve)
    serve.add_argument(
        "--zookeeper",
        metavar="PORT|DIR",
        nargs="?",
        const=ZOOKEEPER_PORT,
        type=_zookeeper,
        help=f"serve a ZooKeeper at this port ({ZOOKEEPER_PORT}), or the one of this dataDir, with "
        "a --kafka-version of before 4.0; see docs/zookeeper.md",
    )
    serve.add_argument(
        "--until-stdin-ends",
        action="store_true",
        help="stop when standard input ends too: with who has started it",
    )
    serve.add_argument(
        "--log-format", default="text", choices=["text", "json"], help="of standard error (text)"
    )
    serve.add_argument(
        "--log-level",
        default="info",
        choices=["debug", "info", "warn", "error"],
        help="the least that is logged: debug is each event, error only the broker's own (info)",
    )
    serve.add_argument("--quiet", action="store_true", help="the same as --log-level error")


def _add_beside(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--health-port", metavar="PORT", type=port_number, help="answer GET /health at this port"
    )
    serve.add_argument(
        "--control",
        metavar="HOST:PORT",
        nargs="?",
        const=CONTROL,
        type=_address,
        help=f"serve the control API over HTTP there ({CONTROL}); see docs/control.md",
    )
    serve.add_argument(
        "--control-token",
        metavar="TOKEN",
        help="what it wants to be sent; needed for an address that other machines reach",
    )
    serve.add_argument(
        "--schema-registry",
        metavar="HOST:PORT",
        nargs="?",
        const=REGISTRY,
        type=_address,
        help=f"serve a schema registry there ({REGISTRY}); see docs/schemas.md",
    )


def run_serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    for option in ("topic", "set", "feature"):
        name = _repeated(getattr(options, option))
        if name is not None:
            parser.error(f"--{option}: {name} is given two different values")
    try:
        brokers_of(options)
    except ValueError as error:
        parser.error(str(error))
    _fill_standard_descriptors()
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    # SIGTERM, and SIGHUP from a terminal that closes, end a broker as Ctrl-C does: through this
    # event. Under `nohup` SIGHUP is ignored, and stays so.
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: stop.set())
    if options.until_stdin_ends:
        threading.Thread(target=_await_end, args=(stop,), daemon=True).start()
    # Imported here, so that `odradek --help` does not pay for it.
    from .serving.start import Failed, bring_up

    try:
        with ExitStack() as running:
            emulator, line = bring_up(options, running)
            # What exists now lives as long as the process: collections need not examine it.
            gc.freeze()
            gc.set_threshold(*gc.get_threshold()[:2], _NEVER)
            if not print_line(line):
                return fail(f"nobody reads the standard output, which should say: {line}", 1)
            _collect_until(stop, emulator.cluster.turns)
    except Failed as failed:
        return fail(str(failed), failed.status)
    return 0


def _await_end(stop: threading.Event) -> None:
    try:
        while os.read(0, 1 << 16):
            continue
    except OSError:
        stop.set()  # there is none that can be read
    stop.set()


def _collect_until(stop: threading.Event, turns: Sized, every_s: float = _COLLECT_S) -> None:
    """Have full collections take place when nothing is served that takes many turns: one examines
    all objects, and everybody waits, 0.2 s while there are those of a request that names 200,000
    partitions. A broker that is never idle has them all the same, one in ten periods."""
    put_off = 0
    while not stop.wait(every_s):
        if not turns or put_off == _PUT_OFF_MAX:
            gc.collect()
            put_off = 0
        else:
            put_off += 1


def print_line(line: str) -> bool:
    """Print a line; False if standard output is closed or its reader has gone."""
    if sys.stdout is None:  # the descriptor was closed when Python started
        return False
    try:
        print(line, flush=True)
    except OSError:
        # The rest of the buffer cannot be written either, and must not be tried at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return False
    return True


def _fill_standard_descriptors() -> None:
    """Open 0, 1 and 2 on /dev/null if they are closed, or a socket of ours would get one."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        continue
    os.close(descriptor)


def _repeated(pairs: Sequence[tuple[str, object]]) -> str | None:
    seen: dict[str, object] = {}
    return next((name for name, value in pairs if seen.setdefault(name, value) != value), None)


def _is_number(text: str) -> bool:
    """Plain digits, and not too many: `isdigit` accepts more than `int` does."""
    return bool(re.fullmatch("[0-9]{1,18}", text))


def port_number(text: str) -> int:
    """A port, perhaps 0."""
    if not _is_number(text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"not a port: {text!r}")
    return int(text)


def _zookeeper(text: str) -> int | str:
    """A port, or the directory of a ZooKeeper."""
    return port_number(text) if _is_number(text) else text


def _addresses(text: str) -> list[str]:
    from ...emulator.base.addresses import parse_address

    try:
        for each in text.split(","):
            parse_address(each.strip())
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return [each.strip() for each in text.split(",")]


def _address(text: str) -> tuple[str, int]:
    """Host and port, or the port alone, which may be 0."""
    host, _, port = text.rpartition(":")
    return host.strip("[]") or "127.0.0.1", port_number(port)


def _advertised(text: str) -> str:
    from ...emulator.base.addresses import Advertised

    try:
        Advertised(text).of(1, 0, 1)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _names(text: str) -> list[str]:
    found = [each.strip() for each in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"not a list of names: {text!r}")
    return found


def _topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.partition(":")
    if colon and not (_is_number(partitions) and 0 < int(partitions) < 2**31):
        raise argparse.ArgumentTypeError(f"not a number of partitions: {partitions!r}")
    return name, int(partitions) if colon else 1


def _release(text: str) -> str:
    try:
        return release_named(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _feature(text: str) -> tuple[str, int]:
    name, _, level = text.partition("=")
    if not name or not _is_number(level):
        raise argparse.ArgumentTypeError(f"not of the form NAME=LEVEL: {text!r}")
    return name.strip(), int(level)


def _scan_limit(text: str) -> int | None:
    if text == "all":
        return None
    if not _is_number(text):
        raise argparse.ArgumentTypeError(f"neither a number of records nor `all`: {text!r}")
    return int(text)
