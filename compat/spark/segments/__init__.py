"""Segment files as Arrow, and Arrow as segment files: numpy and pyarrow, no Spark, no JVM.

from odradek.compat.spark.segments import Wanted, list_segments, read_segment

for segment in list_segments("/var/lib/kafka", topics=["orders"]):
    for batch in read_segment(segment, Wanted(columns=("key", "value", "timestamp"))):
        ...
"""

from .batch_rows import BATCH_ROWS, read_batches
from .damaged import Damaged
from .data_directory import make_data_directory
from .decoder import batch_heads, read_bytes, read_segment
from .encoder import encode
from .listing import PlaceError, Segment, list_segments
from .outcomes import Outcomes, fetched_outcomes, outcomes
from .schema import BATCH_COLUMNS, RECORD_COLUMNS, SCHEMA, schema_of
from .wanted import EVERYTHING, Wanted
from .writer import SegmentWriter, Staged, publish

__all__ = [
    "BATCH_COLUMNS",
    "BATCH_ROWS",
    "EVERYTHING",
    "RECORD_COLUMNS",
    "SCHEMA",
    "Damaged",
    "Outcomes",
    "PlaceError",
    "Segment",
    "SegmentWriter",
    "Staged",
    "Wanted",
    "batch_heads",
    "encode",
    "fetched_outcomes",
    "list_segments",
    "make_data_directory",
    "outcomes",
    "publish",
    "read_batches",
    "read_bytes",
    "read_segment",
    "schema_of",
]
