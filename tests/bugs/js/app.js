// Services with kafkajs that have a bug, and the same without it: node app.js BUG bug|right
"use strict";

const { Kafka, Partitioners, logLevel } = require("kafkajs");

const [bug, kind] = process.argv.slice(2);
const right = kind === "right";
const retry = { initialRetryTime: 10, maxRetryTime: 100, retries: 20 };
const kafka = new Kafka({
  clientId: "app",
  brokers: [process.env.KAFKA_BOOTSTRAP_SERVERS],
  logLevel: logLevel.ERROR,
  retry,
});

function fatal(error) {
  console.error(error);
  process.exit(1); // the next process goes on at what is committed
}

process.on("unhandledRejection", fatal);

// An order; null for what is none: poison, a tombstone.
function understood(message) {
  try {
    return JSON.parse(message.value.toString());
  } catch {
    return null;
  }
}

function invoice(order, message) {
  const value = JSON.stringify({ id: order.id, paid: order.amount });
  return { topic: "invoices", messages: [{ key: message.key, value }] };
}

async function newConsumer(fromBeginning) {
  const times = { heartbeatInterval: 100, maxWaitTimeInMs: 20 };
  const consumer = kafka.consumer({ groupId: "app", ...times, retry });
  consumer.on(consumer.events.CRASH, ({ payload }) => fatal(payload.error));
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning });
  return consumer;
}

async function newProducer(more) {
  const createPartitioner = Partitioners.DefaultPartitioner;
  const producer = kafka.producer({ createPartitioner, retry, ...more });
  await producer.connect();
  return producer;
}

const after = (message) => (BigInt(message.offset) + 1n).toString();

// Write and commit, as `process` does it for each order; what is none is committed as it is.
async function copy(work, fromBeginning = true) {
  const producer = await newProducer();
  const consumer = await newConsumer(fromBeginning);
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ topic, partition, message }) => {
      const done = () =>
        consumer.commitOffsets([{ topic, partition, offset: after(message) }]);
      await work(producer, message, done);
    },
  });
}

async function writeThenCommit(producer, message, done) {
  const order = understood(message);
  if (order) await producer.send(invoice(order, message));
  await done();
}

const bugs = {
  commit_before_processing: () =>
    copy(async (producer, message, done) => {
      if (!right) await done();
      const order = understood(message);
      if (order) await producer.send(invoice(order, message));
      if (right) await done();
    }),

  send_not_awaited: () =>
    copy(async (producer, message, done) => {
      if (right) return writeThenCommit(producer, message, done);
      const order = understood(message);
      if (order) producer.send(invoice(order, message)).catch(console.error);
      await done();
    }),

  errors_caught: () =>
    copy(async (producer, message, done) => {
      if (right) return writeThenCommit(producer, message, done);
      const order = understood(message);
      try {
        if (order) await producer.send(invoice(order, message));
      } catch (error) {
        console.error("not sent:", error.message);
      }
      await done();
    }),

  not_from_the_beginning: () => copy(writeThenCommit, right),

  poison: () =>
    copy(async (producer, message, done) => {
      if (right) return writeThenCommit(producer, message, done);
      if (message.value) {
        const order = JSON.parse(message.value.toString());
        await producer.send(invoice(order, message));
      }
      await done();
    }),

  offset_not_the_next: async () => {
    const transactionalId = `app-${process.env.SERVICE_INSTANCE}`;
    const more = { transactionalId, transactionTimeout: 20000 };
    const producer = await newProducer({ ...more, idempotent: true, maxInFlightRequests: 1 });
    const consumer = await newConsumer(true);
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, partition, message }) => {
        const transaction = await producer.transaction();
        const order = understood(message);
        if (order) await transaction.send(invoice(order, message));
        const offset = right ? after(message) : message.offset;
        const topics = [{ topic, partitions: [{ partition, offset }] }];
        await transaction.sendOffsets({ consumerGroupId: "app", topics });
        await transaction.commit();
      },
    });
  },
};

bugs[bug]().catch(fatal);
