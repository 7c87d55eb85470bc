// A client that asks a server, and waits for each answer.
//
// Both channels have room for one message, which is all that can be in them: the server goes on without waiting for the
// client to receive. Without buffers a round trip takes as long.

package main

func addAsks(all *programs) {
	add := func(implementation, how string, client client) {
		all.add([]string{"ask-latency"}, implementation, how, func(given parameters) measured {
			return ask(given.number("asks"), client, count)
		})
		all.add([]string{"cown-ask"}, implementation, how, func(given parameters) measured {
			return ask(given.number("round_trips"), client, sum)
		})
	}
	add("go", "a request carries a channel for its answer, made for it", askAnew)
	add("go-kept", "a request carries the client's one channel for answers", askKept)
}

// request is where its answer is sent to.
type request chan<- uint64

// serve answers how often it has been asked.
func serve(requests <-chan request) {
	var answers uint64
	for reply := range requests {
		answers++
		reply <- answers
	}
}

// answers is what the client makes of them.
type answers struct {
	last, sum uint64
}

func (a *answers) take(answer uint64) {
	a.last = answer
	a.sum += answer
}

// count is the last answer: the server's count of its answers.
func count(taken answers) uint64 { return taken.last }

func sum(taken answers) uint64 { return taken.sum }

// client asks so many times.
type client func(server chan<- request, rounds uint64) answers

func askAnew(server chan<- request, rounds uint64) (taken answers) {
	for i := uint64(0); i < rounds; i++ {
		reply := make(chan uint64, 1)
		server <- reply
		taken.take(<-reply)
	}
	return taken
}

func askKept(server chan<- request, rounds uint64) (taken answers) {
	reply := make(chan uint64, 1)
	for i := uint64(0); i < rounds; i++ {
		server <- reply
		taken.take(<-reply)
	}
	return taken
}

func ask(rounds uint64, client client, result func(answers) uint64) measured {
	finish := finishAfter(1)
	finish.begin()
	server := make(chan request, 1)
	go serve(server)
	go func() { finish.part(result(client(server, rounds))) }()
	return finish.measured(rounds)
}
