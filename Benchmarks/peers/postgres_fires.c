// postgres_fires CONNECTION NOW CONNECTIONS: measures how many durable firings per second a plain libpq program makes on
// an otherwise unused PostgreSQL store of chimed, in batches of 500 with one commit each, until nothing is due at NOW
// (milliseconds since the epoch). Each connection has a thread.
//
// A batch sends the same as chimed: claim and lock, read the claimed reminders, then in one pipeline the occurrences, the
// deliveries, the due times advanced by a day, the next times, and COMMIT. Parameters and results are binary.
#include "peer.h"
#include <endian.h>
#include <libpq-fe.h>
#include <pthread.h>

enum { batch = 500, buckets = 16, most_connections = 64, int8 = 20, text = 25, int8s = 1016, texts = 1009, bytea = 17, byteas = 1001 };

static const char *where;
static int64_t now;

struct bytes {
  char *start;
  size_t count, room;
};

static void put(struct bytes *bytes, const void *from, size_t count) {
  if (bytes->count + count > bytes->room) {
    bytes->room = (bytes->count + count) * 2;
    bytes->start = realloc(bytes->start, bytes->room);
    need(bytes->start != NULL, "realloc");
  }
  memcpy(bytes->start + bytes->count, from, count);
  bytes->count += count;
}

static void put4(struct bytes *bytes, int32_t value) {
  uint32_t big = htobe32((uint32_t)value);
  put(bytes, &big, 4);
}

static void put8(struct bytes *bytes, int64_t value) {
  uint64_t big = htobe64((uint64_t)value);
  put(bytes, &big, 8);
}

static void begin_array(struct bytes *bytes, int32_t type, int32_t count) {
  bytes->count = 0;
  put4(bytes, 1), put4(bytes, 1), put4(bytes, type), put4(bytes, count), put4(bytes, 1);
}

static void put_number(struct bytes *bytes, int64_t value) { put4(bytes, 8), put8(bytes, value); }

static void put_text(struct bytes *bytes, const char *from, size_t count) {
  put4(bytes, (int32_t)count);
  put(bytes, from, count);
}

static int64_t number(const PGresult *result, int row, int column) {
  uint64_t big;
  memcpy(&big, PQgetvalue(result, row, column), 8);
  return (int64_t)be64toh(big);
}

/// Makes an ID in chimed's stored form: the time and 80 random bits.
static void make_id(char id[16], uint64_t *state) {
  for (int i = 0; i < 6; i++) id[i] = (char)(now >> (40 - 8 * i));
  for (int i = 6; i < 16; i++) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    id[i] = (char)(*state >> 20);
  }
}

static PGresult *checked(PGconn *session, PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_SYNC) return result;
  fprintf(stderr, "%s\n", PQerrorMessage(session));
  exit(1);
}

static void run(PGconn *session, const char *sql) { PQclear(checked(session, PQexec(session, sql))); }

static void prepare(PGconn *session, const char *name, const char *sql, int count, const Oid *types) {
  PQclear(checked(session, PQprepare(session, name, sql, count, types)));
}

static void send_prepared(PGconn *session, const char *name, int count, const struct bytes *parameters) {
  const char *values[24];
  int lengths[24], formats[24];
  for (int i = 0; i < count; i++) {
    // An empty parameter is NULL.
    values[i] = parameters[i].count ? parameters[i].start : NULL;
    lengths[i] = (int)parameters[i].count, formats[i] = 1;
  }
  need(PQsendQueryPrepared(session, name, count, values, lengths, formats, 1) == 1, "PQsendQueryPrepared");
}

/// Returns the result of the pipeline's next statement.
static PGresult *next_result(PGconn *session) {
  PGresult *result = checked(session, PQgetResult(session)), *rest;
  while ((rest = PQgetResult(session)) != NULL) PQclear(rest);
  return result;
}

static void end_pipeline(PGconn *session) {
  PQclear(checked(session, PQgetResult(session)));
  need(PQexitPipelineMode(session) == 1, "PQexitPipelineMode");
}

static void set(struct bytes *parameter, int64_t value) {
  parameter->count = 0;
  put8(parameter, value);
}

static void prepare_all(PGconn *session) {
  prepare(
    session, "keep", "SELECT set_config('idle_in_transaction_session_timeout', '5000', true),"
    " set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),"
    " set_config('enable_seqscan', 'off', true)", 0, NULL);
  prepare(
    session, "claim",
    "SELECT d.reminder, d.snooze_of, d.bucket::bigint, d.next_at, d.scheduled_at FROM unnest($1) WITH ORDINALITY b (floor, place)"
    " CROSS JOIN LATERAL (SELECT x.reminder, x.snooze_of, x.bucket, x.next_at, x.scheduled_at FROM due x"
    " WHERE x.bucket = ($2 + b.place - 1) % 16 AND x.next_at <= $3 AND x.next_at >= b.floor"
    " ORDER BY x.next_at LIMIT $4 FOR UPDATE SKIP LOCKED) d LIMIT $4",
    4, (Oid[]){int8s, int8, int8, int8});
  prepare(
    session, "read",
    "SELECT a.id, r.owner, r.title, r.body, r.schedule, r.zone, r.skip_next, r.created_at, r.generation, r.definition,"
    " a.id, o.scheduled_at, o.owner, o.state, o.rounds, o.fired_at,"
    " o.delivered_at, o.ended_at, o.snoozed_until, o.reason, o.late, o.run_count, o.run_through, o.title, o.repeats,"
    " o.repeat_at, k.place"
    " FROM unnest($1, $2) WITH ORDINALITY k (reminder, scheduled_at, place)"
    " JOIN reminder r ON r.key = k.reminder JOIN reminder_name a ON a.key = k.reminder"
    " LEFT JOIN occurrence o ON o.reminder = k.reminder AND o.scheduled_at = k.scheduled_at"
    " ORDER BY k.place",
    2, (Oid[]){int8s, int8s});
  prepare(
    session, "occurrences",
    "INSERT INTO occurrence (scheduled_at, reminder, owner, state, rounds, fired_at, title, repeats)"
    " SELECT unnest($1), unnest($2), unnest($3), 0, 1, unnest($4), unnest($5), 0"
    " ON CONFLICT (scheduled_at, reminder) DO UPDATE SET state = excluded.state"
    " WHERE occurrence.state = 5 AND occurrence.fired_at IS NULL"
    " RETURNING scheduled_at, reminder",
    5, (Oid[]){int8s, int8s, int8s, int8s, texts});
  prepare(
    session, "deliveries",
    "INSERT INTO delivery (id, scheduled_at, reminder, queue, round, state, visible_at, attempts, created_at, in_order,"
    " attempts_before)"
    " SELECT unnest($1), unnest($2), unnest($3), $4, 1, 0, $5, 0, $5, 0, 0",
    5, (Oid[]){byteas, int8s, int8s, int8, int8});
  prepare(
    session, "advance",
    "UPDATE due d SET next_at = u.next_at, scheduled_at = NULL, wakes = 0"
    " FROM (SELECT unnest($1) reminder, unnest($2) was, unnest($3) next_at) u"
    " WHERE d.reminder = u.reminder AND d.snooze_of = -1 AND coalesce(d.scheduled_at, d.next_at) = u.was"
    " RETURNING d.reminder",
    3, (Oid[]){int8s, int8s, int8s});
  prepare(
    session, "horizon",
    "SELECT (SELECT min(f.next_at) FROM unnest($1) WITH ORDINALITY b (floor, place) CROSS JOIN LATERAL ("
    " SELECT d.next_at FROM due d WHERE d.bucket = b.place - 1 AND d.next_at >= b.floor ORDER BY d.next_at LIMIT 1) f),"
    " (SELECT min(next_at) FROM due WHERE wakes = 1)",
    1, (Oid[]){int8s});
  prepare(
    session, "owed",
    "SELECT l.owner, l.channel, (SELECT min(d.visible_at) FROM delivery d WHERE d.queue = l.key AND d.state <= 1)"
    " FROM delivery_queue l", 0, NULL);
  prepare(session, "commit", "COMMIT", 0, NULL);
}

/// Fires until nothing is due; returns the number of firings.
static void *fire(void *argument) {
  long fires = 0;
  int first = (int)(intptr_t)argument % buckets;
  uint64_t state = 88172645463325252u + (uint64_t)(intptr_t)argument * 7919;
  int64_t floors[buckets], cleared_at = 0, queue = 0;
  PGconn *session = PQconnectdb(where);
  need(PQstatus(session) == CONNECTION_OK, PQerrorMessage(session));
  run(session, "SET search_path = chime; SET jit = off");
  prepare_all(session);
  PGresult *result = checked(
    session, PQexec(
      session, "INSERT INTO delivery_queue (owner, channel) VALUES (1000, 'bench')"
      " ON CONFLICT (owner, channel) DO UPDATE SET owner = excluded.owner RETURNING key"));
  queue = atoll(PQgetvalue(result, 0, 0));
  PQclear(result);
  struct bytes parameters[5] = {0}, claim[4] = {0}, keys[2] = {0}, horizon[1] = {0};
  for (int i = 0; i < buckets; i++) floors[i] = INT64_MIN;

  for (;;) {
    int64_t clock = microseconds(CLOCK_MONOTONIC);
    if (clock - cleared_at > 1000000) {
      for (int i = 0; i < buckets; i++) floors[i] = INT64_MIN;
      cleared_at = clock;
    }
    run(session, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_current_xact_id() || ' ' ||"
                 " floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    begin_array(&claim[0], int8, buckets);
    for (int i = 0; i < buckets; i++) put_number(&claim[0], floors[(first + i) % buckets]);
    set(&claim[1], first), set(&claim[2], now), set(&claim[3], batch);
    need(PQenterPipelineMode(session) == 1, "PQenterPipelineMode");
    send_prepared(session, "keep", 0, NULL);
    send_prepared(session, "claim", 4, claim);
    need(PQpipelineSync(session) == 1, "PQpipelineSync");
    PQclear(next_result(session));
    PGresult *found = next_result(session);
    end_pipeline(session);
    int amount = PQntuples(found);
    begin_array(&keys[0], int8, amount), begin_array(&keys[1], int8, amount);
    for (int i = 0; i < amount; i++) {
      put_number(&keys[0], number(found, i, 0)), put_number(&keys[1], number(found, i, 3));
      uint32_t bucket = (uint32_t)number(found, i, 2);
      if (amount == batch && floors[bucket] < number(found, i, 3)) floors[bucket] = number(found, i, 3);
      first = (int)bucket;
    }
    if (amount < batch) for (int i = 0; i < buckets; i++) floors[i] = INT64_MIN;

    if (amount == 0) {
      PQclear(checked(session, PQexec(session, "ROLLBACK")));
    } else {
      const char *values[2] = {keys[0].start, keys[1].start};
      int lengths[2] = {(int)keys[0].count, (int)keys[1].count}, formats[2] = {1, 1};
      PGresult *rows = checked(session, PQexecPrepared(session, "read", 2, values, lengths, formats, 1));
      need(PQntuples(rows) == amount, "each that is locked");
      need(PQenterPipelineMode(session) == 1, "PQenterPipelineMode");
      begin_array(&parameters[0], int8, amount), begin_array(&parameters[1], int8, amount);
      begin_array(&parameters[2], int8, amount), begin_array(&parameters[3], int8, amount);
      begin_array(&parameters[4], text, amount);
      for (int i = 0; i < amount; i++) {
        put_number(&parameters[0], number(found, i, 3)), put_number(&parameters[1], number(found, i, 0));
        put_number(&parameters[2], 1000), put_number(&parameters[3], now);
        put_text(&parameters[4], PQgetvalue(rows, i, 2), (size_t)PQgetlength(rows, i, 2));
      }
      send_prepared(session, "occurrences", 5, parameters);
      begin_array(&parameters[2], int8, amount);
      for (int i = 0; i < amount; i++) put_number(&parameters[2], number(found, i, 3) + 86400000);
      struct bytes moved[3] = {parameters[1], parameters[0], parameters[2]};
      send_prepared(session, "advance", 3, moved);
      struct bytes owed[5] = {parameters[4], parameters[0], parameters[1], parameters[2], parameters[3]};
      begin_array(&owed[0], bytea, amount);
      for (int i = 0; i < amount; i++) {
        char id[16];
        make_id(id, &state);
        put_text(&owed[0], id, sizeof id);
      }
      set(&owed[3], queue), set(&owed[4], now);
      send_prepared(session, "deliveries", 5, owed);
      // Use the buffers again, which may have grown.
      parameters[4] = owed[0], parameters[2] = owed[3], parameters[3] = owed[4];
      begin_array(&horizon[0], int8, buckets);
      for (int i = 0; i < buckets; i++) put_number(&horizon[0], floors[i]);
      send_prepared(session, "horizon", 1, horizon);
      send_prepared(session, "owed", 0, NULL);
      send_prepared(session, "commit", 0, NULL);
      need(PQpipelineSync(session) == 1, "PQpipelineSync");
      for (int i = 0; i < 6; i++) PQclear(next_result(session));
      end_pipeline(session);
      PQclear(rows);
    }
    PQclear(found);
    fires += amount;
    if (amount > 0) continue;
    // Check whether other connections have locked the rest.
    char question[96];
    snprintf(question, sizeof question, "SELECT 1 FROM due WHERE next_at <= %lld LIMIT 1", (long long)now);
    PGresult *left = checked(session, PQexec(session, question));
    int is_over = PQntuples(left) == 0;
    PQclear(left);
    if (is_over) break;
    usleep(1000);
  }
  PQfinish(session);
  return (void *)(intptr_t)fires;
}

int main(int count, char **arguments) {
  need(count == 4, "postgres_fires CONNECTION NOW CONNECTIONS");
  where = arguments[1], now = atoll(arguments[2]);
  int connections = atoi(arguments[3]);
  need(connections > 0 && connections <= most_connections, "1 to 64 connections");
  pthread_t threads[most_connections];
  long fires = 0;
  int64_t begin = microseconds(CLOCK_MONOTONIC);
  for (int i = 0; i < connections; i++)
    need(pthread_create(&threads[i], NULL, fire, (void *)(intptr_t)(i * buckets / connections)) == 0, "pthread_create");
  for (int i = 0; i < connections; i++) {
    void *some;
    pthread_join(threads[i], &some);
    fires += (long)(intptr_t)some;
  }
  printf("%ld %.6f\n", fires, (microseconds(CLOCK_MONOTONIC) - begin) / 1e6);
  return 0;
}
