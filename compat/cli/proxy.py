"""`odradek proxy --to HOST:PORT`: a proxy in front of any Kafka, until Ctrl-C.

Clients are given the address that it prints, and see the proxy in place of every broker. Requests
and answers go on as they come; on standard error is what clients do and what is refused, and with
--journal a file has every request and its answer.

    odradek proxy --to broker1:9092,broker2:9092 --port 9192 --journal field.jsonl

Exit status: 0 after a clean stop, 1 if there is no Kafka or no port, 2 for a wrong option.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from .console.arguments import addresses, parse_addresses
from .console.output import fail
from .journal_file import journal_file, write_to_file
from .serve import port_number, print_line

if TYPE_CHECKING:
    from ...emulator.control.traffic.sink import FileSink
    from ..proxy.proxy import ProxyServer
    from .log.event_log import EventLog


def add_proxy(commands: Any) -> None:
    """Add the sub-command to argparse's subparsers."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "proxy",
        help="stand in front of any Kafka, and keep a journal",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--to",
        type=addresses,
        required=True,
        metavar="HOST:PORT",
        help="a broker of the Kafka; several with commas",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--advertised", metavar="HOST", help="host that clients are given")
    parser.add_argument(
        "--port",
        type=port_number,
        default=9192,
        help="port; further brokers have those after it; 0 takes free ones (9192)",
    )
    parser.add_argument(
        "--journal",
        metavar="FILE",
        type=journal_file,
        help="write every request and answer there: FILE.jsonl, or FILE.pcapng for Wireshark",
    )
    parser.add_argument("--quiet", action="store_true", help="do not log what clients do")


def run_proxy(options: argparse.Namespace) -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: stop.set())
    # Imported here, so that `odradek --help` does not pay for it.
    from ...emulator.base.addresses import bracketed
    from ...emulator.control.traffic.sink import FileSink
    from ..proxy.proxy import ProxyServer

    to = ",".join(f"{bracketed(host)}:{port}" for host, port in parse_addresses(options.to))
    proxy = ProxyServer(to, host=options.host, port=options.port, advertised=options.advertised)
    sink = log = None
    try:
        if options.journal is not None:
            sink = FileSink(options.journal, {})
            write_to_file(proxy.journal, sink)
        log = None if options.quiet else _log_events(proxy)
        proxy.start()
        print_line(f"odradek proxy ready at {proxy.bootstrap_servers}, to {to}")
        stop.wait()
    except OSError as error:  # a ConnectionError too
        place = f"{error.filename}: " if error.filename else ""
        return fail(f"{place}{error.strerror or error}", 1)
    finally:
        _end(proxy, log, sink)
    return 0


def _end(proxy: ProxyServer, log: EventLog | None, sink: FileSink | None) -> None:
    proxy.stop()
    if log is not None:
        log.close()
    if sink is not None:
        sink.close()


def _log_events(proxy: ProxyServer) -> EventLog | None:
    from .log.event_log import EventLog

    if sys.stderr is None:  # the descriptor was closed when Python started
        return None
    log = EventLog(sys.stderr)
    proxy.tell(log)
    return log
