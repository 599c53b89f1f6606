package main

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// segment is kafka-go.
type segment struct{}

func segmentSecurity(security Security) (*tls.Config, sasl.Mechanism, error) {
	var mechanism sasl.Mechanism
	var err error
	switch security.Mechanism {
	case "PLAIN":
		mechanism = plain.Mechanism{Username: security.User, Password: security.Password}
	case "SCRAM-SHA-256":
		mechanism, err = scram.Mechanism(scram.SHA256, security.User, security.Password)
	case "SCRAM-SHA-512":
		mechanism, err = scram.Mechanism(scram.SHA512, security.User, security.Password)
	}
	return security.tls(), mechanism, err
}

func (segment) transport(command Command) (*kafka.Transport, error) {
	config, mechanism, err := segmentSecurity(command.Security)
	return &kafka.Transport{TLS: config, SASL: mechanism, MetadataTTL: time.Second}, err
}

func (segment) dialer(command Command) (*kafka.Dialer, error) {
	config, mechanism, err := segmentSecurity(command.Security)
	return &kafka.Dialer{Timeout: 10 * time.Second, TLS: config, SASLMechanism: mechanism}, err
}

func (s segment) with(command Command, do func(context.Context, *kafka.Client) error) error {
	transport, err := s.transport(command)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	waiting, cancel := within(limit)
	defer cancel()
	client := &kafka.Client{Addr: kafka.TCP(command.brokers()...), Transport: transport}
	err = do(waiting, client)
	for errors.Is(err, kafka.NotLeaderForPartition) && waiting.Err() == nil { // it does not ask again itself
		time.Sleep(100 * time.Millisecond)
		err = do(waiting, client)
	}
	return err
}

var segmentCodecs = map[string]kafka.Compression{
	"": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

func (s segment) Produce(command Command) ([][2]int64, error) {
	transport, err := s.transport(command)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	places := make([][2]int64, len(command.Records))
	var mutex sync.Mutex
	writer := &kafka.Writer{
		Addr: kafka.TCP(command.brokers()...), Topic: command.Topic, Transport: transport,
		RequiredAcks: kafka.RequiredAcks(command.Acks), Compression: segmentCodecs[command.Compression],
		AllowAutoTopicCreation: true, BatchTimeout: 10 * time.Millisecond, Balancer: &kafka.Hash{},
		Completion: func(messages []kafka.Message, _ error) {
			mutex.Lock()
			defer mutex.Unlock()
			for _, each := range messages {
				places[each.WriterData.(int)] = [2]int64{int64(each.Partition), each.Offset}
			}
		},
	}
	if command.Partition != nil {
		writer.Balancer = kafka.BalancerFunc(func(kafka.Message, ...int) int { return int(*command.Partition) })
	}
	messages := []kafka.Message{}
	for n, each := range command.Records {
		message := kafka.Message{
			Key: bytesOf(each.Key), Value: bytesOf(each.Value), Time: when(each.Timestamp), WriterData: n,
		}
		for _, header := range each.Headers {
			message.Headers = append(message.Headers, kafka.Header{Key: header.Name, Value: bytesOf(header.Value)})
		}
		messages = append(messages, message)
	}
	waiting, cancel := within(limit)
	defer cancel()
	err = writer.WriteMessages(waiting, messages...)
	for errors.Is(err, kafka.UnknownTopicOrPartition) && waiting.Err() == nil { // its first request creates it
		time.Sleep(100 * time.Millisecond)
		err = writer.WriteMessages(waiting, messages...)
	}
	return places, errors.Join(err, writer.Close())
}

func (s segment) Consume(command Command, starts Offsets) (Consumer, error) {
	dialer, err := s.dialer(command)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.Background())
	member := &segmentMember{command: command, dialer: dialer, running: running, stop: stop, records: make(chan Record)}
	if command.Group == "" {
		for partition, offset := range starts {
			member.assigned = append(member.assigned, partition)
			go member.read(running, int(partition), offset)
		}
		return member, nil
	}
	start := kafka.LastOffset
	if command.Beginning {
		start = kafka.FirstOffset
	}
	member.group, err = kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: command.Group, Brokers: command.brokers(), Dialer: dialer, Topics: []string{command.Topic},
		HeartbeatInterval: time.Duration(command.HeartbeatMs) * time.Millisecond,
		SessionTimeout:    time.Duration(command.SessionMs) * time.Millisecond,
		JoinGroupBackoff:  500 * time.Millisecond, StartOffset: start,
	})
	if err != nil {
		return nil, err
	}
	go member.join()
	return member, nil
}

type segmentMember struct {
	command    Command
	dialer     *kafka.Dialer
	group      *kafka.ConsumerGroup
	running    context.Context
	stop       func()
	records    chan Record
	mutex      sync.Mutex
	assigned   []int32
	generation *kafka.Generation
}

// join takes part in one generation after the other.
func (m *segmentMember) join() {
	for {
		generation, err := m.group.Next(m.running)
		if errors.Is(err, kafka.ErrGroupClosed) || m.running.Err() != nil {
			return
		}
		if err != nil {
			continue // it has waited, and joins anew
		}
		assigned := generation.Assignments[m.command.Topic]
		m.mutex.Lock()
		m.generation, m.assigned = generation, nil
		for _, each := range assigned {
			m.assigned = append(m.assigned, int32(each.ID))
		}
		m.mutex.Unlock()
		for _, each := range assigned {
			generation.Start(func(running context.Context) { m.read(running, each.ID, each.Offset) })
		}
	}
}

func (m *segmentMember) read(running context.Context, partition int, offset int64) {
	config := kafka.ReaderConfig{
		Brokers: m.command.brokers(), Topic: m.command.Topic, Partition: partition, Dialer: m.dialer,
		MaxWait: 200 * time.Millisecond, MaxBytes: 10e6,
	}
	if m.command.Committed {
		config.IsolationLevel = kafka.ReadCommitted
	}
	reader := kafka.NewReader(config)
	defer reader.Close()
	if reader.SetOffset(offset) != nil {
		return
	}
	for {
		message, err := reader.FetchMessage(running)
		if err != nil {
			return
		}
		record := Record{
			Partition: int32(message.Partition), Offset: message.Offset, Timestamp: ms(message.Time),
			Key: given(message.Key), Value: given(message.Value), Headers: []Header{},
		}
		for _, header := range message.Headers {
			record.Headers = append(record.Headers, Header{header.Key, given(header.Value)})
		}
		select {
		case m.records <- record:
		case <-running.Done():
			return
		}
	}
}

func (m *segmentMember) Poll(wait time.Duration, max int) ([]Record, error) {
	return drained(m.records, wait, max), nil
}

func (m *segmentMember) Assigned() []int32 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.assigned
}

func (m *segmentMember) Commit(positions Offsets) error {
	m.mutex.Lock()
	generation := m.generation
	m.mutex.Unlock()
	offsets := map[int]int64{}
	for partition, offset := range positions {
		offsets[int(partition)] = offset
	}
	return generation.CommitOffsets(map[string]map[int]int64{m.command.Topic: offsets})
}

func (m *segmentMember) Close() error {
	m.stop()
	if m.group == nil {
		return nil
	}
	return m.group.Close()
}

func (s segment) Committed(command Command) (Offsets, error) {
	partitions, err := s.Partitions(command, false)
	if err != nil {
		return nil, err
	}
	asked := []int{}
	for _, partition := range partitions {
		asked = append(asked, int(partition))
	}
	found := Offsets{}
	return found, s.with(command, func(waiting context.Context, client *kafka.Client) error {
		request := &kafka.OffsetFetchRequest{GroupID: command.Group, Topics: map[string][]int{command.Topic: asked}}
		answer, err := client.OffsetFetch(waiting, request)
		if err != nil {
			return err
		}
		for _, each := range answer.Topics[command.Topic] {
			if err = errors.Join(err, each.Error); each.CommittedOffset >= 0 {
				found[int32(each.Partition)] = each.CommittedOffset
			}
		}
		return errors.Join(err, answer.Error)
	})
}

func (s segment) Topics(command Command) (names []string, err error) {
	err = s.with(command, func(waiting context.Context, client *kafka.Client) error {
		answer, err := client.Metadata(waiting, &kafka.MetadataRequest{})
		if err != nil {
			return err
		}
		for _, topic := range answer.Topics {
			names = append(names, topic.Name)
		}
		return nil
	})
	return names, err
}

func (s segment) Partitions(command Command, create bool) ([]int32, error) {
	numbers := []int32{}
	if create { // what its reader asks
		dialer, err := s.dialer(command)
		if err != nil {
			return nil, err
		}
		waiting, cancel := within(limit)
		defer cancel()
		found, err := dialer.LookupPartitions(waiting, "tcp", command.brokers()[0], command.Topic)
		for _, each := range found {
			numbers = append(numbers, int32(each.ID))
		}
		return numbers, err
	}
	err := s.with(command, func(waiting context.Context, client *kafka.Client) error {
		answer, err := client.Metadata(waiting, &kafka.MetadataRequest{Topics: []string{command.Topic}})
		if err != nil {
			return err
		}
		for _, each := range answer.Topics[0].Partitions {
			numbers = append(numbers, int32(each.ID))
		}
		return answer.Topics[0].Error
	})
	return numbers, err
}

func (s segment) Offsets(command Command) (Offsets, error) {
	partitions, err := s.Partitions(command, false)
	if err != nil {
		return nil, err
	}
	asked := []kafka.OffsetRequest{}
	for _, partition := range partitions {
		asked = append(asked, kafka.OffsetRequest{Partition: int(partition), Timestamp: command.Timestamp})
	}
	found := Offsets{}
	return found, s.with(command, func(waiting context.Context, client *kafka.Client) error {
		request := &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{command.Topic: asked}}
		answer, err := client.ListOffsets(waiting, request)
		if err != nil {
			return err
		}
		for _, each := range answer.Topics[command.Topic] {
			err = errors.Join(err, each.Error)
			offset := int64(-1)
			switch command.Timestamp {
			case kafka.LastOffset:
				offset = each.LastOffset
			case kafka.FirstOffset:
				offset = each.FirstOffset
			default:
				for at := range each.Offsets {
					offset = at
				}
			}
			found[int32(each.Partition)] = offset
		}
		return err
	})
}

func (s segment) CreateTopic(command Command) error {
	topic := kafka.TopicConfig{Topic: command.Topic, NumPartitions: command.Partitions, ReplicationFactor: -1}
	for name, value := range command.Configs {
		topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	return s.with(command, func(waiting context.Context, client *kafka.Client) error {
		answer, err := client.CreateTopics(waiting, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}})
		if err != nil {
			return err
		}
		return answer.Errors[command.Topic]
	})
}

func (s segment) DeleteTopic(command Command) error {
	return s.with(command, func(waiting context.Context, client *kafka.Client) error {
		answer, err := client.DeleteTopics(waiting, &kafka.DeleteTopicsRequest{Topics: []string{command.Topic}})
		if err != nil {
			return err
		}
		return answer.Errors[command.Topic]
	})
}
