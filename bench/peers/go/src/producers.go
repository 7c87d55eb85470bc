// Producers that add to one counter. The last add ends the run.
//
// Go has no channel without bounds. The mailbox has room for 1,024 messages, as many as in the bounded channels of the
// Rust peers; from 64 on it makes no difference. Without a buffer an add takes three times as long.

package main

const mailboxRoom = 1024

func addProducers(all *programs) {
	const how = "goroutines send into a channel of 1,024"
	all.add([]string{"mailbox-n1"}, "go", how, func(given parameters) measured {
		return produce(given.number("senders"), given.number("messages"))
	})
	micro := []string{"actor-count", "one-cown", "two-producers-spawned", "many-to-one-spawned"}
	all.add(micro, "go", how, func(given parameters) measured {
		return produce(given.number("producers"), given.number("adds_each"))
	})
}

func produce(producers, each uint64) measured {
	finish, adds := finishAfter(1), producers*each
	mailbox := make(chan uint64, mailboxRoom)
	go counter(mailbox, adds, finish)
	finish.begin()
	for i := uint64(0); i < producers; i++ {
		go producer(mailbox, each)
	}
	return finish.measured(adds)
}

func producer(counter chan<- uint64, adds uint64) {
	for i := uint64(0); i < adds; i++ {
		counter <- 1
	}
}

func counter(mailbox <-chan uint64, awaited uint64, finish *finish) {
	var sum uint64
	for amount := range mailbox {
		sum += amount
		if sum == awaited {
			finish.part(sum)
		}
	}
}
