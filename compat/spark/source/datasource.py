"""The data source itself. What it reads and writes with is imported when it is used (building.py):
registering it with a session costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyspark.sql.datasource as api

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .reader import BatchReader
    from .stream import StreamReader
    from .writer import BatchWriter

PUSHES_FILTERS = hasattr(api.DataSourceReader, "pushFilters")
"""Whether this Spark tells a source of a query's filters: 4.1 and later."""


class OdradekSource(api.DataSource):  # type: ignore[misc]
    """`format("odradek")`: the directory of a broker, or one that a broker will open."""

    @classmethod
    def name(cls) -> str:
        """The name in `format(...)`."""
        return "odradek"

    def schema(self) -> str:
        """The connector's columns, or those that the options ask for."""
        from .building import schema_for

        return schema_for(self.options)

    def reader(self, schema: StructType) -> BatchReader:
        from .building import batch_reader

        return batch_reader(self.options, schema)

    def streamReader(self, schema: StructType) -> StreamReader:
        from .building import stream_reader

        return stream_reader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        from .building import batch_writer

        return batch_writer(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:
        from .building import stream_writer

        return stream_writer(self.options, schema, overwrite)
