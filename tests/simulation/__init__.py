"""A simulation of the broker and its clients: one thread, no sockets, a manual clock, one seed.

Each seed draws a cluster and its settings, a cast of clients that behave as stock clients do, and
misfortunes: answers and requests that are lost or late, connections that drop, clients that die,
forced rebalances, jumps of the clock, kills, power cuts, full and torn disks. All the while, and at
the end, what Kafka guarantees is checked. The same seed plays the same again.

    python -m tests.simulation --seeds 20000 [--first N]
    python -m tests.simulation --seed N --trace

- plan.py: what a seed draws. world.py: the time, and who does what next. network.py: connections
  and what befalls them. process.py: the broker's process and its disk. misfortunes.py: their verbs.
- actor.py: what clients have in common. producing.py, transactions.py, membership.py, consuming.py
  and pipe.py: the clients.
- book.py: what was promised to clients, and what they saw; it refuses at once what cannot be.
  checks.py: what must hold at the end.

Left out: several brokers, share and streams groups, old protocol versions, security.
"""
