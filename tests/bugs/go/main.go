// Program app is a service with franz-go that has a bug, or the same without it: BUG bug|right.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	background = context.Background()
	right      = os.Args[2] == "right"
	bugs       = map[string]func(){
		"auto_commit_with_a_worker": autoCommitWithAWorker,
		"delivery_errors_ignored":   deliveryErrorsIgnored,
		"reads_uncommitted":         readsUncommitted,
		"begins_at_the_end":         beginsAtTheEnd,
		"offsets_outside":           offsetsOutside,
	}
)

func main() { bugs[os.Args[1]]() }

func check(err error) {
	if err != nil {
		log.Fatal(err) // the next process goes on at what is committed
	}
}

// Order is what the service understands of a record.
type Order struct {
	ID     *int `json:"id"`
	Amount int  `json:"amount"`
}

// Invoice makes the record of an order; nil of what is none: poison, a tombstone.
func invoice(record *kgo.Record) *kgo.Record {
	var order Order
	if json.Unmarshal(record.Value, &order) != nil || order.ID == nil {
		return nil
	}
	value, err := json.Marshal(map[string]int{"id": *order.ID, "paid": order.Amount})
	check(err)
	return &kgo.Record{Topic: "invoices", Key: record.Key, Value: value}
}

func options(more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS")),
		kgo.ConsumerGroup("app"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.HeartbeatInterval(100 * time.Millisecond),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.MetadataMinAge(50 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }),
		kgo.ProducerLinger(0),
	}, more...)
}

func newClient(more ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(options(more...)...)
	check(err)
	return client
}

func taken(fetches kgo.Fetches) []*kgo.Record {
	fetches.EachError(func(_ string, _ int32, err error) {
		var lost *kgo.ErrDataLoss
		if !errors.As(err, &lost) {
			log.Fatal(err)
		}
	})
	return fetches.Records()
}

func write(client *kgo.Client, record *kgo.Record) {
	if made := invoice(record); made != nil {
		check(client.ProduceSync(background, made).FirstErr())
	}
}

// What is refused is read again by somebody.
func commit(client *kgo.Client, record *kgo.Record) {
	if err := client.CommitRecords(background, record); err != nil {
		log.Print("not committed: ", err)
	}
}

func copyAll(more ...kgo.Opt) {
	client := newClient(append(more, kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	for {
		for _, record := range taken(client.PollRecords(background, 8)) {
			write(client, record)
			commit(client, record)
		}
		client.AllowRebalance()
	}
}

func autoCommitWithAWorker() {
	if right {
		copyAll()
	}
	client := newClient(kgo.AutoCommitInterval(100 * time.Millisecond))
	work := make(chan *kgo.Record, 1000)
	go func() {
		for record := range work {
			time.Sleep(10 * time.Millisecond)
			write(client, record)
		}
	}()
	for {
		for _, record := range taken(client.PollRecords(background, 8)) {
			work <- record
		}
	}
}

func deliveryErrorsIgnored() {
	if right {
		copyAll()
	}
	client := newClient(kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())
	for {
		for _, record := range taken(client.PollRecords(background, 8)) {
			if made := invoice(record); made != nil {
				client.Produce(background, made, nil)
			}
			check(client.Flush(background))
			commit(client, record)
		}
		client.AllowRebalance()
	}
}

func readsUncommitted() {
	if right {
		copyAll()
	}
	copyAll(kgo.FetchIsolationLevel(kgo.ReadUncommitted()))
}

func beginsAtTheEnd() {
	if right {
		copyAll()
	}
	copyAll(kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
}

func offsetsOutside() {
	own := kgo.TransactionalID("app-" + os.Getenv("SERVICE_INSTANCE"))
	limit := kgo.TransactionTimeout(20 * time.Second)
	if right {
		inTransactions(options(own, limit, kgo.RequireStableFetchOffsets()))
	}
	client := newClient(own, limit, kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())
	for {
		for _, record := range taken(client.PollRecords(background, 8)) {
			check(client.BeginTransaction())
			write(client, record)
			check(client.EndTransaction(background, kgo.TryCommit))
			commit(client, record)
		}
		client.AllowRebalance()
	}
}

func inTransactions(options []kgo.Opt) {
	session, err := kgo.NewGroupTransactSession(options...)
	check(err)
	for {
		records := taken(session.PollRecords(background, 8))
		if len(records) == 0 {
			continue
		}
		check(session.Begin())
		for _, record := range records {
			if made := invoice(record); made != nil {
				check(session.ProduceSync(background, made).FirstErr())
			}
		}
		committed, err := session.End(background, kgo.TryCommit)
		check(err)
		if !committed {
			log.Print("a rebalance: read again")
		}
	}
}
