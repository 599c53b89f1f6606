"""Each order is counted for its customer."""

import json
import os

import bytewax.operators as op
from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage, KafkaSource
from bytewax.dataflow import Dataflow

brokers = [os.environ["KAFKA_BOOTSTRAP_SERVERS"]]


def count(state, message):
    number = (state or 0) + 1
    return number, {**json.loads(message.value), "count": number}


def record(item):
    customer, order = item
    return KafkaSinkMessage(customer.encode(), json.dumps(order).encode())


flow = Dataflow("application")
orders = op.input("orders", flow, KafkaSource(brokers, ["orders"]))
keyed = op.key_on("customer", orders, lambda message: message.key.decode())
counted = op.stateful_map("count", keyed, count)
op.output("invoices", op.map("record", counted, record), KafkaSink(brokers, "invoices"))
