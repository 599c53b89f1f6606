"""A schema registry: Confluent's REST API over a topic `_schemas` of any Kafka.

`formats/` reads schemas and compares them; `store.py` is what the topic says, `registry.py` what
may be written to it, `topic.py` the topic itself; `api.py` is the face over HTTP, `server.py` all
of it together.
"""
