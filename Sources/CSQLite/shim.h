#pragma once
#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/// Returns SQLITE_TRANSIENT, a cast that Swift cannot import. SQLite copies the bound bytes before it returns.
static inline sqlite3_destructor_type chime_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/// Sets whether closing the last connection checkpoints the log. A damaged file must be closed without changes.
/// sqlite3_db_config is variadic, which Swift cannot call.
static inline int chime_sqlite_checkpoint_on_close(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !on, (int *)0);
}

/// Refuses SQL that could damage the file, such as writable_schema. sqlite3_db_config is variadic.
static inline int chime_sqlite_defensive(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// Turns off memory statistics, which saves a lock per allocation. Call before the first connection opens.
/// sqlite3_config is variadic.
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

/// Makes SQLite report a failed disk read as an I/O error instead of corruption. Its unixRead maps EIO, ENXIO and
/// ERANGE to SQLITE_IOERR_CORRUPTFS, and the engine maps that to SQLITE_CORRUPT. The daemon moves a damaged file aside
/// but waits for a failing disk, so SQLite gets another errno, which it maps to SQLITE_IOERR_READ
/// (sqlite.org/c3ref/vfs.html, xSetSystemCall). Call before the first connection opens.
///
/// Returns SQLITE_OK, or SQLite's error.
static inline int chime_sqlite_tell_disk_from_damage(void) {
  sqlite3_vfs *files = sqlite3_vfs_find("unix");
  if (!files || files->iVersion < 3) return SQLITE_NOTFOUND;
  int code = files->xSetSystemCall(files, "read", (sqlite3_syscall_ptr)chime_sqlite_read);
  // SQLite's build decides which of the two it uses.
  if (code == SQLITE_OK) code = files->xSetSystemCall(files, "pread", (sqlite3_syscall_ptr)chime_sqlite_pread);
  if (code == SQLITE_OK) code = files->xSetSystemCall(files, "pread64", (sqlite3_syscall_ptr)chime_sqlite_pread);
  return code;
}

enum {
  chime_log_unknown = -1,
  /// The log matches its index, or is completely in the database.
  chime_log_sound = 0,
  chime_log_short = 1,
  chime_log_other = 2,
};

static inline uint32_t chime_sqlite_big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Compares the log with its index in shared memory: the size, the salt of the header, and salt and checksum of the
/// last frame (sqlite.org/walformat.html). A process that truncates or overwrites the log does not change the index.
/// Call between transactions.
///
/// - salt: Identifies this log. A new log replaces it after all of it is in the database.
static inline int chime_sqlite_log_state(sqlite3 *db, uint64_t *salt) {
  sqlite3_file *file = 0, *log = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || !file || !file->pMethods ||
      file->pMethods->iVersion < 2 || !log || !log->pMethods)
    return chime_log_unknown;
  volatile void *mapped = 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &mapped) != SQLITE_OK || !mapped) return chime_log_unknown;
  uint8_t index[100];
  memcpy(index, (const void *)mapped, sizeof index);
  // The header is stored twice. The copies differ while it changes.
  if (memcmp(index, index + 48, 48) || !index[12]) return chime_log_unknown;
  uint16_t size16;
  uint32_t frames, folded, sums[2];
  memcpy(&size16, index + 14, 2);
  memcpy(&frames, index + 16, 4);
  memcpy(sums, index + 24, 8);
  memcpy(salt, index + 32, 8);
  memcpy(&folded, index + 96, 4);
  if (folded >= frames) return chime_log_sound;
  sqlite3_int64 page = (size16 & 0xfe00) + ((size16 & 1) << 16), size = 0;
  sqlite3_int64 last = 32 + (sqlite3_int64)(frames - 1) * (24 + page);
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return chime_log_unknown;
  if (size < last + 24 + page) return chime_log_short;
  uint8_t bytes[32];
  if (log->pMethods->xRead(log, bytes, 32, 0) != SQLITE_OK) return chime_log_unknown;
  if (memcmp(bytes + 16, index + 32, 8)) return chime_log_other;
  if (log->pMethods->xRead(log, bytes, 24, last) != SQLITE_OK) return chime_log_unknown;
  if (memcmp(bytes + 8, index + 32, 8) || chime_sqlite_big_endian(bytes + 16) != sums[0] ||
      chime_sqlite_big_endian(bytes + 20) != sums[1])
    return chime_log_other;
  return chime_log_sound;
}
