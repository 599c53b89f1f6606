"""From the command line to a view: arguments, the connection, and the exit status.

Exit status: 0; 1 when a broker refuses or cannot be reached, or the output cannot be written (one
line on standard error); 2 for a wrong option (arguments.py), before any broker is asked; 130 after
Ctrl-C, except where it is how the command ends (`--follow`, `top`): 0.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from time import monotonic, sleep

from . import TIMEOUT_S
from .arguments import addresses, seconds
from .connecting import ConnectionSettingsError, add_connection, security_of
from .output import fail, with_output

VIEWS = {
    "topics": "topics and their partitions: list, show, create, grow, empty, delete",
    "groups": "consumer groups, offsets and lag: list, show, reset, forget, delete",
    "records": "what is in a topic: read, filter, follow",
    "produce": "records to a topic: lines, JSON, or made from a template",
    "brokers": "brokers, leaders, replicas: list, partitions, elect, lead, reassign, cancel",
    "configs": "configs of topics, brokers and groups: show, set, unset",
    "users": "users who log in by SCRAM: list, add, remove",
    "quotas": "how much clients may send and fetch: list, set, remove",
    "acls": "who may do what: list, add, remove",
    "transactions": "transactions: list, show, producers, hanging, abort",
    "top": "a live view: topics with their rates, groups with lag",
    "health": "whether brokers answer, and partitions have leaders: for scripts and containers",
}

_EVERY_S = 0.2


def add_views(commands: argparse._SubParsersAction[argparse.ArgumentParser], only: str) -> None:
    """Add a parser for each view; for those other than `only` just the name."""
    for name, summary in VIEWS.items():
        module = import_module(f".{name}", __package__) if name == only else None
        described = (module.__doc__ or "") if module else summary
        parser = commands.add_parser(
            name,
            help=summary,
            description=described,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument(
            "address", type=addresses, help="HOST:PORT of a broker; several with commas"
        )
        parser.add_argument(
            "--timeout",
            type=seconds,
            metavar="SECONDS",
            default=TIMEOUT_S,
            help=f"how long a broker may take to answer (default: {TIMEOUT_S:g})",
        )
        add_connection(parser)
        if module is not None:
            module.add_arguments(parser)


def run_view(options: argparse.Namespace) -> int:
    # Imported here, so that `odradek serve` does not pay for it.
    from .client import Brokers, ConsoleError, Unreachable

    module = import_module(f".{options.command}", __package__)

    end = monotonic() + (getattr(options, "wait", None) or 0)
    try:
        security = security_of(options)
    except ConnectionSettingsError as error:
        return fail(str(error), 2)

    def run() -> int:
        while True:
            try:
                with Brokers(options.address, options.timeout, security) as brokers:
                    status: int = module.run(brokers, options)
                    return status
            except Unreachable:
                if monotonic() > end:
                    raise
                sleep(_EVERY_S)

    try:
        return with_output(run)
    except ConsoleError as error:
        return fail(str(error), error.status)
    except KeyboardInterrupt:
        return 0 if getattr(options, "follow", False) else 130
