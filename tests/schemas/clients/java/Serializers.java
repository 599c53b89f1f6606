import io.confluent.connect.avro.AvroConverter;
import io.confluent.kafka.serializers.KafkaAvroDeserializer;
import io.confluent.kafka.serializers.KafkaAvroSerializer;
import java.util.HexFormat;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** Writes one value, and reads another: Serializers WHICH URL SCHEMA HEX. */
public final class Serializers {
    public static void main(String[] given) {
        byte[] data = HexFormat.of().parseHex(given[3]);
        Map<String, Object> config = Map.of("schema.registry.url", given[1]);
        if (given[0].equals("connect")) {
            connect(config, data);
        } else {
            serializer(config, given[2], data);
        }
    }

    private static void serializer(Map<String, Object> config, String text, byte[] data) {
        GenericRecord order = new GenericData.Record(new Schema.Parser().parse(text));
        order.put("id", 1L);
        order.put("item", "nut");
        KafkaAvroSerializer serializer = new KafkaAvroSerializer();
        serializer.configure(config, false);
        byte[] wrote = serializer.serialize("orders", order);
        KafkaAvroDeserializer deserializer = new KafkaAvroDeserializer();
        deserializer.configure(config, false);
        say(wrote, (GenericRecord) deserializer.deserialize("orders", data));
    }

    private static void connect(Map<String, Object> config, byte[] data) {
        AvroConverter converter = new AvroConverter();
        converter.configure(config, false);
        var schema = SchemaBuilder.struct().name("Order")
            .field("id", org.apache.kafka.connect.data.Schema.INT64_SCHEMA)
            .field("item", org.apache.kafka.connect.data.Schema.STRING_SCHEMA).build();
        Struct order = new Struct(schema).put("id", 1L).put("item", "nut");
        byte[] wrote = converter.fromConnectData("connected", schema, order);
        Struct read = (Struct) converter.toConnectData("orders", data).value();
        String json = String.format("{\"id\": %d, \"item\": \"%s\"}", read.getInt64("id"), read.getString("item"));
        System.out.printf("{\"wrote\": \"%s\", \"read\": %s}%n", HexFormat.of().formatHex(wrote), json);
    }

    private static void say(byte[] wrote, Object read) {
        System.out.printf("{\"wrote\": \"%s\", \"read\": %s}%n", HexFormat.of().formatHex(wrote), read);
    }
}
