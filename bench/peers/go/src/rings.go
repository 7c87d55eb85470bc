// Tokens that go round in rings; a ring of two is a pair that plays ping-pong.
//
// A node is a goroutine, and its mailbox a channel that has room for all tokens of the ring. So no send ever waits, as
// with actors. With less room it might wait for ever: where each node of a full ring has a token to send, none is there
// to receive. The single token of a pair would do without a buffer, and takes as long; two tokens in a ring of 100 take
// 1.5 times as long without one.

package main

func addRings(all *programs) {
	add := func(run func(parameters) measured, workloads ...string) {
		all.add(workloads, "go", "a goroutine and a channel a node, with room for all tokens of its ring", run)
	}
	add(turn, "actor-ring", "actor-ping-pong", "actor-pairs", "cown-ring", "cown-rings", "cown-pairs", "cown-pairs-bulk")
	add(turnNfold, "ring-nfold-100", "ring-nfold-1000", "ring-nfold-10000")
	add(playSingle, "pingpong-grouped-100", "pingpong-grouped-1000", "pingpong-grouped-10000")
	add(playInBulk, "pingpong-bulk-100", "pingpong-bulk-1000", "pingpong-bulk-10000")
}

// turn begins the clock when all rings are closed.
func turn(given parameters) measured {
	s := size{given.number("rings"), given.number("nodes"), given.number("tokens"), given.number("hops")}
	finish := s.finish()
	closed := make([]ring, s.rings)
	for i := range closed {
		closed[i] = s.close(finish)
	}
	finish.begin()
	for _, r := range closed {
		r.start(s.tokens)
	}
	return finish.measured(s.allHops())
}

func turnNfold(given parameters) measured {
	return makeAndTurn(size{given.number("rings"), given.number("nodes"), 1, given.number("hops")})
}

func playSingle(given parameters) measured {
	return makeAndTurn(size{given.number("pairs"), 2, 1, given.number("hops")})
}

// playInBulk has as many tokens from one side of a pair as from the other.
func playInBulk(given parameters) measured {
	return makeAndTurn(size{given.number("pairs"), 2, 2 * given.number("flight"), given.number("hops")})
}

// makeAndTurn begins the clock before the first node is made.
func makeAndTurn(s size) measured {
	finish := s.finish()
	finish.begin()
	for i := uint64(0); i < s.rings; i++ {
		s.close(finish).start(s.tokens)
	}
	return finish.measured(s.allHops())
}

// size says how many rings there are, of how many nodes, and the tokens of each with their hops.
type size struct {
	rings, nodes, tokens, hops uint64
}

func (s size) finish() *finish {
	return finishAfter(s.rings * s.tokens)
}

func (s size) allHops() uint64 {
	return s.rings * s.tokens * s.hops
}

// ring is the mailboxes of its nodes. A message is a token that has made so many of its hops.
type ring []chan uint64

// close makes a ring.
func (s size) close(finish *finish) ring {
	nodes := make(ring, s.nodes)
	for i := range nodes {
		nodes[i] = make(chan uint64, s.tokens)
	}
	for i, mailbox := range nodes {
		go node(mailbox, nodes[(i+1)%len(nodes)], s.hops, finish)
	}
	return nodes
}

// start lets the tokens go, as far from each other as they can be.
func (r ring) start(tokens uint64) {
	for token := uint64(0); token < tokens; token++ {
		r[token*uint64(len(r))/tokens] <- 1
	}
}

func node(mailbox <-chan uint64, next chan<- uint64, hops uint64, finish *finish) {
	for done := range mailbox {
		if done == hops {
			finish.part(done)
		} else {
			next <- done + 1
		}
	}
}
