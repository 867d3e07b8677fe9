#pragma once
#include <stdbool.h>
#include <stdint.h>

// A disk whose power can fail, for the tests of the store: an SQLite VFS (sqlite.org/vfs.html) on top of the system's,
// which logs every change to the files and every fsync.
//
// No fsync is executed. The log determines afterwards what a disk may hold if the power fails after the n-th change:
// everything synchronized, and of the rest nothing, all, or parts in any order.
//
// It is written in C because a VFS is a table of C functions and structures. Only ChimeStoreSQLiteTests uses it. It may
// be called from several threads; a mutex protects the log.

typedef struct power_disk power_disk;

/// Registers a VFS of this name with SQLite. Returns NULL on failure.
power_disk *power_disk_make(const char *name);
/// Unregisters it. Every connection that used it must be closed.
void power_disk_free(power_disk *disk);

/// Starts a log: the files' current content in `folder` counts as durable. Returns false if they cannot be read.
bool power_disk_begin(power_disk *disk, const char *folder);
/// Returns the number of logged changes: writes, truncations, created and deleted files, synchronizations.
long power_disk_changes(power_disk *disk);
/// Describes a change, for an error message.
void power_disk_describe(power_disk *disk, long change, char *text, int size);

/// The fate of changes that were not synchronized.
typedef enum power_fate {
  power_nothing, ///< All are lost.
  power_all,     ///< All were written in time, as after a kill.
  power_some,    ///< At random, sector by sector (512 or 4096 bytes), in any order; likewise for file names.
  power_garbled, ///< As `power_some`, but some sectors hold neither the old nor the new content.
} power_fate;

/// Writes into `folder` what the disk holds if the power fails after the first `cut` changes. The index of the log (-shm)
/// is memory: it is left as garbage, or not at all.
///
/// @return A hash of the content; 0 if the folder cannot be written.
uint64_t power_disk_survivors(power_disk *disk, long cut, power_fate fate, uint64_t seed, const char *folder);

typedef enum power_fault {
  power_fault_none,
  power_fault_io,   ///< EIO. A failed synchronization cannot be repeated: the kernel discards the data.
  power_fault_full, ///< ENOSPC: half of a write succeeds.
} power_fault;

/// Makes `count` accesses to files fail, starting with the `after`-th from now (0 is the next).
void power_disk_fail(power_disk *disk, power_fault fault, long after, long count);
/// Returns how many have failed since that call.
long power_disk_failed(power_disk *disk);

/// Examines a database with a separate connection: `verdict` is that of PRAGMA integrity_check, or the reason why it
/// failed.
///
/// @return A hash of all tables and rows.
uint64_t power_examine(const char *path, const char *vfs, char *verdict, int size);
