// Program franz is a share consumer of franz-go: BOOTSTRAP TOPIC GROUP COUNT. It accepts records,
// rejects those whose value is "bad", and releases those whose value is "again" at their first
// delivery. It prints a line for each delivery: offset, delivery count, value; and ends when it is
// done with COUNT records and the broker has taken all acknowledgements.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	count, err := strconv.Atoi(os.Args[4])
	check(err)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]),
		kgo.ConsumeTopics(os.Args[2]),
		kgo.ShareGroup(os.Args[3]),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			check(results.Error())
		}),
	)
	check(err)
	limit, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for done := 0; done < count; {
		fetches := client.PollFetches(limit)
		check(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			value := string(record.Value)
			fmt.Println(record.Offset, record.DeliveryCount(), value)
			switch {
			case value == "again" && record.DeliveryCount() == 1:
				record.Ack(kgo.AckRelease)
				return
			case value == "bad":
				record.Ack(kgo.AckReject)
			default:
				record.Ack(kgo.AckAccept)
			}
			done++
		})
		check(client.FlushAcks(limit))
	}
	client.Close()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
