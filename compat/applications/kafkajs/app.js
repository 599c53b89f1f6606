// Each batch of orders becomes invoices, in one transaction with the offset.
"use strict";

const { Kafka, Partitioners, logLevel } = require("kafkajs");

const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 30 };
const kafka = new Kafka({
  clientId: "application",
  brokers: [process.env.KAFKA_BOOTSTRAP_SERVERS],
  logLevel: logLevel.ERROR,
  retry,
});

function fatal(error) {
  console.error(error);
  process.exit(1); // the next process goes on at what is committed
}

function invoice(message) {
  const order = JSON.parse(message.value.toString());
  return { key: message.key, value: JSON.stringify({ order: order.order, paid: true }) };
}

async function main() {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    transactionalId: "application",
    idempotent: true,
    maxInFlightRequests: 1,
    retry,
  });
  await producer.connect();
  const consumer = kafka.consumer({ groupId: "application", sessionTimeout: 6000, retry });
  consumer.on(consumer.events.CRASH, ({ payload }) => fatal(payload.error));
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
      for (const message of batch.messages) {
        if (!isRunning() || isStale()) return;
        const transaction = await producer.transaction();
        const offset = (BigInt(message.offset) + 1n).toString();
        const topics = [{ topic: batch.topic, partitions: [{ partition: batch.partition, offset }] }];
        await transaction.send({ topic: "invoices", messages: [invoice(message)] });
        await transaction.sendOffsets({ consumerGroupId: "application", topics });
        await transaction.commit();
        resolveOffset(message.offset);
        await heartbeat();
      }
    },
  });
}

process.on("unhandledRejection", fatal);
main().catch(fatal);
