import java.nio.file.Path;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Each order is counted for its customer: Counting GROUP_PROTOCOL. */
public class Counting {
    static class Count implements FixedKeyProcessor<String, String, String> {
        private FixedKeyProcessorContext<String, String> context;
        private KeyValueStore<String, Long> counts;

        @Override
        public void init(FixedKeyProcessorContext<String, String> context) {
            this.context = context;
            counts = context.getStateStore("counts");
        }

        @Override
        public void process(FixedKeyRecord<String, String> order) {
            Long before = counts.get(order.key());
            long count = before == null ? 1 : before + 1;
            counts.put(order.key(), count);
            String value = order.value().replaceFirst("\\}$", ", \"count\": " + count + "}");
            context.forward(order.withValue(value));
        }
    }

    public static void main(String[] arguments) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "application");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, arguments[0]);
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        config.put(StreamsConfig.STATE_DIR_CONFIG, Path.of("state-" + System.getenv("INSTANCE")).toString());
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), 10000);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        if (arguments[0].equals("classic")) {
            config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6000);
            config.put(StreamsConfig.consumerPrefix("heartbeat.interval.ms"), 500);
        }
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("counts"), Serdes.String(), Serdes.Long()));
        builder.<String, String>stream("orders").processValues(Count::new, "counts").to("invoices");
        KafkaStreams streams = new KafkaStreams(builder.build(), config);
        streams.setUncaughtExceptionHandler(error -> StreamThreadExceptionResponse.REPLACE_THREAD);
        streams.start();
    }
}
