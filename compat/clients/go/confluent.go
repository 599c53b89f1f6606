package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

const metadataLimit = 10 * time.Second

// confluent is librdkafka.
type confluent struct{}

func (confluent) config(command Command) *kafka.ConfigMap {
	security := command.Security
	config := kafka.ConfigMap{"bootstrap.servers": command.Bootstrap}
	for name, value := range map[string]string{
		"security.protocol": security.Protocol, "sasl.mechanism": security.Mechanism,
		"sasl.username": security.User, "sasl.password": security.Password, "ssl.ca.pem": security.CA,
		"ssl.certificate.pem": security.Certificate, "ssl.key.pem": security.Key,
	} {
		if value != "" {
			config[name] = value
		}
	}
	if security.Token != "" {
		delete(config, "sasl.username")
		config["enable.sasl.oauthbearer.unsecure.jwt"] = true
		config["sasl.oauthbearer.config"] = "principal=" + security.User
	}
	return &config
}

func with[T any](config *kafka.ConfigMap, more map[string]any, open func(*kafka.ConfigMap) (T, error)) (T, error) {
	for name, value := range more {
		(*config)[name] = value
	}
	return open(config)
}

func (c confluent) Produce(command Command) ([][2]int64, error) {
	more := map[string]any{"acks": command.Acks, "enable.idempotence": command.Idempotent, "linger.ms": 5}
	if command.Compression != "" {
		more["compression.type"] = command.Compression
	}
	if command.TransactionalID != "" {
		delete(more, "enable.idempotence")
		more["transactional.id"] = command.TransactionalID
	}
	producer, err := with(c.config(command), more, kafka.NewProducer)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	waiting, cancel := within(limit)
	defer cancel()
	if command.TransactionalID != "" {
		if err := errors.Join(producer.InitTransactions(waiting), producer.BeginTransaction()); err != nil {
			return nil, err
		}
	}
	places, err := c.send(command, producer)
	if command.TransactionalID != "" && err == nil {
		if command.Abort {
			err = producer.AbortTransaction(waiting)
		} else {
			err = producer.CommitTransaction(waiting)
		}
	}
	return places, err
}

func (confluent) send(command Command, producer *kafka.Producer) ([][2]int64, error) {
	delivered := make(chan kafka.Event, len(command.Records))
	for n, each := range command.Records {
		topic, partition := command.Topic, kafka.PartitionAny
		if command.Partition != nil {
			partition = *command.Partition
		}
		message := &kafka.Message{
			TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: partition},
			Key:            bytesOf(each.Key), Value: bytesOf(each.Value), Timestamp: when(each.Timestamp), Opaque: n,
		}
		for _, header := range each.Headers {
			message.Headers = append(message.Headers, kafka.Header{Key: header.Name, Value: bytesOf(header.Value)})
		}
		if err := producer.Produce(message, delivered); err != nil {
			return nil, err
		}
	}
	places := make([][2]int64, len(command.Records))
	for range command.Records {
		select {
		case event := <-delivered:
			message := event.(*kafka.Message)
			if message.TopicPartition.Error != nil {
				return nil, message.TopicPartition.Error
			}
			at := message.TopicPartition
			places[message.Opaque.(int)] = [2]int64{int64(at.Partition), int64(at.Offset)}
		case <-time.After(limit):
			return nil, fmt.Errorf("not delivered within %v", limit)
		}
	}
	return places, nil
}

func (c confluent) Consume(command Command, starts Offsets) (Consumer, error) {
	more := map[string]any{
		"group.id": command.Group, "enable.auto.commit": false, "auto.offset.reset": "latest",
		"isolation.level": "read_uncommitted",
	}
	if command.Beginning {
		more["auto.offset.reset"] = "earliest"
	}
	if command.Committed {
		more["isolation.level"] = "read_committed"
	}
	switch {
	case command.Group == "":
		more["group.id"] = "none"
	case command.Protocol == "consumer":
		more["group.protocol"] = "consumer"
	default:
		more["session.timeout.ms"], more["heartbeat.interval.ms"] = command.SessionMs, command.HeartbeatMs
		more["partition.assignment.strategy"] = "cooperative-sticky"
	}
	consumer, err := with(c.config(command), more, kafka.NewConsumer)
	if err != nil {
		return nil, err
	}
	running := &confluentConsumer{consumer, command.Topic}
	if command.Group != "" {
		return running, consumer.Subscribe(command.Topic, nil)
	}
	return running, consumer.Assign(running.places(starts))
}

type confluentConsumer struct {
	consumer *kafka.Consumer
	topic    string
}

func (c *confluentConsumer) places(offsets Offsets) []kafka.TopicPartition {
	places := []kafka.TopicPartition{}
	for partition, offset := range offsets {
		places = append(places, kafka.TopicPartition{Topic: &c.topic, Partition: partition, Offset: kafka.Offset(offset)})
	}
	return places
}

func (c *confluentConsumer) Poll(wait time.Duration, limit int) ([]Record, error) {
	records := []Record{}
	for deadline := time.Now().Add(wait); len(records) < limit; {
		left := max(0, time.Until(deadline).Milliseconds()) // librdkafka waits for ever below 0
		if len(records) > 0 {
			left = 0
		}
		switch event := c.consumer.Poll(int(left)).(type) {
		case nil:
			if left == 0 {
				return records, nil
			}
		case *kafka.Message:
			if event.TopicPartition.Error != nil {
				return nil, event.TopicPartition.Error
			}
			records = append(records, confluentRecord(event))
		case kafka.Error:
			if event.IsFatal() {
				return nil, event
			}
		}
	}
	return records, nil
}

func confluentRecord(message *kafka.Message) Record {
	at := message.TopicPartition
	record := Record{
		Partition: at.Partition, Offset: int64(at.Offset), Timestamp: ms(message.Timestamp),
		Key: given(message.Key), Value: given(message.Value), Headers: []Header{},
	}
	for _, header := range message.Headers {
		record.Headers = append(record.Headers, Header{header.Key, given(header.Value)})
	}
	return record
}

func (c *confluentConsumer) Assigned() []int32 {
	partitions := []int32{}
	assigned, _ := c.consumer.Assignment() // fails only when it is closed
	for _, each := range assigned {
		partitions = append(partitions, each.Partition)
	}
	return partitions
}

func (c *confluentConsumer) Commit(positions Offsets) error {
	_, err := c.consumer.CommitOffsets(c.places(positions))
	return err
}

func (c *confluentConsumer) Close() error { return c.consumer.Close() }

func (c confluent) admin(command Command, do func(context.Context, *kafka.AdminClient) error) error {
	admin, err := kafka.NewAdminClient(c.config(command))
	if err != nil {
		return err
	}
	defer admin.Close()
	waiting, cancel := within(limit)
	defer cancel()
	return do(waiting, admin)
}

func (c confluent) Committed(command Command) (Offsets, error) {
	found := Offsets{}
	return found, c.admin(command, func(waiting context.Context, admin *kafka.AdminClient) error {
		asked := []kafka.ConsumerGroupTopicPartitions{{Group: command.Group}}
		answer, err := admin.ListConsumerGroupOffsets(waiting, asked)
		if err != nil {
			return err
		}
		for _, each := range answer.ConsumerGroupsTopicPartitions[0].Partitions {
			if *each.Topic == command.Topic && each.Offset >= 0 {
				found[each.Partition] = int64(each.Offset)
			}
		}
		return nil
	})
}

// Topics asks with a producer: its events say why there is no answer.
func (c confluent) Topics(command Command) (names []string, err error) {
	producer, err := kafka.NewProducer(c.config(command))
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	metadata, err := producer.GetMetadata(nil, true, int(metadataLimit.Milliseconds()))
	if err != nil {
		for len(producer.Events()) > 0 {
			err = fmt.Errorf("%w; %v", err, <-producer.Events())
		}
		return nil, err
	}
	for name := range metadata.Topics {
		names = append(names, name)
	}
	return names, nil
}

func (c confluent) Partitions(command Command, create bool) ([]int32, error) {
	more := map[string]any{"group.id": "none", "allow.auto.create.topics": create}
	consumer, err := with(c.config(command), more, kafka.NewConsumer)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	metadata, err := consumer.GetMetadata(&command.Topic, false, int(limit.Milliseconds()))
	if err != nil {
		return nil, err
	}
	numbers, topic := []int32{}, metadata.Topics[command.Topic]
	for _, each := range topic.Partitions {
		numbers = append(numbers, each.ID)
	}
	if topic.Error.Code() != kafka.ErrNoError {
		return nil, topic.Error
	}
	return numbers, nil
}

func (c confluent) Offsets(command Command) (Offsets, error) {
	partitions, err := c.Partitions(command, false)
	if err != nil {
		return nil, err
	}
	asked := map[kafka.TopicPartition]kafka.OffsetSpec{}
	for _, partition := range partitions {
		asked[kafka.TopicPartition{Topic: &command.Topic, Partition: partition}] = kafka.OffsetSpec(command.Timestamp)
	}
	found := Offsets{}
	return found, c.admin(command, func(waiting context.Context, admin *kafka.AdminClient) error {
		answer, err := admin.ListOffsets(waiting, asked)
		for at, each := range answer.ResultInfos {
			found[at.Partition] = int64(each.Offset)
			if each.Error.Code() != kafka.ErrNoError {
				err = errors.Join(err, each.Error)
			}
		}
		return err
	})
}

func (c confluent) CreateTopic(command Command) error {
	topic := kafka.TopicSpecification{
		Topic: command.Topic, NumPartitions: command.Partitions, ReplicationFactor: -1, Config: command.Configs,
	}
	return c.admin(command, func(waiting context.Context, admin *kafka.AdminClient) error {
		answer, err := admin.CreateTopics(waiting, []kafka.TopicSpecification{topic})
		return confluentOutcome(answer, err)
	})
}

func (c confluent) DeleteTopic(command Command) error {
	return c.admin(command, func(waiting context.Context, admin *kafka.AdminClient) error {
		answer, err := admin.DeleteTopics(waiting, []string{command.Topic})
		return confluentOutcome(answer, err)
	})
}

func confluentOutcome(answer []kafka.TopicResult, err error) error {
	for _, each := range answer {
		if each.Error.Code() != kafka.ErrNoError {
			err = errors.Join(err, each.Error)
		}
	}
	return err
}
