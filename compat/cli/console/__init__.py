"""Views for people: `odradek topics | groups | records | configs ADDRESS`, of any Kafka broker.

What a developer asks a local broker every day, without a JVM: which topics exist, what is in them,
how far groups lag; and resets and deletions. Works over the wire, with this emulator and a real
Kafka alike. `client.py` is the client; each command has a module of its own.

Left out: TLS and SASL.
"""

TIMEOUT_S = 15.0
"""How long a broker may take to answer."""
