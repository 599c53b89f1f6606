// Writes one value, and reads another: franz URL SCHEMA HEX
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hamba/avro/v2"
	"github.com/twmb/franz-go/pkg/sr"
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
	client, err := sr.NewClient(sr.URLs(url))
	check(err)
	found, err := client.CreateSchema(context.Background(), "orders-value", sr.Schema{Schema: text})
	check(err)
	schema, err := avro.Parse(text)
	check(err)
	var serde sr.Serde
	serde.Register(found.ID, order{},
		sr.EncodeFn(func(v any) ([]byte, error) { return avro.Marshal(schema, v) }),
		sr.DecodeFn(func(b []byte, v any) error { return avro.Unmarshal(schema, b, v) }),
	)
	wrote, err := serde.Encode(order{1, "nut"})
	check(err)
	data, err := hex.DecodeString(given)
	check(err)
	var read order
	check(serde.Decode(data, &read))
	out, err := json.Marshal(map[string]any{"wrote": hex.EncodeToString(wrote), "read": read})
	check(err)
	fmt.Println(string(out))
}
