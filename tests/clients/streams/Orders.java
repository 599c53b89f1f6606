import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyQueryMetadata;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.Stores;

/**
 * Joins orders with payments of the same key that are at most ten seconds apart, and counts orders by
 * key in the store "counts", which is asked through standard input:
 *
 *     find KEY    prints "found KEY HOST:PORT STANDBYS", where the key's count is kept
 *     get KEY     prints "count KEY N", from the store of this instance, or "count KEY null"
 *     hosts       prints "hosts HOST:PORT ...", all instances that have a store or a standby
 *
 * Configs come as "name=value". It prints each state that it comes to, and ends with its input.
 */
public final class Orders {
    private static final String STORE = "counts";

    public static void main(String[] pairs) throws Exception {
        Properties config = new Properties();
        for (String pair : pairs) {
            int at = pair.indexOf('=');
            config.put(pair.substring(0, at), pair.substring(at + 1));
        }
        KafkaStreams streams = new KafkaStreams(application().build(config), config);
        streams.setUncaughtExceptionHandler(error -> {
            System.out.println("error " + error);
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        streams.setStateListener((now, before) -> System.out.println("state " + now));
        streams.start();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            try {
                System.out.println(answer(streams, line.split(" ")));
            } catch (RuntimeException error) {
                System.out.println("failed " + line + ": " + error);
            }
        }
        streams.close();
        System.out.println("closed");
    }

    private static StreamsBuilder application() {
        var text = Serdes.String();
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> orders = builder.stream("orders", Consumed.with(text, text));
        orders.join(
                builder.stream("payments", Consumed.with(text, text)),
                (order, payment) -> order + "+" + payment,
                JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(10), Duration.ofDays(1)),
                StreamJoined.with(text, text, text))
            .to("paid", Produced.with(text, text));
        orders.groupByKey(Grouped.with(text, text))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore(STORE))
                .withKeySerde(text).withValueSerde(Serdes.Long()));
        return builder;
    }

    private static String answer(KafkaStreams streams, String[] words) {
        switch (words[0]) {
            case "find":
                KeyQueryMetadata found =
                    streams.queryMetadataForKey(STORE, words[1], Serdes.String().serializer());
                String standbys = found.standbyHosts().stream()
                    .map(each -> each.host() + ":" + each.port())
                    .collect(Collectors.joining(","));
                return "found " + words[1] + " " + found.activeHost().host() + ":"
                    + found.activeHost().port() + " " + (standbys.isEmpty() ? "-" : standbys);
            case "get":
                Object count = streams.store(StoreQueryParameters.fromNameAndType(
                    STORE, QueryableStoreTypes.<String, Long>keyValueStore())).get(words[1]);
                return "count " + words[1] + " " + count;
            default:
                return "hosts " + String.join(" ", streams.metadataForAllStreamsClients().stream()
                    .map(each -> each.host() + ":" + each.port())
                    .collect(Collectors.toCollection(TreeSet::new)));
        }
    }
}
