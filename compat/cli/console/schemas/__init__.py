"""Values that were written with a schema of a schema registry: Avro, Protobuf, JSON Schema.

registry.py asks the registry, wire_format.py has the bytes before each value, avro.py and
protobuf.py what follows them.
"""
