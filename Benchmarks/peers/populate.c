// populate DATABASE OWNER: writes reminders directly into the store of a stopped chimed, faster than any client could add
// them. Each line of standard input is a group:
//
//     COUNT FIRST SECOND-COUNT KIND CHANNEL TITLE
//
// COUNT reminders, spread evenly over SECOND-COUNT seconds from FIRST (seconds since the epoch) on, cycling through those
// seconds; KIND is `once` or `daily`. The second and the reminder's number are appended to the title.
#include "peer.h"
#include <sqlite3.h>

static sqlite3 *database;

static void run(const char *statement) {
  char *message = NULL;
  if (sqlite3_exec(database, statement, NULL, NULL, &message) == SQLITE_OK) return;
  fprintf(stderr, "%s: %s\n", statement, message);
  exit(1);
}

static sqlite3_stmt *prepared(const char *text) {
  sqlite3_stmt *statement;
  need(sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK, sqlite3_errmsg(database));
  return statement;
}

static void step(sqlite3_stmt *statement) {
  need(sqlite3_step(statement) == SQLITE_DONE, sqlite3_errmsg(database));
  sqlite3_reset(statement);
}

/// Makes eight characters for a number below 2^30, scattered like random IDs, starting with a letter.
static void make_id(char *id, uint32_t number) {
  static const char alphabet[] = "abcdefghijkmnpqrstuvwxyz23456789";
  uint32_t scattered = (number * 1103515245u + 12345u) & 0x3fffffff;
  id[0] = 'b';
  id[1] = 'm';
  for (int i = 2; i < 8; i++, scattered >>= 5) id[i] = alphabet[scattered & 31];
  id[8] = 0;
}

int main(int count, char **arguments) {
  need(count == 3, "populate DATABASE OWNER");
  need(sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, arguments[1]);
  int64_t owner = atoll(arguments[2]);
  run("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
  sqlite3_stmt *alias = prepared("INSERT INTO reminder_name (id) VALUES (?)");
  sqlite3_stmt *reminder = prepared(
    "INSERT INTO reminder (key, owner, generation, created_at, skip_next, zone, schedule, title, definition)"
    " VALUES (?, ?, 0, ?, 0, 'Europe/Prague', ?, ?, ?)");
  sqlite3_stmt *due = prepared("INSERT INTO due (reminder, snooze_of, next_at) VALUES (?, -1, ?)");
  int64_t now = microseconds(CLOCK_REALTIME) / 1000;
  char kind[16], channel[65], title[65];
  long amount, seconds;
  int64_t first;
  uint32_t number = 0;
  while (scanf("%ld %lld %ld %15s %64s %64s", &amount, (long long *)&first, &seconds, kind, channel, title) == 6) {
    char definition[128], schedule[64], name[128], id[24];
    snprintf(definition, sizeof definition, "{\"channels\":[\"%s\"]}", channel);
    for (long i = 0; i < amount; i++, number++) {
      time_t at = first + i % seconds;
      struct tm parts;
      gmtime_r(&at, &parts);
      if (strcmp(kind, "daily") == 0) {
        // The next time is the group's; later ones follow the schedule.
        strftime(schedule, sizeof schedule, "daily at %H:%M", &parts);
      } else {
        strftime(schedule, sizeof schedule, "at %Y-%m-%dT%H:%M:%SZ", &parts);
      }
      int length = snprintf(name, sizeof name, "%s %lld %ld", title, (long long)at, i);
      make_id(id, number);
      sqlite3_bind_text(alias, 1, id, -1, SQLITE_STATIC);
      step(alias);
      int64_t key = sqlite3_last_insert_rowid(database);
      sqlite3_bind_int64(reminder, 1, key);
      sqlite3_bind_int64(reminder, 2, owner);
      sqlite3_bind_int64(reminder, 3, now);
      sqlite3_bind_text(reminder, 4, schedule, -1, SQLITE_STATIC);
      sqlite3_bind_text(reminder, 5, name, length, SQLITE_STATIC);
      sqlite3_bind_text(reminder, 6, definition, -1, SQLITE_STATIC);
      step(reminder);
      sqlite3_bind_int64(due, 1, key);
      sqlite3_bind_int64(due, 2, (int64_t)at * 1000);
      step(due);
      if (number % 50000 == 49999) run("COMMIT; BEGIN");
    }
  }
  sqlite3_finalize(alias);
  sqlite3_finalize(reminder);
  sqlite3_finalize(due);
  run("COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_close(database);
  return 0;
}
