package main

import "testing"

// cases are the sizes of workloads, tiny, and their right results.
var cases = []struct {
	workloads []string
	given     parameters
	right     uint64
}{
	{
		[]string{"actor-ring", "cown-ring", "cown-rings"},
		parameters{"rings": 2, "nodes": 100, "tokens": 2, "hops": 500},
		2_000,
	},
	{
		[]string{"actor-ping-pong", "actor-pairs", "cown-pairs"},
		parameters{"rings": 8, "nodes": 2, "tokens": 1, "hops": 100},
		800,
	},
	{
		[]string{"cown-pairs-bulk"},
		parameters{"rings": 8, "nodes": 2, "tokens": 100, "hops": 1},
		800,
	},
	{
		[]string{"ring-nfold-100", "ring-nfold-1000", "ring-nfold-10000"},
		parameters{"rings": 8, "nodes": 12, "hops": 50},
		400,
	},
	{
		[]string{"pingpong-grouped-100", "pingpong-grouped-1000", "pingpong-grouped-10000"},
		parameters{"pairs": 50, "hops": 8},
		400,
	},
	{
		[]string{"pingpong-bulk-100", "pingpong-bulk-1000", "pingpong-bulk-10000"},
		parameters{"pairs": 5, "flight": 100, "hops": 3},
		3_000,
	},
	{[]string{"ask-latency"}, parameters{"asks": 100}, 100},
	{[]string{"cown-ask"}, parameters{"round_trips": 100}, 5_050},
	{[]string{"mailbox-n1"}, parameters{"senders": 20, "messages": 100}, 2_000},
	{
		[]string{"actor-count", "one-cown", "two-producers-spawned", "many-to-one-spawned"},
		parameters{"producers": 20, "adds_each": 100},
		2_000,
	},
}

func TestEveryProgramHasTheRightResultOnOneAndOnTwoWorkers(t *testing.T) {
	for _, p := range allPrograms() {
		given, right := tiny(t, p.workload)
		for _, workers := range []uint64{1, 2} {
			given["workers"] = workers
			done := p.on(given)
			if done.result != right || done.operations == 0 {
				t.Errorf("%s / %s on %d: %+v, not %d", p.workload, p.implementation, workers, done, right)
			}
		}
	}
}

func tiny(t *testing.T, workload string) (parameters, uint64) {
	for _, sizes := range cases {
		for _, name := range sizes.workloads {
			if name == workload {
				return sizes.given, sizes.right
			}
		}
	}
	t.Fatalf("no sizes for %s", workload)
	return nil, 0
}

func TestNoProgramIsOfferedTwice(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, p := range allPrograms() {
		names := [2]string{p.workload, p.implementation}
		if seen[names] {
			t.Errorf("%v is there twice", names)
		}
		seen[names] = true
	}
}

func TestWhatIsNoSettingIsRefused(t *testing.T) {
	for _, word := range []string{"hops", "hops=", "hops=many", "hops=-1", "hops=0.5"} {
		if given, err := parse([]string{"workers=2", word}); err == nil {
			t.Errorf("%s is taken for %v", word, given)
		}
	}
	given, err := parse([]string{"scale=0.001", "hops=5"})
	if err != nil || len(given) != 1 || given["hops"] != 5 {
		t.Errorf("%v, %v", given, err)
	}
}
