package main

import (
	"fmt"
	"log"
	"runtime"
	"time"
)

// program is what the command line knows of one: its names, and how to run it once.
type program struct {
	workload       string
	implementation string
	how            string
	run            func(parameters) measured
}

type measured struct {
	elapsed    time.Duration
	operations uint64
	result     uint64
}

// on runs the program on as many processors as it is given workers.
func (p program) on(given parameters) measured {
	runtime.GOMAXPROCS(int(given.number("workers")))
	return p.run(given)
}

// programs is filled by each file of programs with its own.
type programs []program

// add takes several workloads that one program does.
func (p *programs) add(workloads []string, implementation, how string, run func(parameters) measured) {
	for _, workload := range workloads {
		*p = append(*p, program{workload, implementation, how, run})
	}
}

func allPrograms() (all programs) {
	addRings(&all)
	addAsks(&all)
	addProducers(&all)
	return all
}

func find(workload, implementation string) (program, error) {
	for _, p := range allPrograms() {
		if p.workload == workload && p.implementation == implementation {
			return p, nil
		}
	}
	return program{}, fmt.Errorf("no such program: %s %s", workload, implementation)
}

// parameters are the values of `name=value`.
type parameters map[string]uint64

// number ends the process if the value is missing, as it cannot be done without.
func (given parameters) number(name string) uint64 {
	number, isGiven := given[name]
	if !isGiven {
		log.Fatalf("missing parameter %s", name)
	}
	return number
}
