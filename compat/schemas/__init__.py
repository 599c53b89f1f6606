"""Values that were written with a schema of a schema registry: Avro, Protobuf, JSON Schema.

`registry.py` says what is asked of a registry, `remote.py` asks one over HTTP; `framing.py` has the
bytes before each value, `reading.py` what follows them, by `avro.py` and `protobuf.py`.
"""
