// Writes one value, and reads another: node confluent.js URL SCHEMA HEX
const {
  AvroDeserializer,
  AvroSerializer,
  SchemaRegistryClient,
  SerdeType,
} = require("@confluentinc/schemaregistry");

async function main() {
  const [url, schema, hex] = process.argv.slice(2);
  const client = new SchemaRegistryClient({ baseURLs: [url] });
  await client.register("orders-value", { schemaType: "AVRO", schema });
  const serializer = new AvroSerializer(client, SerdeType.VALUE, { useLatestVersion: true });
  const wrote = await serializer.serialize("orders", { id: 1, item: "nut" });
  const deserializer = new AvroDeserializer(client, SerdeType.VALUE, {});
  const read = await deserializer.deserialize("orders", Buffer.from(hex, "hex"));
  console.log(JSON.stringify({ wrote: wrote.toString("hex"), read }));
}

main();
