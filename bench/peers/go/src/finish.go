package main

import (
	"sync/atomic"
	"time"
)

// finish is the clock of a program. The last of its parts stops it there and then, in its own goroutine, so that no
// wake-up and no tear-down is in the figure.
type finish struct {
	begun time.Time
	left  atomic.Int64
	sum   atomic.Uint64
	ended chan time.Time
}

func finishAfter(parts uint64) *finish {
	f := &finish{ended: make(chan time.Time, 1)}
	f.left.Store(int64(parts))
	return f
}

func (f *finish) begin() {
	f.begun = time.Now()
}

// part ends one part, and adds its result to the sum of all.
func (f *finish) part(result uint64) {
	f.sum.Add(result)
	if f.left.Add(-1) == 0 {
		f.ended <- time.Now()
	}
}

// measured waits for the last part. Goroutines that still wait for messages end with the process.
func (f *finish) measured(operations uint64) measured {
	ended := <-f.ended
	return measured{ended.Sub(f.begun), operations, f.sum.Load()}
}
