// Program load sends one Kafka request frame over and over: a number of connections, on each one
// request in flight, for a number of seconds. Python would be slower than the brokers it is to
// measure. It prints the number of answers and the seconds they took.
//
// Usage: load HOST:PORT CONNECTIONS SECONDS FRAME ANSWER
//
// FRAME is the request without its length prefix, in hexadecimal. ANSWER is the length an answer
// must have, in bytes without its length prefix: any other ends the run with status 1.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	if len(os.Args) != 6 {
		fail(fmt.Errorf("usage: load HOST:PORT CONNECTIONS SECONDS FRAME ANSWER"))
	}
	connections, err := strconv.Atoi(os.Args[2])
	check(err)
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	check(err)
	body, err := hex.DecodeString(os.Args[4])
	check(err)
	answer, err := strconv.Atoi(os.Args[5])
	check(err)
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)

	// All connections are open, and have had one answer, before the time begins.
	open := make([]*connection, connections)
	for i := range open {
		open[i] = connect(os.Args[1])
		// One deadline for everything: a broker that falls silent must not hang the run.
		limit := 30*time.Second + time.Duration(seconds*float64(time.Second))
		check(open[i].socket.SetDeadline(time.Now().Add(limit)))
		check(open[i].ask(frame, answer))
	}
	var stop atomic.Bool
	var count atomic.Int64
	var running sync.WaitGroup
	start := time.Now()
	time.AfterFunc(time.Duration(seconds*float64(time.Second)), func() { stop.Store(true) })
	for _, c := range open {
		running.Add(1)
		go func(c *connection) {
			defer running.Done()
			var mine int64
			for !stop.Load() {
				check(c.ask(frame, answer))
				mine++
			}
			count.Add(mine)
		}(c)
	}
	running.Wait()
	fmt.Println(count.Load(), time.Since(start).Seconds())
}

type connection struct {
	socket  net.Conn
	reader  *bufio.Reader
	scratch []byte
}

func connect(address string) *connection {
	socket, err := net.DialTimeout("tcp", address, 5*time.Second)
	check(err)
	return &connection{socket, bufio.NewReaderSize(socket, 1<<16), make([]byte, 1<<16)}
}

// ask sends the frame and reads one answer, which must be of the given length.
func (c *connection) ask(frame []byte, answer int) error {
	if _, err := c.socket.Write(frame); err != nil {
		return err
	}
	if _, err := io.ReadFull(c.reader, c.scratch[:4]); err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint32(c.scratch))
	if size != answer || size > len(c.scratch) {
		return fmt.Errorf("an answer of %d bytes, not %d", size, answer)
	}
	_, err := io.ReadFull(c.reader, c.scratch[:size])
	return err
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}
