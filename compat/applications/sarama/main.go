// Program sarama: each order becomes an invoice, in one transaction with its offset.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
)

type handler struct{ producer sarama.AsyncProducer }

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			bill(h.producer, message)
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

var turn = make(chan struct{}, 1) // one transaction at a time

func bill(producer sarama.AsyncProducer, message *sarama.ConsumerMessage) {
	turn <- struct{}{}
	defer func() { <-turn }()
	var order struct{ Order int }
	check(json.Unmarshal(message.Value, &order))
	check(producer.BeginTxn())
	producer.Input() <- &sarama.ProducerMessage{
		Topic: "invoices",
		Key:   sarama.ByteEncoder(message.Key),
		Value: sarama.StringEncoder(fmt.Sprintf(`{"order": %d, "paid": true}`, order.Order)),
	}
	check(producer.AddMessageToTxn(message, "application", nil))
	check(producer.CommitTxn())
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // the next process goes on at what is committed
	}
}

func main() {
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = time.Second
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Transaction.ID = "application"
	config.Net.MaxOpenRequests = 1
	brokers := []string{os.Getenv("KAFKA_BOOTSTRAP_SERVERS")}

	producer, err := sarama.NewAsyncProducer(brokers, config)
	check(err)
	go func() {
		for err := range producer.Errors() {
			log.Fatal(err)
		}
	}()
	group, err := sarama.NewConsumerGroup(brokers, "application", config)
	check(err)
	for {
		check(group.Consume(context.Background(), []string{"orders"}, handler{producer}))
	}
}
