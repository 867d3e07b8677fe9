#pragma once
// What both have is Swift's Glibc's, whichever of the two a compilation meets first: timespec, for one.
#pragma clang module import SwiftGlibc
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
