package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

type franz struct{}

func (franz) options(command Command, more ...kgo.Opt) []kgo.Opt {
	options := append(more, kgo.SeedBrokers(command.brokers()...))
	security := command.Security
	if config := security.tls(); config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	var mechanism sasl.Mechanism
	switch scrammed := (scram.Auth{User: security.User, Pass: security.Password}); security.Mechanism {
	case "PLAIN":
		mechanism = plain.Auth{User: security.User, Pass: security.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		mechanism = scrammed.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		mechanism = scrammed.AsSha512Mechanism()
	case "OAUTHBEARER":
		mechanism = oauth.Auth{Token: security.Token}.AsMechanism()
	default:
		return options
	}
	return append(options, kgo.SASL(mechanism))
}

func (f franz) client(command Command, more ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(f.options(command, more...)...)
}

var franzCodecs = map[string]kgo.CompressionCodec{
	"": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func (f franz) Produce(command Command) ([][2]int64, error) {
	options := []kgo.Opt{
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(franzCodecs[command.Compression]),
	}
	switch command.Acks {
	case 0:
		options = append(options, kgo.RequiredAcks(kgo.NoAck()))
	case 1:
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if command.TransactionalID != "" {
		options = append(options, kgo.TransactionalID(command.TransactionalID))
	} else if !command.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	if command.Partition != nil {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	client, err := f.client(command, options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if command.TransactionalID != "" {
		if err := client.BeginTransaction(); err != nil {
			return nil, err
		}
	}
	context, cancel := within(limit)
	defer cancel()
	sent := f.records(command)
	results := client.ProduceSync(context, sent...)
	if err := results.FirstErr(); err != nil {
		return nil, err
	}
	if command.TransactionalID != "" {
		if err := client.EndTransaction(context, kgo.TransactionEndTry(!command.Abort)); err != nil {
			return nil, err
		}
	}
	places := make([][2]int64, len(sent))
	for n, record := range sent { // the results are in the order of the acknowledgements
		places[n] = [2]int64{int64(record.Partition), record.Offset}
	}
	return places, nil
}

func (franz) records(command Command) []*kgo.Record {
	made := []*kgo.Record{}
	for _, each := range command.Records {
		record := &kgo.Record{
			Topic: command.Topic, Key: bytesOf(each.Key), Value: bytesOf(each.Value), Timestamp: when(each.Timestamp),
		}
		if command.Partition != nil {
			record.Partition = *command.Partition
		}
		for _, header := range each.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: header.Name, Value: bytesOf(header.Value)})
		}
		made = append(made, record)
	}
	return made
}

func (f franz) Consume(command Command, starts Offsets) (Consumer, error) {
	running := &franzConsumer{topic: command.Topic, assigned: map[int32]bool{}}
	options := []kgo.Opt{}
	if command.Committed {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if command.Group == "" {
		places := map[int32]kgo.Offset{}
		for partition, offset := range starts {
			places[partition] = kgo.NewOffset().At(offset)
			running.assigned[partition] = true
		}
		options = append(options, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{command.Topic: places}))
	} else {
		options = append(options, running.member(command)...)
	}
	var err error
	running.client, err = f.client(command, options...)
	return running, err
}

func (c *franzConsumer) member(command Command) []kgo.Opt {
	start := kgo.NewOffset().AtEnd()
	if command.Beginning {
		start = kgo.NewOffset().AtStart()
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(command.Group), kgo.ConsumeTopics(command.Topic), kgo.ConsumeResetOffset(start),
		kgo.DisableAutoCommit(), kgo.OnPartitionsAssigned(c.changed(true)),
		kgo.OnPartitionsRevoked(c.changed(false)), kgo.OnPartitionsLost(c.changed(false)),
	}
	if command.Protocol == "consumer" {
		return append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	return append(options,
		kgo.SessionTimeout(time.Duration(command.SessionMs)*time.Millisecond),
		kgo.HeartbeatInterval(time.Duration(command.HeartbeatMs)*time.Millisecond))
}

type franzConsumer struct {
	client   *kgo.Client
	topic    string
	mutex    sync.Mutex
	assigned map[int32]bool
}

func (c *franzConsumer) changed(gained bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, changed map[string][]int32) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		for _, partition := range changed[c.topic] {
			if gained {
				c.assigned[partition] = true
			} else {
				delete(c.assigned, partition)
			}
		}
	}
}

func (c *franzConsumer) Assigned() []int32 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	partitions := []int32{}
	for partition := range c.assigned {
		partitions = append(partitions, partition)
	}
	return partitions
}

func (c *franzConsumer) Poll(wait time.Duration, max int) ([]Record, error) {
	waiting, cancel := within(wait)
	defer cancel()
	fetches := c.client.PollRecords(waiting, max)
	if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	records := []Record{}
	fetches.EachRecord(func(each *kgo.Record) {
		record := Record{
			Partition: each.Partition, Offset: each.Offset, Timestamp: ms(each.Timestamp),
			Key: given(each.Key), Value: given(each.Value), Headers: []Header{},
		}
		for _, header := range each.Headers {
			record.Headers = append(record.Headers, Header{header.Key, given(header.Value)})
		}
		records = append(records, record)
	})
	return records, nil
}

func (c *franzConsumer) Commit(positions Offsets) error {
	offsets := map[int32]kgo.EpochOffset{}
	for partition, offset := range positions {
		offsets[partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	failed := error(nil)
	waiting, cancel := within(limit)
	defer cancel()
	committed := map[string]map[int32]kgo.EpochOffset{c.topic: offsets}
	c.client.CommitOffsetsSync(waiting, committed, franzCommitted(&failed))
	return failed
}

func (c *franzConsumer) Close() error {
	c.client.Close()
	return nil
}

func (f franz) admin(command Command, do func(context.Context, *kadm.Client) error, more ...kgo.Opt) error {
	client, err := f.client(command, more...)
	if err != nil {
		return err
	}
	defer client.Close()
	waiting, cancel := within(limit)
	defer cancel()
	return do(waiting, kadm.NewClient(client))
}

func (f franz) Committed(command Command) (Offsets, error) {
	found := Offsets{}
	return found, f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		committed, err := admin.FetchOffsets(waiting, command.Group)
		for partition, offset := range committed[command.Topic] {
			found[partition] = offset.At
		}
		return err
	})
}

func (f franz) Topics(command Command) (names []string, err error) {
	err = f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		topics, err := admin.ListTopicsWithInternal(waiting)
		names = topics.Names()
		return err
	})
	return names, err
}

func (f franz) Partitions(command Command, create bool) (numbers []int32, err error) {
	options := []kgo.Opt{}
	if create {
		options = append(options, kgo.AllowAutoTopicCreation())
	}
	err = f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		topics, err := admin.ListTopics(waiting, command.Topic)
		if err == nil {
			err = topics[command.Topic].Err
		}
		numbers = topics[command.Topic].Partitions.Numbers()
		return err
	}, options...)
	return numbers, err
}

func (f franz) Offsets(command Command) (Offsets, error) {
	found := Offsets{}
	err := f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		var listed kadm.ListedOffsets
		var err error
		switch command.Timestamp {
		case -1:
			listed, err = admin.ListEndOffsets(waiting, command.Topic)
		case -2:
			listed, err = admin.ListStartOffsets(waiting, command.Topic)
		default:
			listed, err = admin.ListOffsetsAfterMilli(waiting, command.Timestamp, command.Topic)
		}
		for partition, each := range listed[command.Topic] {
			found[partition] = each.Offset
			if command.Timestamp >= 0 && each.Timestamp < 0 { // it says the end where nothing is found
				found[partition] = -1
			}
		}
		return errors.Join(err, listed.Error())
	})
	return found, err
}

func (f franz) CreateTopic(command Command) error {
	configs := map[string]*string{}
	for name, value := range command.Configs {
		configs[name] = &value
	}
	return f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		_, err := admin.CreateTopic(waiting, int32(command.Partitions), -1, configs, command.Topic)
		return err
	})
}

func (f franz) DeleteTopic(command Command) error {
	return f.admin(command, func(waiting context.Context, admin *kadm.Client) error {
		_, err := admin.DeleteTopic(waiting, command.Topic)
		return err
	})
}

// franzCommitted keeps what is wrong with a commit.
func franzCommitted(
	failed *error,
) func(*kgo.Client, *kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse, error) {
	return func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
		*failed = err
		if response == nil {
			return
		}
		for _, topic := range response.Topics {
			for _, partition := range topic.Partitions {
				*failed = errors.Join(*failed, kerr.ErrorForCode(partition.ErrorCode))
			}
		}
	}
}
