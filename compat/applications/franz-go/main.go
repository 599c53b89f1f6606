// Program franz-go: each poll of orders becomes invoices, in one transaction with its offsets.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		log.Fatal(err) // the next process goes on at what is committed
	}
}

func main() {
	background := context.Background()
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS")),
		kgo.TransactionalID("application-"+os.Getenv("INSTANCE")),
		kgo.TransactionTimeout(10*time.Second),
		kgo.ConsumerGroup("application"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
		kgo.SessionTimeout(6*time.Second),
		kgo.HeartbeatInterval(500*time.Millisecond),
	)
	check(err)
	for {
		fetches := session.PollRecords(background, 20)
		if err := fetches.Err(); err != nil {
			log.Print(err) // beside it there may be records
		}
		check(session.Begin())
		var failed kgo.FirstErrPromise
		fetches.EachRecord(func(record *kgo.Record) {
			var order struct{ Order int }
			check(json.Unmarshal(record.Value, &order))
			value := fmt.Sprintf(`{"order": %d, "paid": true}`, order.Order)
			invoice := &kgo.Record{Topic: "invoices", Key: record.Key, Value: []byte(value)}
			session.Produce(background, invoice, failed.Promise())
		})
		commit := kgo.TransactionEndTry(failed.Err() == nil)
		_, err := session.End(background, commit) // what is not committed is polled again
		check(err)
	}
}
