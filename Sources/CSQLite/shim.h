#pragma once
#include <sqlite3.h>

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
