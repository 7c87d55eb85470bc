// The programs of this peer.
#pragma once

#include "../../cpp/program.hpp"

// Each file of programs adds its own.
void add_counters(Programs&);
void add_rings(Programs&);
void add_pairs(Programs&);
void add_skynet(Programs&);
void add_cache(Programs&);
void add_banks(Programs&);
void add_dining(Programs&);
void add_asks(Programs&);
void add_idle(Programs&);
