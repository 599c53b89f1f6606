import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;

/** Each order becomes an invoice, in one transaction with its offset. */
@Configuration
@EnableKafka
public class Billing {
    private static final String ADDRESS = System.getenv("KAFKA_BOOTSTRAP_SERVERS");

    @Autowired
    KafkaTemplate<String, String> template;

    @KafkaListener(topics = "orders", groupId = "application", concurrency = "2")
    public void bill(ConsumerRecord<String, String> order) {
        template.send("invoices", order.key(), order.value());
    }

    @Bean
    static ProducerFactory<String, String> producers() {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", ADDRESS);
        config.put("transaction.timeout.ms", 10000);
        DefaultKafkaProducerFactory<String, String> factory =
                new DefaultKafkaProducerFactory<>(config, new StringSerializer(), new StringSerializer());
        factory.setTransactionIdPrefix("application-");
        return factory;
    }

    @Bean
    static KafkaTemplate<String, String> template(ProducerFactory<String, String> producers) {
        return new KafkaTemplate<>(producers);
    }

    @Bean
    static ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
            ProducerFactory<String, String> producers) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", ADDRESS);
        config.put("auto.offset.reset", "earliest");
        config.put("isolation.level", "read_committed");
        config.put("session.timeout.ms", 6000);
        config.put("heartbeat.interval.ms", 500);
        ConcurrentKafkaListenerContainerFactory<String, String> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(
                config, new StringDeserializer(), new StringDeserializer()));
        factory.getContainerProperties().setKafkaAwareTransactionManager(
                new KafkaTransactionManager<>(producers));
        return factory;
    }

    public static void main(String[] arguments) throws Exception {
        new AnnotationConfigApplicationContext(Billing.class);
        Thread.currentThread().join();
    }
}
