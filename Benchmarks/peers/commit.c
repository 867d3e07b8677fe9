// commit DATABASE SECONDS: measures how many rows per second a plain SQLite program inserts, each in its own commit with
// synchronous=FULL. A row is as long as a reminder's.
#include "peer.h"
#include <sqlite3.h>

static void run(sqlite3 *database, const char *statement) {
  char *message = NULL;
  if (sqlite3_exec(database, statement, NULL, NULL, &message) == SQLITE_OK) return;
  fprintf(stderr, "%s: %s\n", statement, message);
  exit(1);
}

int main(int count, char **arguments) {
  need(count == 3, "commit DATABASE SECONDS");
  sqlite3 *database;
  sqlite3_stmt *insert;
  need(sqlite3_open(arguments[1], &database) == SQLITE_OK, "sqlite3_open");
  run(database, "PRAGMA journal_mode = WAL");
  run(database, "PRAGMA synchronous = FULL");
  run(database, "CREATE TABLE reminder (id TEXT PRIMARY KEY, due INTEGER, definition TEXT) WITHOUT ROWID");
  run(database, "CREATE INDEX reminder_due ON reminder (due)");
  char definition[400];
  memset(definition, 'x', sizeof definition);
  need(
    sqlite3_prepare_v2(database, "INSERT INTO reminder VALUES (?, ?, ?)", -1, &insert, NULL) == SQLITE_OK,
    "sqlite3_prepare_v2");
  int64_t begin = microseconds(CLOCK_MONOTONIC), span = (int64_t)(atof(arguments[2]) * 1e6), now = begin;
  long rows = 0;
  for (; now < begin + span; now = microseconds(CLOCK_MONOTONIC)) {
    char id[16];
    // A full-period sequence over 2^30: distinct, and scattered like random IDs.
    int length = snprintf(id, sizeof id, "%08x", (unsigned)(rows * 1103515245 + 12345) & 0x3fffffff);
    sqlite3_bind_text(insert, 1, id, length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, now);
    sqlite3_bind_text(insert, 3, definition, sizeof definition, SQLITE_STATIC);
    need(sqlite3_step(insert) == SQLITE_DONE, sqlite3_errmsg(database));
    sqlite3_reset(insert);
    rows += 1;
  }
  printf("%.1f\n", rows / ((now - begin) / 1e6));
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
