// The programs of this peer.
#pragma once

#include "../../cpp/program.hpp"

// Each file of programs adds its own.
void add_producers(Programs&);
void add_rings(Programs&);
void add_asks(Programs&);
void add_skynet(Programs&);
void add_idle(Programs&);
void add_bank(Programs&);
void add_fibonacci(Programs&);
void add_dining(Programs&);
void add_independent(Programs&);
void add_lives(Programs&);
