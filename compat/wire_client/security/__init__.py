"""The client's side of TLS and SASL, for connections that this package opens to brokers.

`ClientSecurity` (settings.py) is made of a client's properties, by the names of Kafka and of
librdkafka; `tls.py` makes the TLS context, `sasl.py` the tokens of a log-in.

Left out: GSSAPI, OAUTHBEARER by asking for a token at a server, keystores of Java (JKS).
"""

from .settings import ClientSecurity, SecurityError

__all__ = ["ClientSecurity", "SecurityError"]
