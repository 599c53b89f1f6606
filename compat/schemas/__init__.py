"""Values that were written with a schema of a schema registry: Avro, Protobuf, JSON Schema.

`registry.py` says what is asked of a registry, `remote.py` asks one over HTTP; `reading.py` has the
bytes before a value, and reads and writes values.
"""
