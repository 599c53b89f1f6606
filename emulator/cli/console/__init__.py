"""Views for people: `odradek topics | groups | records | configs ADDRESS`, of any Kafka broker.

What a developer asks of a local broker every day, without a JVM: what is there, what is in it, who
lags, start again from there. Works against this emulator and a real Kafka alike, over the wire.
`client.py` is the client underneath; each command has a module of its own.

Left out: TLS and SASL.
"""

TIMEOUT_S = 15.0
"""How long a broker may take to answer."""
