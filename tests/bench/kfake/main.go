// Program kfake runs one broker of franz-go's fake cluster in a process of its own, as a peer to
// measure against. It prints one line, "kfake ready at HOST:PORT", and runs until SIGINT or
// SIGTERM. Arguments are topics, NAME or NAME:PARTITIONS. Records stay in memory, as kfake does
// unless told otherwise.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	options := []kfake.Opt{kfake.NumBrokers(1)}
	for _, argument := range os.Args[1:] {
		name, count, counted := strings.Cut(argument, ":")
		partitions := 1
		if counted {
			var err error
			if partitions, err = strconv.Atoi(count); err != nil || partitions < 1 {
				fail(fmt.Errorf("not a number of partitions: %q", count))
			}
		}
		options = append(options, kfake.SeedTopics(int32(partitions), name))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		fail(err)
	}
	defer cluster.Close()
	fmt.Printf("kfake ready at %s\n", cluster.ListenAddrs()[0])
	<-stop
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kfake:", err)
	os.Exit(1)
}
