import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Each order is counted for its customer. */
public class Counting {
    static class Count extends KeyedProcessFunction<String, String, String> {
        private transient ValueState<Long> counts;

        @Override
        public void open(OpenContext context) {
            counts = getRuntimeContext().getState(new ValueStateDescriptor<>("counts", Long.class));
        }

        @Override
        public void processElement(String order, Context context, Collector<String> out) throws Exception {
            long count = counts.value() == null ? 1 : counts.value() + 1;
            counts.update(count);
            out.collect(order.replaceFirst("\\}$", ", \"count\": " + count + "}"));
        }
    }

    static String customer(String order) {
        return order.replaceFirst(".*\"customer\": \"([^\"]*)\".*", "$1");
    }

    public static void main(String[] arguments) throws Exception {
        Path checkpoints = Path.of("checkpoints").toAbsolutePath();
        Files.createDirectories(checkpoints);
        Configuration config = new Configuration();
        config.setString("execution.checkpointing.interval", "500ms");
        config.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
        config.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
        config.setString("restart-strategy.type", "fixed-delay");
        config.setString("restart-strategy.fixed-delay.attempts", "100");
        config.setString("restart-strategy.fixed-delay.delay", "1s");
        last(checkpoints).ifPresent(path -> config.setString("execution.state-recovery.path", path.toUri().toString()));
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(2, config);
        String address = System.getenv("KAFKA_BOOTSTRAP_SERVERS");
        KafkaSource<String> orders = KafkaSource.<String>builder()
                .setBootstrapServers(address)
                .setTopics("orders")
                .setGroupId("application")
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setProperty("isolation.level", "read_committed")
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
        KafkaSink<String> invoices = KafkaSink.<String>builder()
                .setBootstrapServers(address)
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix("application")
                .setProperty("transaction.timeout.ms", "60000")
                .setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
                        .setTopic("invoices")
                        .setKeySerializationSchema((String order) -> customer(order).getBytes())
                        .setValueSerializationSchema(new SimpleStringSchema())
                        .build())
                .build();
        environment.fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
                .keyBy(Counting::customer)
                .process(new Count())
                .sinkTo(invoices);
        environment.execute("application");
    }

    /** The newest checkpoint that is whole. */
    static Optional<Path> last(Path checkpoints) throws Exception {
        try (Stream<Path> files = Files.walk(checkpoints)) {
            return files.filter(path -> path.endsWith("_metadata"))
                    .max(Comparator.comparingLong(path -> path.toFile().lastModified()))
                    .map(Path::getParent);
        }
    }
}
