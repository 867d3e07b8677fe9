#pragma once
// Import SwiftGlibc first, so that types that both define, such as timespec, always come from that module.
#pragma clang module import SwiftGlibc
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
