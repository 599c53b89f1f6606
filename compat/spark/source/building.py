"""Readers and writers for given options and schemas: those that this version of Spark can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyspark.sql.datasource as api
from pyspark.sql.types import StructType

from .columns import BATCH_NAMES, NAMES, ddl
from .datasource import PUSHES_FILTERS
from .options import OptionError, ReadOptions, WriteOptions, columns_of, read_options, write_options
from .reader import BatchReader, FilteringReader
from .stream import StreamReader
from .writer import BatchWriter, StreamWriter

PASSES_LIMITS = hasattr(api.DataSourceStreamReader, "getDefaultReadLimit")
"""Whether this Spark passes read limits to a stream: 4.2 and later."""


def schema_for(options: Mapping[str, str]) -> str:
    """The columns that these options ask for. Raises OptionError."""
    return ddl(columns_of(options))


def batch_reader(given_options: Mapping[str, str], schema: StructType) -> BatchReader:
    """Raises OptionError."""
    options = _with_columns(read_options(given_options, stream=False), schema)
    return FilteringReader(options) if PUSHES_FILTERS else BatchReader(options)


def stream_reader(given_options: Mapping[str, str], schema: StructType) -> StreamReader:
    """Raises OptionError."""
    options = _with_columns(read_options(given_options, stream=True), schema)
    if not PASSES_LIMITS:
        return StreamReader(options)
    from .limited_stream import LimitedStreamReader

    return LimitedStreamReader(options)


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> BatchWriter:
    """Raises OptionError."""
    return BatchWriter(_write_options(options, overwrite), _types(schema))


def stream_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> Any:
    """Raises OptionError."""
    return StreamWriter(_write_options(options, overwrite), _types(schema))


def _with_columns(options: ReadOptions, schema: StructType) -> ReadOptions:
    """The options with the columns of a schema, which the user may have given."""
    known = BATCH_NAMES if options.of_batches else NAMES
    for each in schema:
        right, kind = known.get(each.name), each.dataType.simpleString()
        if right is None:
            raise OptionError(f"the schema has a column {each.name}: there are {', '.join(known)}")
        if kind != right:
            raise OptionError(f"the schema has {each.name} as {kind}: it is {right}")
    return replace(options, columns=tuple(schema.names))


def _write_options(options: Mapping[str, str], overwrite: bool) -> WriteOptions:
    if overwrite:
        raise OptionError("a log is appended to: write with mode('append')")
    return write_options(options)


def _types(schema: StructType) -> dict[str, str]:
    return {each.name: each.dataType.simpleString() for each in schema}
