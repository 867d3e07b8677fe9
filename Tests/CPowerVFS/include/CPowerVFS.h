#pragma once
#include <stdbool.h>
#include <stdint.h>

// A disk whose power can fail, for the tests of the store: a VFS of SQLite (sqlite.org/vfs.html) over the system's own,
// which keeps a log of every change that is made to the files, and of every fsync that was asked for.
//
// No fsync is carried out. From the log it is told afterwards what a disk may hold when the power is cut after the n-th
// change: what was synchronised, and of the rest nothing, all, or parts of it in any order.
//
// It is C because a VFS is a table of C functions with structures behind them. Only ChimeStoreSQLiteTests knows it.
// Calls may come from several threads; a mutex guards the log.

typedef struct power_disk power_disk;

/// Registers a VFS of this name with SQLite. NULL when it cannot.
power_disk *power_disk_make(const char *name);
/// Takes it away again. Every connection that used it has to be closed.
void power_disk_free(power_disk *disk);

/// Begins a log: what the files of `folder` hold now is taken to be on the disk for good. False when they cannot be read.
bool power_disk_begin(power_disk *disk, const char *folder);
/// The changes in the log: writes, truncations, new and deleted files, synchronisations.
long power_disk_changes(power_disk *disk);
/// What the change is, in words, for a failure's sentence.
void power_disk_describe(power_disk *disk, long change, char *text, int size);

/// What becomes of changes that were not synchronised.
typedef enum power_fate {
  power_nothing, ///< All are lost.
  power_all,     ///< All were written in time, as after a kill.
  power_some,    ///< By chance, sector by sector (512 or 4096 bytes), in any order; names of files likewise.
  power_garbled, ///< As `power_some`, and some sectors hold neither what was nor what should be there.
} power_fate;

/// Writes into `folder` what the disk holds when the power is cut after the first `cut` changes. The index of the log
/// (-shm) is memory, and is left behind as rubbish or not at all.
///
/// @return A number that is the same for the same content; 0 when the folder cannot be written.
uint64_t power_disk_survivors(power_disk *disk, long cut, power_fate fate, uint64_t seed, const char *folder);

typedef enum power_fault {
  power_fault_none,
  power_fault_io,   ///< EIO. A synchronisation that fails so is never made good: the kernel forgets what it could not write.
  power_fault_full, ///< ENOSPC: half of a write arrives.
} power_fault;

/// Lets the `after`-th access to a file from now on fail (0 is the next), and `count` of them in all.
void power_disk_fail(power_disk *disk, power_fault fault, long after, long count);
/// How many have failed since that call.
long power_disk_failed(power_disk *disk);

/// Looks at a database with a connection of its own: `verdict` is that of PRAGMA integrity_check, or why it cannot be
/// looked at.
///
/// @return A number that is the same for the same tables with the same rows.
uint64_t power_examine(const char *path, const char *vfs, char *verdict, int size);
