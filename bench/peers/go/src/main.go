// Programs of the benchmark as goroutines that send to each other over channels.
//
// The command line: `about`, `list`, and `run WORKLOAD IMPLEMENTATION name=value ...`.
package main

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("go: ")
	words := os.Args[1:]
	switch {
	case len(words) == 1 && words[0] == "about":
		about()
	case len(words) == 1 && words[0] == "list":
		list()
	case len(words) >= 3 && words[0] == "run":
		if err := run(words[1], words[2], words[3:]); err != nil {
			log.Fatal(err)
		}
	default:
		log.Fatal("usage: about | list | run WORKLOAD IMPLEMENTATION name=value ...")
	}
}

func about() {
	fmt.Printf("Go: goroutines and channels; %s (%s), %s/%s, optimised as by default; %s\n", runtime.Version(),
		runtime.Compiler, runtime.GOOS, runtime.GOARCH, "GOMAXPROCS = workers, the collector's settings unchanged")
}

func list() {
	for _, p := range allPrograms() {
		// All of them do the whole work.
		fmt.Printf("%s\t%s\t1\t%s\n", p.workload, p.implementation, p.how)
	}
}

func run(workload, implementation string, words []string) error {
	given, err := parse(words)
	if err != nil {
		return err
	}
	p, err := find(workload, implementation)
	if err != nil {
		return err
	}
	done := p.on(given)
	fmt.Printf("{\"elapsed_ns\":%d,\"operations\":%d,\"result\":%d}\n",
		done.elapsed.Nanoseconds(), done.operations, done.result)
	return nil
}

// parse leaves out `scale`, which may have a fraction: no program here uses it.
func parse(words []string) (parameters, error) {
	given := parameters{}
	for _, word := range words {
		name, value, isPair := strings.Cut(word, "=")
		if !isPair {
			return nil, fmt.Errorf("not name=value: %s", word)
		}
		if name == "scale" {
			continue
		}
		number, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
		given[name] = number
	}
	return given, nil
}
