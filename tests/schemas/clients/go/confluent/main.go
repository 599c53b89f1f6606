// Writes one value, and reads another: confluent URL SCHEMA HEX
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
)

type order struct {
	ID   int64  `avro:"id" json:"id"`
	Item string `avro:"item" json:"item"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	url, text, given := os.Args[1], os.Args[2], os.Args[3]
	client, err := schemaregistry.NewClient(schemaregistry.NewConfig(url))
	check(err)
	_, err = client.Register("orders-value", schemaregistry.SchemaInfo{Schema: text}, false)
	check(err)
	config := avrov2.NewSerializerConfig()
	config.AutoRegisterSchemas = false
	config.UseLatestVersion = true
	serializer, err := avrov2.NewSerializer(client, serde.ValueSerde, config)
	check(err)
	wrote, err := serializer.Serialize("orders", &order{1, "nut"})
	check(err)
	deserializer, err := avrov2.NewDeserializer(client, serde.ValueSerde, avrov2.NewDeserializerConfig())
	check(err)
	data, err := hex.DecodeString(given)
	check(err)
	var read order
	check(deserializer.DeserializeInto("orders", data, &read))
	out, err := json.Marshal(map[string]any{"wrote": hex.EncodeToString(wrote), "read": read})
	check(err)
	fmt.Println(string(out))
}
