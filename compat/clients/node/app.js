// Kafka clients of JavaScript with the verbs of compat/clients/verbs.py: the client's name is the
// argument. It answers a line of JSON on standard output for each on standard input, in order, and
// has one consumer at most. Bytes travel in base64.
"use strict";

const readline = require("node:readline");
const { randomUUID } = require("node:crypto");
const { Kafka, CompressionTypes, CompressionCodecs, Partitioners, logLevel } = require("kafkajs");
const SnappyCodec = require("kafkajs-snappy");
const lz4 = require("lz4-napi");
const zstd = require("@bokuweb/zstd-wasm");

// Its users bring these codecs; none of them needs a compiler. Kafka refuses frames of lz4 with
// linked blocks, such as those of lz4js.
const codec = ({ compress, decompress }) => () => ({
  compress: async (encoder) => Buffer.from(compress(encoder.buffer)),
  decompress: async (data) => Buffer.from(decompress(data)),
});
CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec;
CompressionCodecs[CompressionTypes.LZ4] = codec({
  compress: lz4.compressFrameSync,
  decompress: lz4.decompressFrameSync,
});
CompressionCodecs[CompressionTypes.ZSTD] = codec(zstd);

const CODECS = {
  "": CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
};
const LIMIT_MS = 30000;

const given = (text) => (text === null || text === undefined ? null : Buffer.from(text, "base64"));
const shown = (data) => (data === null || data === undefined ? null : data.toString("base64"));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function security({ protocol, mechanism, user, password, token, ca, certificate, key }) {
  const found = {};
  if (protocol && protocol.endsWith("SSL")) {
    found.ssl = { ca: [ca], ...(certificate && { cert: certificate, key }) };
  }
  if (mechanism === "OAUTHBEARER") {
    found.sasl = { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: token }) };
  } else if (mechanism) {
    found.sasl = { mechanism: mechanism.toLowerCase(), username: user, password };
  }
  return found;
}

function kafka(command) {
  return new Kafka({
    brokers: command.bootstrap.split(","),
    logLevel: logLevel.NOTHING,
    ...security(command.security || {}),
  });
}

async function within(thing, work) {
  await thing.connect();
  try {
    return await work(thing);
  } finally {
    await thing.disconnect();
  }
}

// It does not repeat an admin's request that went to a leader of before.
async function admin(command, work) {
  for (const end = Date.now() + LIMIT_MS; ; await pause(100)) {
    try {
      return await within(kafka(command).admin(), work);
    } catch (error) {
      if (!error.retriable || Date.now() > end) throw error;
    }
  }
}

// kafkajs takes headers as an object, an array where a name is there twice.
function headers(pairs) {
  const found = {};
  for (const { name, value } of pairs) {
    const data = given(value);
    found[name] = name in found ? [].concat(found[name], [data]) : data;
  }
  return found;
}

function message(command, record) {
  const made = { key: given(record.key), value: given(record.value), headers: headers(record.headers) };
  if (record.timestamp !== null) made.timestamp = String(record.timestamp);
  if (command.partition !== null) made.partition = command.partition;
  return made;
}

async function produce(command) {
  const partitioner = Partitioners.DefaultPartitioner();
  const chosen = command.records.map(() => 0);
  const producer = kafka(command).producer({
    // A key's partition is found as Java does it; which one is kept, for the answer has no records.
    createPartitioner: () => (asked) => {
      const partition = asked.message.partition ?? partitioner(asked);
      chosen[asked.message.number] = partition;
      return partition;
    },
    idempotent: command.idempotent || command.transactional_id !== "",
    ...(command.transactional_id && { transactionalId: command.transactional_id, maxInFlightRequests: 1 }),
    allowAutoTopicCreation: true,
  });
  const messages = command.records.map((record, number) => ({ ...message(command, record), number }));
  const asked = { topic: command.topic, acks: command.acks, compression: CODECS[command.compression], messages };
  const answer = await within(producer, async () => {
    if (!command.transactional_id) return producer.send(asked);
    const transaction = await producer.transaction();
    const sent = await transaction.send(asked);
    await (command.abort ? transaction.abort() : transaction.commit());
    return sent;
  });
  const next = Object.fromEntries((answer || []).map((each) => [each.partition, Number(each.baseOffset)]));
  return { places: chosen.map((partition) => [partition, partition in next ? next[partition]++ : -1]) };
}

let opened, consumer, queue, assigned, positions, crashed;

async function open(command) {
  opened = command;
  const groupId = command.group || `none-${randomUUID()}`;
  [queue, assigned, positions, crashed] = [[], [], {}, null];
  if (!command.group) {
    // It has no consumer without a group: one of its own begins at committed offsets.
    await known(command);
    positions = await offsets({ ...command, timestamp: command.beginning ? -2 : -1 });
    const partitions = Object.entries(positions).map(([partition, offset]) => ({
      partition: Number(partition),
      offset: String(offset),
    }));
    await admin(command, (it) => it.setOffsets({ groupId, topic: command.topic, partitions }));
  }
  consumer = kafka(command).consumer({
    groupId,
    sessionTimeout: command.session_ms,
    heartbeatInterval: command.heartbeat_ms,
    readUncommitted: !command.committed,
    maxWaitTimeInMs: 200,
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    assigned = payload.memberAssignment[command.topic] || [];
    queue = []; // what was not taken is delivered again
  });
  consumer.on(consumer.events.REBALANCING, () => {
    queue = [];
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) crashed = payload.error;
  });
  await consumer.connect();
  await consumer.subscribe({ topic: command.topic, fromBeginning: command.beginning });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      for (const each of batch.messages) queue.push({ partition: batch.partition, ...each });
    },
  });
  return {};
}

async function known(command) {
  // A consumer's request for the topic creates it, where the broker does so.
  const asking = kafka(command).consumer({ groupId: `asking-${randomUUID()}`, allowAutoTopicCreation: true });
  for (const end = Date.now() + LIMIT_MS; ; await pause(100)) {
    try {
      return await within(asking, () => asking.subscribe({ topic: command.topic }));
    } catch (error) {
      if (error.type !== "UNKNOWN_TOPIC_OR_PARTITION" || Date.now() > end) throw error;
    }
  }
}

async function poll({ ms, max }) {
  for (const end = Date.now() + ms; !queue.length && Date.now() < end; ) await pause(10);
  if (crashed) throw crashed;
  const taken = queue.splice(0, max);
  await place();
  for (const { partition, offset } of taken) {
    if (partition in positions) positions[partition] = Number(offset) + 1;
  }
  return { records: taken.map(record) };
}

function record({ partition, offset, timestamp, key, value, headers: found }) {
  const pairs = Object.entries(found || {}).flatMap(([name, values]) =>
    [].concat(values).map((each) => ({ name, value: shown(each) })),
  );
  return {
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    key: shown(key),
    value: shown(value),
    headers: pairs,
  };
}

// Where a member begins with partitions that it has just got.
async function place() {
  if (!opened.group) return;
  const kept = {};
  for (const partition of assigned) if (partition in positions) kept[partition] = positions[partition];
  if (assigned.some((partition) => !(partition in kept))) {
    const starts = await offsets({ ...opened, timestamp: opened.beginning ? -2 : -1 });
    const there = await committed(opened);
    for (const partition of assigned) kept[partition] ??= there[partition] ?? starts[partition];
  }
  positions = kept;
}

async function commit() {
  const asked = Object.entries(positions).map(([partition, offset]) => ({
    topic: opened.topic,
    partition: Number(partition),
    offset: String(offset),
  }));
  await consumer.commitOffsets(asked);
  return {};
}

async function committed({ group, topic, ...command }) {
  const found = await admin(command, (it) => it.fetchOffsets({ groupId: group, topics: [topic] }));
  const there = found[0].partitions.filter(({ offset }) => Number(offset) >= 0);
  return Object.fromEntries(there.map(({ partition, offset }) => [partition, Number(offset)]));
}

async function offsets({ topic, timestamp, ...command }) {
  return admin(command, async (it) => {
    const name = timestamp === -2 ? "low" : "high";
    const found = await it.fetchTopicOffsets(topic);
    const ends = Object.fromEntries(found.map((each) => [each.partition, Number(each[name])]));
    if (timestamp < 0) return ends;
    // It says the end where there is no such record.
    const later = (await it.fetchTopicOffsetsByTimestamp(topic, timestamp)).map((each) => [each.partition, Number(each.offset)]);
    return Object.fromEntries(later.map(([partition, offset]) => [partition, offset < ends[partition] ? offset : -1]));
  });
}

async function partitions({ topic, ...command }) {
  const { topics } = await admin(command, (it) => it.fetchTopicMetadata({ topics: [topic] }));
  return topics[0].partitions.map(({ partitionId }) => partitionId).sort((a, b) => a - b);
}

async function createTopic({ topic, partitions: numPartitions, configs, ...command }) {
  const configEntries = Object.entries(configs || {}).map(([name, value]) => ({ name, value }));
  const topics = [{ topic, numPartitions, replicationFactor: -1, configEntries }];
  const created = await admin(command, (it) => it.createTopics({ topics, timeout: LIMIT_MS }));
  if (!created) throw new Error(`topic ${topic} exists already`); // it says so by false
  return {};
}

async function deleteTopic({ topic, ...command }) {
  await admin(command, (it) => it.deleteTopics({ topics: [topic], timeout: LIMIT_MS }));
  return {};
}

const VERBS = {
  produce,
  consumer: open,
  poll,
  positions: async () => ({ offsets: positions }),
  commit,
  close: async () => {
    await consumer.disconnect();
    return {};
  },
  committed: async (command) => ({ offsets: await committed(command) }),
  topics: async (command) => ({ topics: await admin(command, (it) => it.listTopics()) }),
  partitions: async (command) => ({ partitions: await partitions(command) }),
  offsets: async (command) => ({ offsets: await offsets(command) }),
  create_topic: createTopic,
  delete_topic: deleteTopic,
};

async function main() {
  await zstd.init();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    let answer;
    try {
      answer = await VERBS[command.do](command);
    } catch (error) {
      answer = { error: String(error.message || error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  process.exit(0);
}

main();
