// The programs: one function each, in the file of its name. A function makes the actors and returns; the last actor
// calls `Run::finish`.
#pragma once

#include "run.hpp"

namespace savina {
void banking(Run&);
void big(Run&);
void bounded_buffer(Run&);
void chameneos(Run&);
void cigarette_smokers(Run&);
void concurrent_dictionary(Run&);
void concurrent_sorted_list(Run&);
void count(Run&);
void dining_philosophers(Run&);
void fibonacci(Run&);
void filter_bank(Run&);
void fork_join_create(Run&);
void fork_join_throughput(Run&);
void logistic_map(Run&);
void ping_pong(Run&);
void quicksort(Run&);
void radix_sort(Run&);
void recursive_matrix(Run&);
void sieve(Run&);
void sleeping_barber(Run&);
void thread_ring(Run&);
void trapezoid(Run&);
} // namespace savina

namespace headline {
void ask_latency(Run&);
void busy_banking(Run&);
void cache_calc(Run&);
void counter(Run&);
void dining_scale(Run&);
void fan_out(Run&);
void mailbox_n1(Run&);
void mixed(Run&);
void pingpong_bulk(Run&);
void pingpong_grouped(Run&);
void reasonable_banking(Run&);
void ring_nfold(Run&);
void skynet(Run&);
void skynet_stop(Run&);
void spawn(Run&);
} // namespace headline
