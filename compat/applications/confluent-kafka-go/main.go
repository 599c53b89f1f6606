// Program confluent-kafka-go: each order becomes an invoice, in one transaction with its offset.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func check(err error) {
	if err != nil {
		log.Fatal(err) // the next process goes on at what is committed
	}
}

func main() {
	background := context.Background()
	address := os.Getenv("KAFKA_BOOTSTRAP_SERVERS")
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers":  address,
		"group.id":           "application",
		"group.protocol":     "consumer",
		"auto.offset.reset":  "earliest",
		"enable.auto.commit": false,
		"isolation.level":    "read_committed",
	})
	check(err)
	check(consumer.SubscribeTopics([]string{"orders"}, nil))
	producer, err := kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers":      address,
		"transactional.id":       "application",
		"transaction.timeout.ms": 10000,
		"linger.ms":              0,
	})
	check(err)
	go func() {
		for event := range producer.Events() {
			if message, is := event.(*kafka.Message); is {
				check(message.TopicPartition.Error)
			}
		}
	}()
	check(producer.InitTransactions(background))
	topic := "invoices"
	for {
		message, err := consumer.ReadMessage(100 * time.Millisecond)
		if err != nil {
			continue // nothing yet, or the broker is away
		}
		var order struct{ Order int }
		check(json.Unmarshal(message.Value, &order))
		check(producer.BeginTransaction())
		value := fmt.Sprintf(`{"order": %d, "paid": true}`, order.Order)
		check(producer.Produce(&kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
			Key:            message.Key,
			Value:          []byte(value),
		}, nil))
		place := message.TopicPartition
		place.Offset++
		metadata, err := consumer.GetConsumerGroupMetadata()
		check(err)
		check(producer.SendOffsetsToTransaction(background, []kafka.TopicPartition{place}, metadata))
		check(producer.CommitTransaction(background))
	}
}
