"""Each order becomes an invoice; its offset is committed after that."""

import os

from faststream import AckPolicy, FastStream
from faststream.confluent import KafkaBroker
from pydantic import BaseModel

broker = KafkaBroker(os.environ["KAFKA_BOOTSTRAP_SERVERS"])
app = FastStream(broker)


class Order(BaseModel):
    order: int
    customer: str


@broker.subscriber(
    "orders",
    group_id="application",
    auto_offset_reset="earliest",
    ack_policy=AckPolicy.NACK_ON_ERROR,
)
@broker.publisher("invoices")
async def bill(order: Order) -> dict:
    return {"order": order.order, "paid": True}
