"""`GET /health` of `odradek serve --health-port`: for what starts containers, and load balancers.

200 with {"status": "ok", ...} while the broker answers within two seconds, else 503.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ....emulator.cluster import Cluster
from ....emulator.embedded.embedded import Embedded

_WITHIN_S = 2.0
_PATHS = ("/health", "/healthz", "/ready")


class Health:
    def __init__(self, kafka: Embedded, host: str, port: int) -> None:
        """Raises OSError when it cannot listen."""
        self._asking = ThreadPoolExecutor(1, "odradek-health")
        self._kafka = kafka

        class Handler(_Handler):
            look = staticmethod(self.look)

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="odradek-health", daemon=True
        )
        self._thread.start()

    def look(self) -> tuple[int, dict[str, Any]]:
        try:
            facts = self._asking.submit(self._kafka.run, _facts).result(_WITHIN_S)
        except TookTooLong:
            return 503, {"status": "busy", "reason": f"no answer within {_WITHIN_S:g} s"}
        except RuntimeError as error:
            return 503, {"status": "stopped", "reason": str(error)}
        return 200, {"status": "ok", "bootstrap_servers": self._kafka.bootstrap_servers} | facts

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._asking.shutdown(wait=False, cancel_futures=True)


def _facts(cluster: Cluster) -> dict[str, Any]:
    topics = list(cluster.topics)
    partitions = [each for topic in topics for each in topic.partitions]
    return {
        "topics": len(topics),
        "partitions": len(partitions),
        "offline": sum(each.leader < 0 for each in partitions),
    }


class _Handler(BaseHTTPRequestHandler):
    timeout = 5  # seconds, for a client that sends nothing

    @staticmethod
    def look() -> tuple[int, dict[str, Any]]:
        raise NotImplementedError

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path in _PATHS:
            self._answer(*self.look())
        else:
            self._answer(404, {"status": "unknown", "reason": f"ask for {_PATHS[0]}"})

    do_HEAD = do_GET

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Questions about health are not worth a line."""
