// fires DATABASE NOW: measures how many durable firings per second a plain C program makes, in batches of 500 with one
// commit each and synchronous=FULL. A firing inserts an occurrence and a delivery, and advances the due time by a day.
//
// With a NOW (milliseconds since the epoch), DATABASE is an unused store of chimed: the program runs chimed's statements
// for a firing on its tables, indexes and foreign keys until nothing is due. With NOW 0 the program creates DATABASE,
// with the simplest tables for the same content.
#include "peer.h"
#include <sqlite3.h>

enum { batch = 500, plain_reminders = 50000 };

struct due {
  int64_t reminder, next_at;
  char title[128];
};

static sqlite3 *database;

static void run(const char *statement) {
  char *message = NULL;
  if (sqlite3_exec(database, statement, NULL, NULL, &message) == SQLITE_OK) return;
  fprintf(stderr, "%s: %s\n", statement, message);
  exit(1);
}

static sqlite3_stmt *prepared(const char *text) {
  sqlite3_stmt *statement;
  need(
    sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK,
    sqlite3_errmsg(database));
  return statement;
}

static void step(sqlite3_stmt *statement) {
  need(sqlite3_step(statement) == SQLITE_DONE, sqlite3_errmsg(database));
  sqlite3_reset(statement);
}

/// Makes an ID in chimed's stored form: the time and 80 random bits.
static void make_id(unsigned char id[16], int64_t now) {
  static uint64_t state = 88172645463325252u;
  for (int i = 0; i < 6; i++) id[i] = now >> (40 - 8 * i) & 255;
  for (int i = 6; i < 16; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    id[i] = state >> 20 & 255;
  }
}

static void make_plain(void) {
  run("CREATE TABLE reminder (key INTEGER PRIMARY KEY, title TEXT, schedule TEXT);"
      "CREATE TABLE due (reminder INTEGER PRIMARY KEY, next_at INTEGER); CREATE INDEX due_next ON due (next_at);"
      "CREATE TABLE occurrence (reminder INTEGER, scheduled_at INTEGER, state INTEGER, fired_at INTEGER, title TEXT,"
      " PRIMARY KEY (reminder, scheduled_at)) WITHOUT ROWID;"
      "CREATE TABLE delivery (id BLOB PRIMARY KEY, reminder INTEGER, scheduled_at INTEGER, queue INTEGER,"
      " state INTEGER, visible_at INTEGER); CREATE INDEX delivery_pending ON delivery (queue, visible_at) WHERE state <= 1;"
      "BEGIN");
  sqlite3_stmt *reminder = prepared("INSERT INTO reminder VALUES (?1, 'bench ' || ?1, 'daily at 08:30')");
  sqlite3_stmt *due = prepared("INSERT INTO due VALUES (?, 1000)");
  for (int i = 1; i <= plain_reminders; i++) {
    sqlite3_bind_int64(reminder, 1, i);
    step(reminder);
    sqlite3_bind_int64(due, 1, i);
    step(due);
  }
  run("COMMIT");
  sqlite3_finalize(reminder);
  sqlite3_finalize(due);
}

int main(int count, char **arguments) {
  need(count == 3, "fires DATABASE NOW");
  need(sqlite3_open(arguments[1], &database) == SQLITE_OK, arguments[1]);
  int64_t now = atoll(arguments[2]);
  int is_plain = now == 0;
  run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -4000;"
      "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 16777216");
  if (is_plain) make_plain(), now = 2000;

  sqlite3_stmt *claim = prepared(
    is_plain ? "SELECT d.reminder, d.next_at, r.title FROM due d CROSS JOIN reminder r ON r.key = d.reminder"
               " WHERE d.next_at <= ? ORDER BY d.next_at, d.reminder LIMIT ?"
             : "SELECT d.reminder, d.next_at, r.title, r.owner, r.body, r.schedule, r.zone, r.skip_next, r.created_at,"
               " r.generation, r.definition, a.id, o.state FROM due d"
               " CROSS JOIN reminder r ON r.key = d.reminder CROSS JOIN reminder_name a ON a.key = d.reminder"
               " LEFT JOIN occurrence o ON o.reminder = d.reminder"
               " AND o.scheduled_at = iif(d.snooze_of = -1, coalesce(d.scheduled_at, d.next_at), d.snooze_of)"
               " WHERE d.next_at <= ? ORDER BY d.next_at, d.reminder, d.snooze_of LIMIT ?");
  sqlite3_stmt *occurrence = prepared(
    is_plain ? "INSERT INTO occurrence VALUES (?2, ?1, 0, ?4, ?5)"
             : "INSERT INTO occurrence (scheduled_at, reminder, owner, state, rounds, fired_at, title)"
               " VALUES (?1, ?2, ?3, 0, 1, ?4, ?5)"
               " ON CONFLICT (scheduled_at, reminder) DO UPDATE SET state = 0 WHERE occurrence.state = 5");
  sqlite3_stmt *delivery = prepared(
    is_plain ? "INSERT INTO delivery VALUES (?1, ?3, ?2, ?4, 0, ?5)"
             : "INSERT INTO delivery (id, scheduled_at, reminder, queue, round, state, visible_at, attempts, created_at)"
               " VALUES (?1, ?2, ?3, ?4, 1, 0, ?5, 0, ?5)");
  sqlite3_stmt *advance = prepared(
    is_plain ? "UPDATE due SET next_at = ?1 WHERE reminder = ?2 AND next_at = ?3"
             : "UPDATE due SET next_at = ?1 WHERE reminder = ?2 AND snooze_of = -1 AND next_at = ?3");
  sqlite3_stmt *horizon = prepared("SELECT min(next_at) FROM due");
  if (!is_plain) run("INSERT OR IGNORE INTO delivery_queue (key, owner, channel) VALUES (1, 1000, 'bench')");

  static struct due found[batch];
  long fires = 0;
  int64_t begin = microseconds(CLOCK_MONOTONIC);
  for (int amount = batch; amount == batch;) {
    run("BEGIN IMMEDIATE");
    sqlite3_bind_int64(claim, 1, now);
    sqlite3_bind_int64(claim, 2, batch);
    for (amount = 0; sqlite3_step(claim) == SQLITE_ROW; amount++) {
      struct due *due = &found[amount];
      due->reminder = sqlite3_column_int64(claim, 0);
      due->next_at = sqlite3_column_int64(claim, 1);
      snprintf(due->title, sizeof due->title, "%s", (const char *)sqlite3_column_text(claim, 2));
      // Read the rest of the row too, as chimed does; its meaning does not matter here.
      for (int column = 3; column < sqlite3_column_count(claim); column++) sqlite3_column_text(claim, column);
    }
    sqlite3_reset(claim);
    for (int i = 0; i < amount; i++) {
      struct due *due = &found[i];
      sqlite3_bind_int64(occurrence, 1, due->next_at);
      sqlite3_bind_int64(occurrence, 2, due->reminder);
      if (!is_plain) sqlite3_bind_int64(occurrence, 3, 1000);
      sqlite3_bind_int64(occurrence, 4, now);
      sqlite3_bind_text(occurrence, 5, due->title, -1, SQLITE_STATIC);
      step(occurrence);
      unsigned char id[16];
      make_id(id, now);
      sqlite3_bind_blob(delivery, 1, id, 16, SQLITE_STATIC);
      sqlite3_bind_int64(delivery, 2, due->next_at);
      sqlite3_bind_int64(delivery, 3, due->reminder);
      sqlite3_bind_int64(delivery, 4, 1);
      sqlite3_bind_int64(delivery, 5, now);
      step(delivery);
      sqlite3_bind_int64(advance, 1, due->next_at + 86400000);
      sqlite3_bind_int64(advance, 2, due->reminder);
      sqlite3_bind_int64(advance, 3, due->next_at);
      step(advance);
    }
    sqlite3_step(horizon);
    sqlite3_reset(horizon);
    run("COMMIT");
    fires += amount;
  }
  double seconds = (microseconds(CLOCK_MONOTONIC) - begin) / 1e6;
  printf("%ld %.6f\n", fires, seconds);
  return 0;
}
