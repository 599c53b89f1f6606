"""Writes one value, and reads another, by Spark's from_avro and to_avro: spark_avro URL SCHEMA HEX.

Spark knows nothing of a registry: the id is asked for here, and stands before what it reads and
writes.
"""

from __future__ import annotations

import json
import sys
from urllib.request import Request, urlopen

from odradek.compat.java.jars import resolve
from odradek.compat.schemas.reading import framed, unframed
from pyspark.sql import SparkSession
from pyspark.sql.avro.functions import from_avro, to_avro

_TYPE = {"Content-Type": "application/vnd.schemaregistry.v1+json"}


def main(url: str, schema: str, given: str) -> None:
    import pyspark

    version = pyspark.__version__
    scala = "2.12" if version.startswith("3.") else "2.13"
    jars = resolve(
        f"spark-avro-{version}", [f"org.apache.spark:spark-avro_{scala}:{version}"], exclude=["*:*"]
    )
    paths = ",".join(map(str, sorted(jars.glob("*.jar"))))
    body = json.dumps({"schema": schema}).encode()
    with urlopen(Request(f"{url}/subjects/orders-value/versions", body, _TYPE)) as answer:
        schema_id = json.load(answer)["id"]
    found = unframed(bytes.fromhex(given))
    assert found is not None
    builder = SparkSession.builder.master("local[1]").config("spark.jars", paths)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    read = spark.createDataFrame([(bytearray(found[1]),)], ["value"])
    (row,) = read.select(from_avro("value", schema).alias("order")).collect()
    orders = spark.createDataFrame([((1, "nut"),)], "order struct<id: bigint, item: string>")
    (wrote,) = orders.select(to_avro("order", schema).alias("value")).collect()
    spark.stop()
    data = framed(schema_id, bytes(wrote.value)).hex()
    print(json.dumps({"wrote": data, "read": row.order.asDict()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
