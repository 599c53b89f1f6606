import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.utils.Utils;

/**
 * Batches of records, and message sets, written and read as Kafka does it.
 *
 *   build    magic, codec (its name), base_offset, log_append_time (ms, -1 for none), producer_id,
 *            producer_epoch, base_sequence, transactional, leader_epoch, records: the bytes
 *   records  bytes: every batch in them, checked, and its records
 *   marker   commit, coordinator_epoch, base_offset, timestamp, leader_epoch, producer_id,
 *            producer_epoch: the bytes of the batch that ends a transaction
 *
 * A record is {offset, timestamp, key, value, headers: [[key, value], ...]}.
 */
final class Batches {
    private static final int FIRST_SIZE = 1024;

    static void build(JsonNode command, ObjectNode answer) throws IOException {
        long appendTime = command.get("log_append_time").asLong();
        var type = appendTime >= 0 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        var builder = MemoryRecords.builder(
            ByteBuffer.allocate(FIRST_SIZE),
            (byte) command.get("magic").asInt(),
            Compression.of(command.get("codec").asText()).build(),
            type,
            command.get("base_offset").asLong(),
            appendTime,
            command.get("producer_id").asLong(),
            (short) command.get("producer_epoch").asInt(),
            command.get("base_sequence").asInt(),
            command.get("transactional").asBoolean(),
            command.get("leader_epoch").asInt());
        for (JsonNode record : command.get("records")) {
            builder.appendWithOffset(
                record.get("offset").asLong(),
                record.get("timestamp").asLong(),
                buffer(record.get("key")),
                buffer(record.get("value")),
                headers(record.get("headers")));
        }
        answer.put("bytes", Utils.toArray(builder.build().buffer()));
    }

    static void records(JsonNode command, ObjectNode answer) throws IOException {
        var found = answer.putArray("batches");
        var buffer = ByteBuffer.wrap(command.get("bytes").binaryValue());
        for (var batch : MemoryRecords.readableRecords(buffer).batches()) {
            batch.ensureValid();
            var shown = found.addObject();
            shown.put("magic", batch.magic());
            shown.put("codec", batch.compressionType().name);
            shown.put("base_offset", batch.baseOffset());
            shown.put("last_offset", batch.lastOffset());
            shown.put("max_timestamp", batch.maxTimestamp());
            shown.put("log_append_time", batch.timestampType() == TimestampType.LOG_APPEND_TIME);
            shown.put("producer_id", batch.producerId());
            shown.put("producer_epoch", batch.producerEpoch());
            shown.put("base_sequence", batch.baseSequence());
            shown.put("last_sequence", batch.lastSequence());
            shown.put("leader_epoch", batch.partitionLeaderEpoch());
            shown.put("transactional", batch.isTransactional());
            shown.put("control", batch.isControlBatch());
            shown.put("delete_horizon", batch.deleteHorizonMs().orElse(-1));
            shown.put("size", batch.sizeInBytes());
            var records = shown.putArray("records");
            for (var record : batch) {
                record.ensureValid();
                var row = records.addObject();
                row.put("offset", record.offset()).put("timestamp", record.timestamp());
                row.put("key", record.hasKey() ? Utils.toArray(record.key()) : null);
                row.put("value", record.hasValue() ? Utils.toArray(record.value()) : null);
                var headers = row.putArray("headers");
                for (Header header : record.headers()) {
                    headers.addArray().add(header.key()).add(header.value());
                }
            }
        }
    }

    static void marker(JsonNode command, ObjectNode answer) {
        boolean commit = command.get("commit").asBoolean();
        var kind = commit ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
        var records = MemoryRecords.withEndTransactionMarker(
            command.get("base_offset").asLong(),
            command.get("timestamp").asLong(),
            command.get("leader_epoch").asInt(),
            command.get("producer_id").asLong(),
            (short) command.get("producer_epoch").asInt(),
            new EndTransactionMarker(kind, command.get("coordinator_epoch").asInt()));
        answer.put("bytes", Utils.toArray(records.buffer()));
    }

    private static ByteBuffer buffer(JsonNode node) throws IOException {
        return node.isNull() ? null : ByteBuffer.wrap(node.binaryValue());
    }

    private static Header[] headers(JsonNode nodes) throws IOException {
        Header[] headers = new Header[nodes.size()];
        for (int i = 0; i < headers.length; i++) {
            var value = (ArrayNode) nodes.get(i);
            headers[i] = new RecordHeader(
                value.get(0).asText(), value.get(1).isNull() ? null : value.get(1).binaryValue());
        }
        return headers;
    }
}
