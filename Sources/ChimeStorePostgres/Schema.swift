import ChimeCore
import ChimeRecords

/// The schema of the database and its migrations. Everything is in the schema `chime`.
enum Schema {
  static let migrations = [
    Migration(version: 1, script: SharedTables.script(.postgres) + version1 + monthFunctions)
  ]

  /// The newest version that this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// The advisory locks of the database ("Chme" and a number). Users of the tables share the first one, a migration
  /// takes it exclusively.
  static let daemonLock = "1130917221, 1"
  static let migrationLock = "1130917221, 2"
  /// The lock for creating and dropping months.
  static let monthLock = "1130917221, 3"

  /// Migrates the database in one transaction: all steps or none. Of several programs, one does it.
  ///
  /// - Throws: `.newerSchema` if a newer program wrote it.
  static func migrate(_ connection: Connection, by migrations: [Migration] = migrations) throws {
    // Most starts find the current version and change nothing.
    if try version(of: connection) == migrations.last?.version { return }
    _ = try connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    do {
      try connection.script("SELECT pg_advisory_xact_lock(\(migrationLock))")
      try change(connection, by: migrations)
      try connection.script("COMMIT")
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Runs the steps in the caller's transaction.
  static func change(_ connection: Connection, by migrations: [Migration] = migrations) throws {
    let (found, known) = (try version(of: connection), migrations.last?.version ?? 0)
    guard found <= known else { throw StoreFailure.newerSchema(found: found, known: known) }
    if found == 0 {
      try connection.script("CREATE SCHEMA IF NOT EXISTS chime")
      try connection.script("CREATE TABLE IF NOT EXISTS chime.layout (version BIGINT NOT NULL)")
    }
    for migration in migrations where migration.version > found {
      // Creating an index of a large table takes longer than the statement timeout.
      try connection.script("SET LOCAL statement_timeout = 0")
      try connection.script(migration.script())
      try connection.script("DELETE FROM chime.layout; INSERT INTO chime.layout VALUES (\(migration.version))")
    }
  }

  /// Returns the version of the database; 0 if it has no tables.
  static func version(of connection: Connection) throws -> Int {
    guard try connection.script("SELECT to_regclass('chime.layout')::text") != nil else { return 0 }
    return try connection.script("SELECT max(version)::text FROM chime.layout").flatMap { Int($0) } ?? 0
  }
}

// Times are milliseconds since the epoch. Codes are the indexes of the domain's enum cases. The bound in a partial
// index is the last code that is included. Text is compared byte by byte.
//
// Tables that each firing writes have no foreign keys: a check would lock and look up a row for every row.
private let version1 = """
  CREATE INDEX reminder_title ON reminder USING hash (title);
  CREATE INDEX reminder_except ON reminder (key) WHERE strpos(schedule, 'except') > 0;
  CREATE INDEX reminder_expects ON reminder (key) WHERE strpos(definition, '"within":') > 0;

  -- What the clock waits for. `snooze_of` is -1 for a reminder's regular time, whose scheduled time is `scheduled_at`, or
  -- `next_at` where that is null; otherwise it is the scheduled time of an occurrence that comes again at `next_at`.
  -- `wakes`: 1 when the machine is woken for it. `bucket` leads the index, so that several connections claim apart from
  -- each other and the dead rows of one time do not lie in front of all that comes after it.
  CREATE TABLE due (
    reminder BIGINT NOT NULL REFERENCES reminder (key) ON DELETE CASCADE,
    snooze_of BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    scheduled_at BIGINT,
    wakes SMALLINT NOT NULL DEFAULT 0,
    bucket SMALLINT NOT NULL GENERATED ALWAYS AS (reminder % 16) STORED,
    PRIMARY KEY (reminder, snooze_of)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  CREATE INDEX due_next ON due (bucket, next_at);
  CREATE INDEX due_snoozed ON due (reminder) WHERE snooze_of >= 0;
  CREATE INDEX due_moved ON due (scheduled_at) WHERE scheduled_at IS NOT NULL;
  CREATE INDEX due_waking ON due (next_at) WHERE wakes = 1;

  -- Times that have come, and attempts, lie by months of the scheduled time (UTC), so that a month that is over is dropped
  -- and not deleted row by row. What is in no month that has been made is in the `_rest` of each.
  --
  -- state: 0 fired, 1 delivered, 2 snoozed (until `snoozed_until`), 3 done, 4 dismissed, 5 missed (for `reason`).
  CREATE TABLE occurrence (
    scheduled_at BIGINT NOT NULL,
    reminder BIGINT NOT NULL,
    owner BIGINT NOT NULL,
    fired_at BIGINT,
    delivered_at BIGINT,
    ended_at BIGINT,
    snoozed_until BIGINT,
    run_through BIGINT,
    repeat_at BIGINT,
    state SMALLINT NOT NULL CHECK (state BETWEEN 0 AND 6),
    rounds INTEGER NOT NULL,
    repeats INTEGER NOT NULL,
    run_count BIGINT,
    reason TEXT COLLATE "C",
    late TEXT COLLATE "C",
    answered_by TEXT COLLATE "C",
    title TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (scheduled_at, reminder)
  ) PARTITION BY RANGE (scheduled_at);
  -- A time is in one of the two.
  CREATE INDEX occurrence_open ON occurrence (reminder, scheduled_at, owner, state) WHERE state <= 2;
  CREATE INDEX occurrence_closed ON occurrence (reminder, scheduled_at) WHERE state > 2;
  -- When others that wait for a reminder find it done.
  CREATE INDEX occurrence_done ON occurrence (reminder, ended_at) WHERE state = 3 OR reason = 'doneAlready';
  CREATE TABLE occurrence_rest PARTITION OF occurrence DEFAULT;

  -- Attempts that others followed. Append only. `position` counts the delivery's, from 1.
  -- outcome: 0 delivered, 1 failed, 2 refused.
  -- `scheduled_at` is that of the delivery's occurrence, so that both go with the same month, and an attempt is looked
  -- for in one month only.
  CREATE TABLE attempt (
    delivery BIGINT NOT NULL,
    position INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    status BIGINT,
    outcome SMALLINT NOT NULL,
    answer TEXT COLLATE "C",
    error TEXT COLLATE "C",
    scheduled_at BIGINT NOT NULL,
    PRIMARY KEY (delivery, position, scheduled_at)
  ) PARTITION BY RANGE (scheduled_at);
  CREATE TABLE attempt_rest PARTITION OF attempt DEFAULT;

  -- While a month is about to be dropped: those of its times that stay, and those that have changed since they were
  -- looked at.
  CREATE TABLE staying (
    scheduled_at BIGINT NOT NULL,
    reminder BIGINT NOT NULL,
    PRIMARY KEY (scheduled_at, reminder)
  );

  -- One queue of the outbox. Never removed: there are few, and their deliveries are history. `ordered`: 1 when a delivery
  -- is tried only after every earlier one of the queue has been settled. `shard`: queues are shared out by it.
  CREATE TABLE delivery_queue (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner BIGINT NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    ordered SMALLINT NOT NULL DEFAULT 0,
    shard SMALLINT NOT NULL GENERATED ALWAYS AS (key % 256) STORED,
    UNIQUE (owner, channel)
  );

  -- state: 0 pending, 1 waiting (until `state_at`), 2 delivered, 3 dead, 4 cancelled (each at `state_at`).
  -- `visible_at`: when it may be claimed, for as long as it is owed. `in_order`: 1 in an ordered queue. `attempts_before`:
  -- those that ended before it was sent again on request. `epoch`: under which of its queue's lease it was claimed last: what
  -- came of it counts under that one only. `started_at` to `error`: the latest attempt, of which most have no other; null: none
  -- has ended. `event`: what it tells (`DeliveryEvent.text`); null: that its occurrence fires. `receipt`: what the
  -- receiver calls it.
  CREATE TABLE delivery (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheduled_at BIGINT NOT NULL,
    reminder BIGINT NOT NULL,
    queue BIGINT NOT NULL,
    visible_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    state_at BIGINT,
    state SMALLINT NOT NULL CHECK (state BETWEEN 0 AND 4),
    in_order SMALLINT NOT NULL,
    round INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    attempts_before INTEGER NOT NULL,
    id BYTEA NOT NULL UNIQUE,
    epoch BIGINT,
    started_at BIGINT,
    status INTEGER,
    took_ms INTEGER,
    outcome SMALLINT,
    answer TEXT COLLATE "C",
    error TEXT COLLATE "C",
    event TEXT COLLATE "C",
    receipt TEXT COLLATE "C"
  );
  CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
  CREATE INDEX delivery_pending ON delivery (queue, visible_at) WHERE state <= 1;
  CREATE INDEX delivery_dead ON delivery (queue) WHERE state = 3;
  CREATE INDEX delivery_in_order ON delivery (queue, key) WHERE state <= 1 AND in_order = 1;

  -- Owners that are no users. Their numbers come after all of users (2^31). None is given twice, and no row is ever removed.
  CREATE TABLE tenant (
    number BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 2147483648) PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
  );

  CREATE FUNCTION due_counted() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    INSERT INTO chime.tenant_count (tenant, delta)
      SELECT owner, 1 FROM chime.reminder WHERE key = NEW.reminder AND owner >= 2147483648;
    RETURN NULL;
  END $body$;
  CREATE FUNCTION due_uncounted() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    INSERT INTO chime.tenant_count (tenant, delta)
      SELECT owner, -1 FROM chime.reminder WHERE key = OLD.reminder AND owner >= 2147483648;
    RETURN NULL;
  END $body$;
  CREATE TRIGGER due_counted AFTER INSERT ON due FOR EACH ROW
    WHEN (NEW.snooze_of = -1) EXECUTE FUNCTION due_counted();
  CREATE TRIGGER due_uncounted AFTER DELETE ON due FOR EACH ROW
    WHEN (OLD.snooze_of = -1) EXECUTE FUNCTION due_uncounted();
  -- When its due times go with it, it is not there any more to say whose it was.
  CREATE FUNCTION reminder_uncounted() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    INSERT INTO chime.tenant_count (tenant, delta)
      SELECT OLD.owner, -1 FROM chime.due WHERE reminder = OLD.key AND snooze_of = -1;
    RETURN OLD;
  END $body$;
  CREATE TRIGGER reminder_uncounted BEFORE DELETE ON reminder FOR EACH ROW
    WHEN (OLD.owner >= 2147483648) EXECUTE FUNCTION reminder_uncounted();

  -- The last key of each table whose keys people see, and whose order is that in which changes were made. A sequence would
  -- neither be without holes nor keep that order between transactions that run side by side.
  CREATE TABLE number (
    name TEXT COLLATE "C" PRIMARY KEY,
    last BIGINT NOT NULL
  );
  INSERT INTO number VALUES ('change', 0), ('entry', 0), ('milestone', 0);

  CREATE FUNCTION item_made() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    INSERT INTO chime.item_day AS d VALUES (NEW.tracker, NEW.item, NEW.day, 1)
      ON CONFLICT (tracker, item, day) DO UPDATE SET count = d.count + 1;
    INSERT INTO chime.item_total AS t VALUES (NEW.tracker, NEW.item, 1)
      ON CONFLICT (tracker, item) DO UPDATE SET count = t.count + 1;
    RETURN NULL;
  END $body$;
  CREATE FUNCTION item_unmade() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    UPDATE chime.item_day SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day;
    DELETE FROM chime.item_day
      WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day AND count = 0;
    UPDATE chime.item_total SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item;
    DELETE FROM chime.item_total WHERE tracker = OLD.tracker AND item = OLD.item AND count = 0;
    RETURN NULL;
  END $body$;
  CREATE TRIGGER entry_made AFTER INSERT ON entry FOR EACH ROW
    WHEN (NEW.item IS NOT NULL AND NEW.deleted_by IS NULL) EXECUTE FUNCTION item_made();
  CREATE TRIGGER entry_unmade AFTER DELETE ON entry FOR EACH ROW
    WHEN (OLD.item IS NOT NULL AND OLD.deleted_by IS NULL) EXECUTE FUNCTION item_unmade();
  CREATE TRIGGER entry_is AFTER UPDATE OF tracker, item, day, deleted_by ON entry FOR EACH ROW
    WHEN (NEW.item IS NOT NULL AND NEW.deleted_by IS NULL) EXECUTE FUNCTION item_made();
  CREATE TRIGGER entry_was AFTER UPDATE OF tracker, item, day, deleted_by ON entry FOR EACH ROW
    WHEN (OLD.item IS NOT NULL AND OLD.deleted_by IS NULL) EXECUTE FUNCTION item_unmade();

  -- The daemons that share the database, or did in the last day, with times by its clock. `expires_at`: until when what a daemon has leased is
  -- its own, unless it is heard of before. It stands here and not with each lease, so that a daemon is heard of by one
  -- small row, which no transaction that relies on a lease ever locks. `draining`: 1 when it takes nothing more.
  CREATE TABLE node (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    process BIGINT NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    draining SMALLINT NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  -- Whose each part of the outbox is (`queue.shard`); nobody's where `node` is null or gone. `epoch` counts its owners.
  -- Whoever claims for a queue has the row locked for share until the claim has committed, so that nobody takes the queue
  -- over in between.
  CREATE TABLE shard_lease (
    shard SMALLINT PRIMARY KEY CHECK (shard BETWEEN 0 AND 255),
    node BIGINT,
    epoch BIGINT NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  INSERT INTO shard_lease (shard) SELECT number FROM generate_series(0, 255) number;

  -- What each daemon keeps in memory, and how often that has changed.
  CREATE TABLE revision (
    name TEXT COLLATE "C" PRIMARY KEY,
    number BIGINT NOT NULL
  );

  """

// Each step is one function and so one statement of the caller: it cannot stop halfway while it holds the locks.
private let monthFunctions = """
  CREATE FUNCTION month_start(month DATE) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $body$
    SELECT (extract(epoch FROM month::timestamp) * 1000)::bigint
  $body$;
  CREATE FUNCTION month_of(at BIGINT) RETURNS DATE LANGUAGE sql IMMUTABLE AS $body$
    SELECT date_trunc('month', timestamp '1970-01-01' + at / 1000 * interval '1 s')::date
  $body$;

  -- The months that have been made.
  CREATE FUNCTION months() RETURNS TABLE (month DATE, rows REAL, attempts REAL) LANGUAGE sql STABLE AS $body$
    SELECT to_date(right(c.relname, 7), 'YYYY_MM'), c.reltuples, (
      SELECT a.reltuples FROM pg_class a
      WHERE a.oid = to_regclass('chime.attempt_' || right(c.relname, 7)))
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'chime.occurrence'::regclass AND c.relname ~ '^occurrence_[0-9]{4}_[0-9]{2}$'
  $body$;

  -- Makes a month, and moves into it what is there of it. False when it is there already.
  CREATE FUNCTION make_month(month DATE) RETURNS BOOLEAN LANGUAGE plpgsql AS $body$
  DECLARE
    first CONSTANT BIGINT := chime.month_start(month);
    past CONSTANT BIGINT := chime.month_start((month + interval '1 month')::date);
    parent TEXT;
    part TEXT;
  BEGIN
    PERFORM pg_advisory_xact_lock(1130917221, 3);
    IF to_regclass('chime.occurrence_' || to_char(month, 'YYYY_MM')) IS NOT NULL THEN RETURN false; END IF;
    -- In the order in which the outbox takes them.
    FOREACH parent IN ARRAY ARRAY['attempt', 'occurrence'] LOOP
      part := parent || to_char(month, '_YYYY_MM');
      EXECUTE format('LOCK TABLE chime.%I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
      EXECUTE format('CREATE TABLE chime.%I (LIKE chime.%I INCLUDING ALL)', part, parent);
      EXECUTE format(
        'WITH moved AS (DELETE FROM chime.%I WHERE scheduled_at >= %s AND scheduled_at < %s RETURNING *)
        INSERT INTO chime.%I SELECT * FROM moved', parent || '_rest', first, past, part);
      EXECUTE format(
        'ALTER TABLE chime.%I ATTACH PARTITION chime.%I FOR VALUES FROM (%s) TO (%s)', parent, part, first, past);
    END LOOP;
    RETURN true;
  END $body$;

  -- Whether the history's edge (`HistoryEdge.takes`) has such a time that owes nothing go.
  CREATE FUNCTION is_taken(at BIGINT, state SMALLINT, ended_at BIGINT, oldest BIGINT, first BIGINT) RETURNS BOOLEAN
  LANGUAGE sql IMMUTABLE AS $body$
    SELECT coalesce(state NOT IN (2, 6) AND at < oldest AND (ended_at IS NULL OR ended_at < oldest), false)
      OR coalesce(state IN (3, 4, 5) AND at < first, false)
  $body$;

  CREATE FUNCTION occurrence_touched() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    INSERT INTO chime.staying VALUES (NEW.scheduled_at, NEW.reminder) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $body$;

  -- Drops a month whose times have all been looked at: what stays of them is in `staying`, and so is what has changed
  -- since. Those of the latter that go after all lose their deliveries here; the others have lost theirs.
  CREATE FUNCTION drop_month(month DATE, oldest BIGINT, closed BIGINT) RETURNS VOID LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $body$
  DECLARE
    first CONSTANT BIGINT := chime.month_start(month);
    past CONSTANT BIGINT := chime.month_start((month + interval '1 month')::date);
    times CONSTANT TEXT := 'occurrence' || to_char(month, '_YYYY_MM');
    tries CONSTANT TEXT := 'attempt' || to_char(month, '_YYYY_MM');
  BEGIN
    LOCK TABLE ONLY chime.attempt IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE ONLY chime.occurrence IN ACCESS EXCLUSIVE MODE;
    EXECUTE format(
      'WITH gone AS (
        DELETE FROM chime.staying s USING chime.%I o
        WHERE s.scheduled_at >= $1 AND s.scheduled_at < $2 AND o.scheduled_at = s.scheduled_at
          AND o.reminder = s.reminder AND chime.is_taken(o.scheduled_at, o.state, o.ended_at, $3, $4)
          AND NOT EXISTS (SELECT 1 FROM chime.delivery d
            WHERE d.scheduled_at = o.scheduled_at AND d.reminder = o.reminder AND d.state <= 1)
          AND NOT EXISTS (SELECT 1 FROM chime.due x WHERE x.reminder = o.reminder AND x.snooze_of = o.scheduled_at)
        RETURNING s.scheduled_at, s.reminder)
      DELETE FROM chime.delivery d USING gone g
      WHERE d.scheduled_at = g.scheduled_at AND d.reminder = g.reminder', times) USING first, past, oldest, closed;
    EXECUTE format('ALTER TABLE chime.attempt DETACH PARTITION chime.%I', tries);
    EXECUTE format('ALTER TABLE chime.occurrence DETACH PARTITION chime.%I', times);
    EXECUTE format(
      'INSERT INTO chime.occurrence
      SELECT o.* FROM chime.staying s JOIN chime.%I o ON o.scheduled_at = s.scheduled_at AND o.reminder = s.reminder
      WHERE s.scheduled_at >= $1 AND s.scheduled_at < $2', times) USING first, past;
    EXECUTE format(
      'INSERT INTO chime.attempt
      SELECT t.* FROM chime.staying s
        JOIN chime.delivery d ON d.scheduled_at = s.scheduled_at AND d.reminder = s.reminder
        JOIN chime.%I t ON t.delivery = d.key
      WHERE s.scheduled_at >= $1 AND s.scheduled_at < $2', tries) USING first, past;
    EXECUTE format('DROP TABLE chime.%I, chime.%I', tries, times);
    DELETE FROM chime.staying s WHERE s.scheduled_at >= first AND s.scheduled_at < past;
  END $body$;
  """
