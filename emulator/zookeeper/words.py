"""The four-letter words: what people type into `nc` to see how a ZooKeeper does.

All of those that ZooKeeper 3.5 has may be asked for, as with `4lw.commands.whitelist=*`; latencies
are not measured, and shown as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .keeper import Client, Keeper
    from .tree import Tree

VERSION = "3.5.9-odradek"


def answer_to(word: bytes, keeper: Keeper, port: int) -> str | None:
    """The answer to a four-letter word; None if it is none."""
    found = _WORDS.get(word)
    return None if found is None else found(keeper, port)


def _ruok(keeper: Keeper, port: int) -> str:
    return "imok"


def _srvr(keeper: Keeper, port: int) -> str:
    return f"Zookeeper version: {VERSION}\n{_totals(keeper)}"


def _totals(keeper: Keeper) -> str:
    return (
        f"Latency min/avg/max: 0/0/0\nReceived: {keeper.received}\nSent: {keeper.sent}\n"
        f"Connections: {len(keeper.clients)}\nOutstanding: 0\nZxid: {keeper.tree.zxid:#x}\n"
        f"Mode: standalone\nNode count: {len(keeper.tree.nodes)}\n"
    )


def _stat(keeper: Keeper, port: int) -> str:
    clients = "".join(f" {_brief(each)}\n" for each in keeper.clients)
    return f"Zookeeper version: {VERSION}\nClients:\n{clients}\n{_totals(keeper)}"


def _brief(client: Client) -> str:
    host, port = client.address
    counts = f"queued=0,recved={client.received_packets},sent={client.sent_packets}"
    return f"/{host}:{port}[{int(client.session is not None)}]({counts})"


def _cons(keeper: Keeper, port: int) -> str:
    lines = []
    for each in keeper.clients:
        more = ""
        if each.session is not None:
            session = each.session
            more = f",sid={session.session_id:#x},est={each.began},to={session.timeout_ms}"
        lines.append(f" {_brief(each)[:-1]}{more})\n")
    return "".join(lines) + "\n"


def _mntr(keeper: Keeper, port: int) -> str:
    tree = keeper.tree
    values = {
        "version": VERSION,
        "avg_latency": 0,
        "max_latency": 0,
        "min_latency": 0,
        "packets_received": keeper.received,
        "packets_sent": keeper.sent,
        "num_alive_connections": len(keeper.clients),
        "outstanding_requests": 0,
        "server_state": "standalone",
        "znode_count": len(tree.nodes),
        "watch_count": _watch_count(keeper),
        "ephemerals_count": sum(map(len, tree.owned.values())),
        "approximate_data_size": tree.size,
    }
    return "".join(f"zk_{name}\t{value}\n" for name, value in values.items())


def _watch_count(keeper: Keeper) -> int:
    return sum(len(each.watching) for each in keeper.clients)


def _conf(keeper: Keeper, port: int) -> str:
    sessions = keeper.sessions
    values = {
        "clientPort": port,
        "secureClientPort": -1,
        "tickTime": sessions.tick_ms,
        "maxClientCnxns": 0,
        "minSessionTimeout": sessions.least_ms,
        "maxSessionTimeout": sessions.most_ms,
        "serverId": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _dump(keeper: Keeper, port: int) -> str:
    tree: Tree = keeper.tree
    lines = [f"Sessions with Ephemerals ({sum(map(bool, tree.owned.values()))}):"]
    for session_id, paths in tree.owned.items():
        if paths:
            lines += [f"{session_id:#x}:", *(f"\t{path}" for path in paths)]
    alive = [f"\t{each:#x}" for each in keeper.sessions.alive]
    return "\n".join(["SessionTracker dump:", *alive, "ephemeral nodes dump:", *lines, ""])


def _wchs(keeper: Keeper, port: int) -> str:
    watching = [each for each in keeper.clients if each.watching]
    paths = {path for each in watching for _, path in each.watching}
    return (
        f"{len(watching)} connections watching {len(paths)} paths\n"
        f"Total watches:{_watch_count(keeper)}\n"
    )


def _wchc(keeper: Keeper, port: int) -> str:
    text = ""
    for each in keeper.clients:
        if each.watching and each.session is not None:
            paths = {path for _, path in each.watching}
            text += f"{each.session.session_id:#x}\n" + "".join(f"\t{path}\n" for path in paths)
    return text + "\n"


def _wchp(keeper: Keeper, port: int) -> str:
    found: dict[str, list[str]] = {}
    for each in keeper.clients:
        for path in {path for _, path in each.watching}:
            if each.session is not None:
                found.setdefault(path, []).append(f"\t{each.session.session_id:#x}\n")
    return "".join(f"{path}\n{''.join(who)}" for path, who in found.items()) + "\n"


def _envi(keeper: Keeper, port: int) -> str:
    return f"Environment:\nzookeeper.version={VERSION}\n"


def _isro(keeper: Keeper, port: int) -> str:
    return "rw"


def _srst(keeper: Keeper, port: int) -> str:
    keeper.received = keeper.sent = 0
    return "Server stats reset.\n"


def _crst(keeper: Keeper, port: int) -> str:
    for each in keeper.clients:
        each.received_packets = each.sent_packets = 0
    return "Connection stats reset.\n"


_WORDS: dict[bytes, Callable[[Keeper, int], str]] = {
    name.removeprefix("_").encode(): word
    for name, word in list(globals().items())
    if len(name) == 5 and name.startswith("_") and callable(word)
}
