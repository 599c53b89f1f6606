// Writes one value, and reads another: node kafkajs.js URL SCHEMA HEX
const { SchemaRegistry, SchemaType } = require("@kafkajs/confluent-schema-registry");

async function main() {
  const [url, schema, hex] = process.argv.slice(2);
  const registry = new SchemaRegistry({ host: url });
  const { id } = await registry.register(
    { type: SchemaType.AVRO, schema },
    { subject: "orders-value" },
  );
  const wrote = await registry.encode(id, { id: 1, item: "nut" });
  const read = await registry.decode(Buffer.from(hex, "hex"));
  console.log(JSON.stringify({ wrote: wrote.toString("hex"), read }));
}

main();
