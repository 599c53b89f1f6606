"""A proxy in front of any Kafka: its journal, its timeline, and steps on the way.

upstream.py      what the proxy knows of the cluster behind it; the chain of steps
connection.py   addresses of brokers in answers, and those of the proxy in their place
proxy.py       a listening port for each broker
client_end.py  the socket of a client
connection.py  one client's connection and the one to its broker
proxy.py       `Proxy`, which a user holds
"""
