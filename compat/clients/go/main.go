// Program application has Kafka clients of Go with the verbs of compat/clients/verbs.py: the client's
// name is its argument. It answers a line of JSON on standard output for each on standard input, in
// order, and has one consumer at most. Bytes travel in base64.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

const limit = 30 * time.Second // of a verb

// Command is a line of the input; a verb takes what it needs of it.
type Command struct {
	Do              string
	Bootstrap       string
	Security        Security
	Topic           string
	Records         []Record
	Acks            int // -1: all
	Compression     string
	Idempotent      bool
	Partition       *int32
	TransactionalID string `json:"transactional_id"`
	Abort           bool
	Group           string
	Protocol        string
	Beginning       bool
	Committed       bool // isolation: read_committed
	SessionMs       int  `json:"session_ms"`
	HeartbeatMs     int  `json:"heartbeat_ms"`
	Ms              int  // how long to poll
	Max             int
	Partitions      int
	Configs         map[string]string
	Timestamp       int64 // -1: the end, -2: the beginning
}

// Security is how to log in; certificates and keys are PEM.
type Security struct{ Protocol, Mechanism, User, Password, Token, CA, Certificate, Key string }

// Header of a record.
type Header struct {
	Name  string  `json:"name"`
	Value *[]byte `json:"value"`
}

// Record as it is sent, and as it is delivered.
type Record struct {
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
	Timestamp *int64   `json:"timestamp"` // ms
	Key       *[]byte  `json:"key"`
	Value     *[]byte  `json:"value"`
	Headers   []Header `json:"headers"`
}

// Offsets by partition; -1: there is none.
type Offsets map[int32]int64

// Client is a library.
type Client interface {
	Produce(Command) ([][2]int64, error)
	// Consume starts a member of the group; without a group, a reader at these offsets.
	Consume(Command, Offsets) (Consumer, error)
	Committed(Command) (Offsets, error)
	Topics(Command) ([]string, error)
	// Partitions of a topic; `create`: which is created by it, as a consumer's request does.
	Partitions(command Command, create bool) ([]int32, error)
	Offsets(Command) (Offsets, error)
	CreateTopic(Command) error
	DeleteTopic(Command) error
}

// Consumer is a running one.
type Consumer interface {
	Poll(wait time.Duration, max int) ([]Record, error)
	Assigned() []int32
	Commit(Offsets) error
	Close() error
}

var clients = map[string]Client{
	"franz-go": franz{}, "sarama": saramaClient{}, "kafka-go": segment{}, "confluent-kafka-go": confluent{},
}

type session struct {
	client    Client
	consumer  Consumer
	opened    Command
	positions Offsets
}

func main() {
	running := session{client: clients[os.Args[1]]}
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var command Command
		check(json.Unmarshal(line, &command))
		answer, err := running.answer(command)
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		check(output.Encode(answer))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *session) answer(command Command) (map[string]any, error) {
	said := func(name string) func(value any, err error) (map[string]any, error) {
		return func(value any, err error) (map[string]any, error) {
			return map[string]any{name: value}, err
		}
	}
	switch command.Do {
	case "produce":
		places, err := s.client.Produce(command)
		return said("places")(places, err)
	case "consumer":
		return said("opened")(true, s.open(command))
	case "poll":
		records, err := s.poll(command)
		return said("records")(records, err)
	case "positions":
		return said("offsets")(s.positions, nil)
	case "commit":
		return said("committed")(true, s.consumer.Commit(s.positions))
	case "close":
		return said("closed")(true, s.consumer.Close())
	case "committed":
		offsets, err := s.client.Committed(command)
		return said("offsets")(offsets, err)
	case "topics":
		topics, err := s.client.Topics(command)
		return said("topics")(topics, err)
	case "partitions":
		partitions, err := s.client.Partitions(command, false)
		sort.Slice(partitions, func(a, b int) bool { return partitions[a] < partitions[b] })
		return said("partitions")(partitions, err)
	case "offsets":
		offsets, err := s.client.Offsets(command)
		return said("offsets")(offsets, err)
	case "create_topic":
		return said("created")(true, s.client.CreateTopic(command))
	case "delete_topic":
		return said("deleted")(true, s.client.DeleteTopic(command))
	}
	return nil, fmt.Errorf("no such verb: %s", command.Do)
}

func (s *session) open(command Command) error {
	command.Timestamp = -1
	if command.Beginning {
		command.Timestamp = -2
	}
	s.opened, s.positions = command, Offsets{}
	var err error
	if command.Group == "" {
		if err = s.known(command); err != nil {
			return err
		}
		if s.positions, err = s.client.Offsets(command); err != nil {
			return err
		}
	}
	s.consumer, err = s.client.Consume(command, s.positions)
	return err
}

// known waits until the topic is there: a consumer's request for it creates it.
func (s *session) known(command Command) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		partitions, err := s.client.Partitions(command, true)
		if len(partitions) > 0 && err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not there: %v", command.Topic, err)
		}
	}
}

func (s *session) poll(command Command) ([]Record, error) {
	records, err := s.consumer.Poll(time.Duration(command.Ms)*time.Millisecond, command.Max)
	if err != nil {
		return nil, err
	}
	if err := s.place(s.consumer.Assigned()); err != nil {
		return nil, err
	}
	for _, record := range records {
		if _, assigned := s.positions[record.Partition]; assigned {
			s.positions[record.Partition] = record.Offset + 1
		}
	}
	return records, nil
}

// place finds where a member begins with partitions that it has just got.
func (s *session) place(assigned []int32) error {
	kept, missing := Offsets{}, false
	for _, partition := range assigned {
		if offset, known := s.positions[partition]; known {
			kept[partition] = offset
		} else {
			missing = true
		}
	}
	s.positions = kept
	if !missing {
		return nil
	}
	starts, err := s.client.Offsets(s.opened)
	if err != nil {
		return err
	}
	committed, err := s.client.Committed(s.opened)
	if err != nil {
		return err
	}
	for _, partition := range assigned {
		if _, known := kept[partition]; known {
			continue
		}
		kept[partition] = starts[partition]
		if offset, there := committed[partition]; there {
			kept[partition] = offset
		}
	}
	return nil
}

// drained returns what there is, up to max, waiting for the first one.
func drained(from <-chan Record, wait time.Duration, max int) []Record {
	records := []Record{}
	timer := time.After(wait)
	for len(records) < max {
		if len(records) > 0 {
			select {
			case record := <-from:
				records = append(records, record)
				continue
			default:
				return records
			}
		}
		select {
		case record := <-from:
			records = append(records, record)
		case <-timer:
			return records
		}
	}
	return records
}

func within(wait time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), wait)
}

func (s Security) tls() *tls.Config {
	if s.Protocol != "SSL" && s.Protocol != "SASL_SSL" {
		return nil
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(s.CA))
	config := &tls.Config{RootCAs: trusted}
	if s.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(s.Certificate), []byte(s.Key))
		check(err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

func (c Command) brokers() []string { return strings.Split(c.Bootstrap, ",") }

func (s Security) sasl() bool { return s.Mechanism != "" }

func bytesOf(data *[]byte) []byte {
	if data == nil {
		return nil
	}
	return *data
}

func given(data []byte) *[]byte {
	if data == nil {
		return nil
	}
	return &data
}

func ms(when time.Time) *int64 {
	at := when.UnixMilli()
	return &at
}

func when(at *int64) time.Time {
	if at == nil {
		return time.Time{}
	}
	return time.UnixMilli(*at)
}
