#pragma once
#include <stdbool.h>
#include <stdint.h>

// Simulates power cuts for tests of the store: an SQLite VFS (sqlite.org/vfs.html) on top of the system's, which logs every
// change of the files and every requested fsync.
//
// It performs no fsync. From the log it computes what a disk may contain if the power is cut after the n-th change: everything
// synchronized, and nothing, all, or parts of the rest in any order.
//
// It is written in C because a VFS is a table of C functions with structures. Only ChimeStoreSQLiteTests uses it. Calls may
// come from several threads; a mutex guards the log.

typedef struct power_disk power_disk;

/// Registers a VFS of this name with SQLite. NULL on failure.
power_disk *power_disk_make(const char *name);
/// Unregisters it. All connections that used it must be closed.
void power_disk_free(power_disk *disk);

/// Starts a log with the current files of `folder` as safely stored. False if they cannot be read.
bool power_disk_begin(power_disk *disk, const char *folder);
/// Returns the number of changes in the log: writes, truncations, created and deleted files, synchronizations.
long power_disk_changes(power_disk *disk);
/// Describes a change for an error message.
void power_disk_describe(power_disk *disk, long change, char *text, int size);

/// What happens to changes that were not synchronized.
typedef enum power_fate {
  power_nothing, ///< All are lost.
  power_all,     ///< All survive, as after a kill.
  power_some,    ///< A random part survives, by sectors (512 or 4096 bytes), in any order; likewise names of files.
  power_garbled, ///< As `power_some`, and some sectors contain neither the old nor the new data.
} power_fate;

/// Writes into `folder` what the disk contains if the power is cut after the first `cut` changes. The log's index
/// (-shm) is in memory, so it becomes garbage or disappears.
///
/// @return A hash of the content; 0 if the folder cannot be written.
uint64_t power_disk_survivors(power_disk *disk, long cut, power_fate fate, uint64_t seed, const char *folder);

typedef enum power_fault {
  power_fault_none,
  power_fault_io,   ///< EIO. A failed synchronization is never repaired: the kernel drops what it could not write.
  power_fault_full, ///< ENOSPC: half of a write is stored.
} power_fault;

/// Makes `count` accesses to files fail, from the `after`-th on (0 is the next).
void power_disk_fail(power_disk *disk, power_fault fault, long after, long count);
/// Returns how many accesses have failed since that call.
long power_disk_failed(power_disk *disk);

/// Examines a database with a connection of its own. `verdict` is the result of PRAGMA integrity_check, or why it
/// failed.
///
/// @return A hash of the tables and rows.
uint64_t power_examine(const char *path, const char *vfs, char *verdict, int size);
