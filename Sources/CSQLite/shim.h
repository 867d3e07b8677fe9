#pragma once
#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite copies the bound bytes before returning.
static inline sqlite3_destructor_type chime_sqlite_transient(void) { return SQLITE_TRANSIENT; }
