"""`odradek serve`: a broker that runs until Ctrl-C, SIGTERM or SIGHUP.

It prints one line on standard output when it is ready, with the address; everything else goes to
standard error. Exit status 0 after a clean stop, 2 for a wrong option or config, 1 when it cannot
start.
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
from typing import TYPE_CHECKING, Any

from ..base.release import KAFKA_4_3, release_named
from .console.arguments import setting
from .console.output import fail

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..control.traffic.sink import FileSink
    from ..emulator import Emulator
    from .event_log import EventLog

_COLLECT_S = 60.0
_PUT_OFF_MAX = 9
_NEVER = 1_000_000_000
JOURNAL_MOST = 1
"""What goes to a file need not be kept in memory, too."""
FRAME_BYTES = 1 << 30
"""There a frame is whole, so that it can be sent again."""


def add_serve(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    serve: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help="run a broker until Ctrl-C",
        description="Run a broker until Ctrl-C. Prints one line when it is ready.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serve.add_argument(
        "--port", type=port_number, default=9092, help="port; 0 takes a free one (9092)"
    )
    serve.add_argument(
        "--advertised", metavar="HOST:PORT", type=_address, help="address that clients are given"
    )
    serve.add_argument(
        "--data-dir", metavar="DIR", help="keep everything there (a temporary directory)"
    )
    serve.add_argument(
        "--naming",
        default="kafka",
        choices=["kafka", "documented"],
        help="of directories and files: topic-0/….log, or topic_0/….kafka (kafka)",
    )
    _add_cluster_options(serve)
    _add_behaviour(serve)


def _add_cluster_options(serve: argparse.ArgumentParser) -> None:
    """Options of the cluster itself."""
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
        help="the release to emulate: 4.3, or 3.9 with the protocol of older clients (4.3)",
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
    """What it tells, and how soon."""
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
        "--quiet", action="store_true", help="do not log what clients do, only what goes wrong"
    )


def run_serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run the broker until it is stopped."""
    for option in ("topic", "set", "feature"):
        name = _repeated(getattr(options, option))
        if name is not None:
            parser.error(f"--{option}: {name} is given two different values")
    _fill_standard_descriptors()
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    # SIGTERM, and SIGHUP from a terminal that closes, end a broker as Ctrl-C does: through this
    # event. Under `nohup` SIGHUP is ignored, and stays so.
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: stop.set())
    # Imported here, so that `odradek --help` does not pay for it.
    from ...storage import LogDirectoryError
    from ...wire import Refused
    from ..config.configs import ConfigError

    try:
        emulator = _emulator(options)
    except ValueError as error:  # a ConfigError too
        return fail(str(error), 2)
    except Refused as error:
        return fail(f"--topic: {error}", 2)
    try:
        emulator.start()
    except ConfigError as error:
        return fail(str(error), 2)
    except Refused as error:
        return fail(f"--topic: {error}", 2)
    except LogDirectoryError as error:
        return fail(f"--data-dir: {error}", 1)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return fail(f"{place}{error.strerror or error}", 1)
    try:
        sink = None if options.journal is None else _write_journal(emulator, options.journal)
    except OSError as error:
        emulator.stop()
        return fail(f"--journal: {error.filename}: {error.strerror}", 1)
    log = None if options.quiet else _log_events(emulator)
    try:
        # What exists now lives as long as the process: collections need not examine it.
        gc.freeze()
        gc.set_threshold(*gc.get_threshold()[:2], _NEVER)
        line = _ready_line(emulator.bootstrap_servers, emulator.cluster.scan_limit)
        if not print_line(line):
            return fail(f"nobody reads the standard output, which should say: {line}", 1)
        _collect_until(stop, emulator.cluster.turns)
    finally:
        emulator.stop()
        if log is not None:
            log.close()
        if sink is not None:
            sink.close()
    return 0


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


def _log_events(emulator: Emulator) -> EventLog | None:
    """Log what clients do on standard error, if there is one."""
    from .event_log import EventLog

    if sys.stderr is None:  # the descriptor was closed when Python started
        return None
    log = EventLog(sys.stderr)

    def begin(cluster: Cluster) -> None:
        cluster.journal.told = log

    emulator.run(begin)
    return log


def _write_journal(emulator: Emulator, path: str) -> FileSink:
    """Write every request and answer to a file. Raises OSError."""
    from ..control.traffic.sink import FileSink

    sink = FileSink(
        path, emulator.run(lambda cluster: {each.id: each.name for each in cluster.topics})
    )
    emulator.journal.traffic.told = sink
    emulator.journal.start(most=JOURNAL_MOST, frame_bytes=FRAME_BYTES)
    return sink


def _emulator(options: argparse.Namespace) -> Emulator:
    """The broker of these options, not started. Raises ValueError (or ConfigError), Refused."""
    from ..emulator import Emulator

    return Emulator(
        dict(options.set),
        topics=dict(options.topic),
        features=dict(options.feature),
        data_dir=options.data_dir,
        host=options.host,
        port=options.port,
        advertised=options.advertised,
        scan_limit=getattr(options, "scan_limit", "default"),
        version=options.kafka_version,
        naming=options.naming,
        timing=options.timing,
    )


def _ready_line(address: str, scan_limit: int | None) -> str:
    scanned = "" if scan_limit is None else f" (records scanned up to {scan_limit} a batch)"
    return f"odradek ready at {address}{scanned}"


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
    """A name that is given two different values."""
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


def _address(text: str) -> str:
    from ..base.addresses import parse_address

    try:
        parse_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _topic(text: str) -> tuple[str, int]:
    name, colon, partitions = text.partition(":")
    if colon and not (_is_number(partitions) and 0 < int(partitions) < 2**31):
        raise argparse.ArgumentTypeError(f"not a number of partitions: {partitions!r}")
    return name, int(partitions) if colon else 1


def journal_file(text: str) -> str:
    """The name of a file that a journal can be written to."""
    from ..control.traffic.files import ending

    try:
        ending(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


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
