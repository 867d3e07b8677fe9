#pragma once
#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

/// SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite copies the bound bytes before returning.
static inline sqlite3_destructor_type chime_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/// sqlite3_db_config is variadic, which Swift cannot call: whether closing the last connection folds the log into the
/// database. A damaged file is to be closed without a byte of it being changed.
static inline int chime_sqlite_checkpoint_on_close(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !on, (int *)0);
}

/// sqlite3_db_config is variadic: refuses SQL that could damage the file (writable_schema, shadow tables).
static inline int chime_sqlite_defensive(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// sqlite3_config is variadic: SQLite keeps no statistics of its memory, and so needs no lock for each allocation. Only
/// before the first connection is opened.
static inline int chime_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline ssize_t chime_sqlite_refused(ssize_t got) {
  if (got < 0 && (errno == EIO || errno == ENXIO || errno == ERANGE)) errno = EREMOTEIO;
  return got;
}

static inline ssize_t chime_sqlite_read(int file, void *bytes, size_t count) {
  return chime_sqlite_refused(read(file, bytes, count));
}

static inline ssize_t chime_sqlite_pread(int file, void *bytes, size_t count, off_t offset) {
  return chime_sqlite_refused(pread(file, bytes, count, offset));
}

/// SQLite takes a read that the disk refuses for damage of the file: unixRead of its os_unix.c makes
/// SQLITE_IOERR_CORRUPTFS of EIO, ENXIO and ERANGE, and the engine SQLITE_CORRUPT of that. A damaged file is moved aside
/// here, a disk that fails is waited for; so SQLite is given another number, of which it makes SQLITE_IOERR_READ
/// (sqlite.org/c3ref/vfs.html, xSetSystemCall). Only before the first connection is opened.
///
/// Returns SQLITE_OK, or why SQLite would not have it.
static inline int chime_sqlite_tell_disk_from_damage(void) {
  sqlite3_vfs *files = sqlite3_vfs_find("unix");
  if (!files || files->iVersion < 3) return SQLITE_NOTFOUND;
  int code = files->xSetSystemCall(files, "read", (sqlite3_syscall_ptr)chime_sqlite_read);
  // Which of the two it uses is settled where it is built.
  if (code == SQLITE_OK) code = files->xSetSystemCall(files, "pread", (sqlite3_syscall_ptr)chime_sqlite_pread);
  if (code == SQLITE_OK) code = files->xSetSystemCall(files, "pread64", (sqlite3_syscall_ptr)chime_sqlite_pread);
  return code;
}
