import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.types.Schema;

/**
 * Kafka's own classes for messages and records, driven from outside: one line of JSON is a command,
 * one line is its answer; bytes travel in base64. A command that fails is answered {"error": ...}.
 *
 *   {"do": "apis"}                                        every API: its key and the names of its messages
 *   {"do": "versions", "name"}                            first and last version, or nothing
 *   {"do": "fill", "name", "version", "seed"}             a message filled with values: see Filler
 *   {"do": "read", "name", "version", "bytes"}            what it holds, and what it is when written again
 *   {"do": "build" | "records" | "marker", ...}           see Batches
 *   {"do": "refuse", ...}                                 see Refusals
 *
 * A message is named as its schema is; the class may have "Data" after that.
 */
public final class JavaWire {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.common.metadata.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.share.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
    };

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // nothing else may be printed between answers
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                carryOut(JSON.readTree(line), answer);
            } catch (InvocationTargetException e) {
                answer = JSON.createObjectNode().put("error", e.getCause().toString());
            } catch (Exception e) {
                answer = JSON.createObjectNode().put("error", e.toString());
            }
            out.println(answer);
            out.flush();
        }
    }

    private static void carryOut(JsonNode command, ObjectNode answer) throws Exception {
        switch (command.get("do").asText()) {
            case "apis" -> apis(answer);
            case "versions" -> versions(command.get("name").asText(), answer);
            case "fill" -> fill(command, answer);
            case "read" -> read(command, answer);
            case "build" -> Batches.build(command, answer);
            case "records" -> Batches.records(command, answer);
            case "marker" -> Batches.marker(command, answer);
            case "refuse" -> Refusals.refuse(command, answer);
            default -> throw new IllegalArgumentException("no such command: " + command);
        }
    }

    private static void apis(ObjectNode answer) {
        var apis = answer.putArray("apis");
        for (ApiMessageType type : ApiMessageType.values()) {
            var api = apis.addObject().put("key", type.apiKey());
            api.put("name", type.name);
            var listeners = api.putArray("listeners");
            type.listeners().forEach(listener -> listeners.add(listener.name()));
        }
    }

    private static void versions(String name, ObjectNode answer) throws Exception {
        Class<?> type = find(name);
        if (type != null) {
            Message message = (Message) type.getConstructor().newInstance();
            answer.put("first", message.lowestSupportedVersion());
            answer.put("last", message.highestSupportedVersion());
        }
    }

    private static void fill(JsonNode command, ObjectNode answer) throws Exception {
        Class<?> type = find(command.get("name").asText());
        short version = (short) command.get("version").asInt();
        Schema schema = ((Schema[]) type.getField("SCHEMAS").get(null))[version];
        long seed = command.get("seed").asLong();
        Message plain = new Filler(seed, false).struct(type, schema);
        answer.put("plain", bytes(plain, version));
        answer.put("tagged", bytes(new Filler(seed, true).struct(type, schema), version));
        answer.set("values", values(plain, version));
    }

    private static void read(JsonNode command, ObjectNode answer) throws Exception {
        Class<?> type = find(command.get("name").asText());
        short version = (short) command.get("version").asInt();
        var source = new ByteBufferAccessor(ByteBuffer.wrap(command.get("bytes").binaryValue()));
        var constructor = type.getConstructor(Readable.class, short.class);
        Message message = (Message) constructor.newInstance(source, version);
        answer.put("left", source.remaining());
        answer.put("again", bytes(message, version));
        answer.set("values", values(message, version));
    }

    private static Class<?> find(String name) {
        for (String suffix : new String[] {"Data", ""}) {
            for (String around : PACKAGES) {
                try {
                    return Class.forName(around + name + suffix);
                } catch (ClassNotFoundException e) {
                    continue;
                }
            }
        }
        return null;
    }

    static byte[] bytes(Message message, short version) {
        var cache = new ObjectSerializationCache();
        var buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("it said it needs " + buffer.remaining() + " bytes more");
        }
        return buffer.array();
    }

    /** The fields of a message, by Kafka's converter for its class. Of records, the size. */
    private static JsonNode values(Message message, short version) throws Exception {
        Class<?> type = message.getClass();
        return (JsonNode) Class.forName(type.getName() + "JsonConverter")
            .getMethod("write", type, short.class, boolean.class)
            .invoke(null, message, version, false);
    }
}
