"""A schema registry in front of any Kafka, with Confluent's REST API.

It reads and writes the compacted topic _schemas there, as Confluent's registry does, and keeps
nothing else. See docs/schemas.md.
"""

from __future__ import annotations

import argparse

from ...wire import Refused as KafkaRefused
from ...wire import WireError
from ..cli.console.connecting import ConnectionSettingsError, add_connection, security_of
from ..cli.console.output import fail, serve_until_signal
from ..unavailable import Unavailable
from ..wire_client.remote import RemoteCluster
from .errors import Refused
from .server import SchemaRegistry
from .topic import NAME

PORT = 8081
_PATIENCE_S = 15.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    kafka = ("--of", "--bootstrap-server", "--bootstrap-servers")
    add(*kafka, required=True, metavar="HOST:PORT", help="the Kafka that has the topic")
    add("--host", default="127.0.0.1", help="where to listen (127.0.0.1)")
    add("--port", type=int, default=PORT, help=f"({PORT}); 0 takes a free one")
    add("--topic", default=NAME, help=f"({NAME})")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal ends it. Returns the exit code."""
    try:
        cluster = RemoteCluster(options.of, _PATIENCE_S, security=security_of(options))
        cluster.connect()
        registry = SchemaRegistry(cluster, options.host, options.port, options.topic)
        registry.start()
    except ConnectionSettingsError as error:
        return fail(str(error), 2)
    except (KafkaRefused, WireError) as error:
        text = f"the Kafka at {options.of} does not serve what a registry needs: {error}"
        return fail(text, 1)
    except (OSError, ValueError, Refused, Unavailable) as error:
        return fail(str(error), 1)
    serve_until_signal(f"schema registry ready at {registry.url}")
    registry.stop()
    cluster.close()
    return 0
