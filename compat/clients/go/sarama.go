package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

type saramaClient struct{}

// saramaScram is what the library leaves to its user.
type saramaScram struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

func (s *saramaScram) Begin(user, password, identity string) error {
	client, err := s.hash.NewClient(user, password, identity)
	if err == nil {
		s.ClientConversation = client.NewConversation()
	}
	return err
}

// saramaToken is what the library leaves to its user.
type saramaToken string

func (t saramaToken) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: string(t)}, nil
}

func (saramaClient) config(command Command) *sarama.Config {
	config := sarama.NewConfig()
	security := command.Security
	if with := security.tls(); with != nil {
		config.Net.TLS.Enable, config.Net.TLS.Config = true, with
	}
	if security.sasl() {
		config.Net.SASL.Enable = true
		config.Net.SASL.Mechanism = sarama.SASLMechanism(security.Mechanism)
		config.Net.SASL.User, config.Net.SASL.Password = security.User, security.Password
		config.Net.SASL.TokenProvider = saramaToken(security.Token)
		hash := scram.SHA256
		if security.Mechanism == "SCRAM-SHA-512" {
			hash = scram.SHA512
		}
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &saramaScram{hash: hash} }
	}
	return config
}

var saramaCodecs = map[string]sarama.CompressionCodec{
	"": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

func (s saramaClient) Produce(command Command) ([][2]int64, error) {
	config := s.config(command)
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.RequiredAcks(command.Acks)
	config.Producer.Compression = saramaCodecs[command.Compression]
	if command.Idempotent || command.TransactionalID != "" {
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
		config.Producer.Transaction.ID = command.TransactionalID
	}
	if command.Partition != nil {
		config.Producer.Partitioner = sarama.NewManualPartitioner
	}
	producer, err := sarama.NewSyncProducer(command.brokers(), config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	if command.TransactionalID != "" {
		if err := producer.BeginTxn(); err != nil {
			return nil, err
		}
	}
	sent := s.messages(command)
	if err := producer.SendMessages(sent); err != nil {
		return nil, err
	}
	if command.TransactionalID != "" {
		end := producer.CommitTxn
		if command.Abort {
			end = producer.AbortTxn
		}
		if err := end(); err != nil {
			return nil, err
		}
	}
	places := [][2]int64{}
	for _, each := range sent {
		places = append(places, [2]int64{int64(each.Partition), each.Offset})
	}
	return places, nil
}

func (saramaClient) messages(command Command) []*sarama.ProducerMessage {
	made := []*sarama.ProducerMessage{}
	for _, each := range command.Records {
		message := &sarama.ProducerMessage{Topic: command.Topic, Timestamp: when(each.Timestamp)}
		if each.Key != nil {
			message.Key = sarama.ByteEncoder(*each.Key)
		}
		if each.Value != nil {
			message.Value = sarama.ByteEncoder(*each.Value)
		}
		if command.Partition != nil {
			message.Partition = *command.Partition
		}
		for _, header := range each.Headers {
			value := sarama.RecordHeader{Key: []byte(header.Name), Value: bytesOf(header.Value)}
			message.Headers = append(message.Headers, value)
		}
		made = append(made, message)
	}
	return made
}

func (s saramaClient) Consume(command Command, starts Offsets) (Consumer, error) {
	config := s.config(command)
	if command.Committed {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	if command.Group == "" {
		return newSaramaReader(command, config, starts)
	}
	config.Consumer.Offsets.Initial = sarama.OffsetNewest
	if command.Beginning {
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
	}
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = time.Duration(command.SessionMs) * time.Millisecond
	config.Consumer.Group.Heartbeat.Interval = time.Duration(command.HeartbeatMs) * time.Millisecond
	group, err := sarama.NewConsumerGroup(command.brokers(), command.Group, config)
	if err != nil {
		return nil, err
	}
	member := &saramaMember{group: group, topic: command.Topic, records: make(chan Record)}
	running, stop := context.WithCancel(context.Background())
	member.stop, member.ended = stop, make(chan error, 1)
	go func() {
		for running.Err() == nil {
			if err := group.Consume(running, []string{command.Topic}, member); err != nil {
				member.ended <- err
				return
			}
		}
		member.ended <- nil
	}()
	return member, nil
}

type saramaMember struct {
	group   sarama.ConsumerGroup
	topic   string
	records chan Record
	stop    func()
	ended   chan error
	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
}

func (m *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	return nil
}

func (m *saramaMember) Cleanup(sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = nil
	return nil
}

func (m *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, more := <-claim.Messages():
			if !more {
				return nil
			}
			select {
			case m.records <- saramaRecord(message):
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func (m *saramaMember) Poll(wait time.Duration, max int) ([]Record, error) {
	select {
	case err := <-m.ended:
		return nil, errors.Join(errors.New("the member has ended"), err)
	default:
		return drained(m.records, wait, max), nil
	}
}

func (m *saramaMember) Assigned() []int32 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.session == nil {
		return nil
	}
	return m.session.Claims()[m.topic]
}

func (m *saramaMember) Commit(positions Offsets) error {
	m.mutex.Lock()
	session := m.session
	m.mutex.Unlock()
	if session == nil {
		return errors.New("not a member now")
	}
	for partition, offset := range positions {
		session.MarkOffset(m.topic, partition, offset, "")
	}
	session.Commit()
	return nil
}

func (m *saramaMember) Close() error {
	m.stop()
	return m.group.Close()
}

type saramaReader struct {
	consumer sarama.Consumer
	records  chan Record
	assigned []int32
}

func newSaramaReader(command Command, config *sarama.Config, starts Offsets) (Consumer, error) {
	consumer, err := sarama.NewConsumer(command.brokers(), config)
	if err != nil {
		return nil, err
	}
	reader := &saramaReader{consumer: consumer, records: make(chan Record)}
	for partition, offset := range starts {
		part, err := consumer.ConsumePartition(command.Topic, partition, offset)
		if err != nil {
			return nil, err
		}
		reader.assigned = append(reader.assigned, partition)
		go func() {
			for message := range part.Messages() {
				reader.records <- saramaRecord(message)
			}
		}()
	}
	return reader, nil
}

func (r *saramaReader) Poll(wait time.Duration, max int) ([]Record, error) {
	return drained(r.records, wait, max), nil
}

func (r *saramaReader) Assigned() []int32    { return r.assigned }
func (r *saramaReader) Commit(Offsets) error { return errors.New("no group") }
func (r *saramaReader) Close() error         { return nil } // with the process

func saramaRecord(message *sarama.ConsumerMessage) Record {
	record := Record{
		Partition: message.Partition, Offset: message.Offset, Timestamp: ms(message.Timestamp),
		Key: given(message.Key), Value: given(message.Value), Headers: []Header{},
	}
	for _, header := range message.Headers {
		record.Headers = append(record.Headers, Header{string(header.Key), given(header.Value)})
	}
	return record
}

func (s saramaClient) Committed(command Command) (Offsets, error) {
	found := Offsets{}
	return found, s.admin(command, func(admin sarama.ClusterAdmin) error {
		answer, err := admin.ListConsumerGroupOffsets(command.Group, nil)
		if err != nil {
			return err
		}
		for partition, block := range answer.Blocks[command.Topic] {
			if block.Offset >= 0 {
				found[partition] = block.Offset
			}
		}
		return nil
	})
}

func (s saramaClient) admin(command Command, do func(sarama.ClusterAdmin) error) error {
	admin, err := sarama.NewClusterAdmin(command.brokers(), s.config(command))
	if err != nil {
		return err
	}
	defer admin.Close()
	return do(admin)
}

func (s saramaClient) with(command Command, do func(sarama.Client) error) error {
	client, err := sarama.NewClient(command.brokers(), s.config(command))
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

func (s saramaClient) Topics(command Command) (names []string, err error) {
	err = s.admin(command, func(admin sarama.ClusterAdmin) error {
		topics, err := admin.ListTopics()
		for name := range topics {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func (s saramaClient) Partitions(command Command, _ bool) (numbers []int32, err error) {
	err = s.with(command, func(client sarama.Client) error {
		numbers, err = client.Partitions(command.Topic)
		return err
	})
	return numbers, err
}

func (s saramaClient) Offsets(command Command) (Offsets, error) {
	found := Offsets{}
	return found, s.with(command, func(client sarama.Client) error {
		partitions, err := client.Partitions(command.Topic)
		for _, partition := range partitions {
			if found[partition], err = client.GetOffset(command.Topic, partition, command.Timestamp); err != nil {
				return err
			}
		}
		return err
	})
}

func (s saramaClient) CreateTopic(command Command) error {
	detail := &sarama.TopicDetail{
		NumPartitions: int32(command.Partitions), ReplicationFactor: -1, ConfigEntries: map[string]*string{},
	}
	for name, value := range command.Configs {
		detail.ConfigEntries[name] = &value
	}
	return s.admin(command, func(admin sarama.ClusterAdmin) error {
		return admin.CreateTopic(command.Topic, detail, false)
	})
}

func (s saramaClient) DeleteTopic(command Command) error {
	return s.admin(command, func(admin sarama.ClusterAdmin) error { return admin.DeleteTopic(command.Topic) })
}
