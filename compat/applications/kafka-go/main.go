// Program kafka-go: each order becomes an invoice, whose offset is committed after it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err) // the next process goes on at what is committed
	}
}

func main() {
	background := context.Background()
	address := os.Getenv("KAFKA_BOOTSTRAP_SERVERS")
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers:          []string{address},
		GroupID:          "application",
		Topic:            "orders",
		StartOffset:      kafka.FirstOffset,
		MaxWait:          100 * time.Millisecond,
		SessionTimeout:   6 * time.Second,
		JoinGroupBackoff: time.Second,
	})
	writer := &kafka.Writer{
		Addr:         kafka.TCP(address),
		Topic:        "invoices",
		Balancer:     &kafka.Hash{},
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond,
		MaxAttempts:  30,
	}
	for {
		message, err := reader.FetchMessage(background)
		check(err)
		var order struct{ Order int }
		check(json.Unmarshal(message.Value, &order))
		value := fmt.Sprintf(`{"order": %d, "paid": true}`, order.Order)
		check(writer.WriteMessages(background, kafka.Message{Key: message.Key, Value: []byte(value)}))
		check(reader.CommitMessages(background, message))
	}
}
