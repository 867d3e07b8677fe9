import ChimeCore
import ChimeRecords

/// The schema of the database and its migrations. Everything is in the schema `chime`.
enum Schema {
  static let migrations = [
    Migration(version: 1, script: SharedTables.script(.postgres) + ownTables + monthFunctions)
  ]

  /// The newest version that this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// The advisory locks of the database ("Chme" and a number). Users of the tables share the first one, a migration
  /// takes it exclusively.
  static let daemonLock = "1130917221, 1"
  /// The lock for creating and dropping months.
  static let monthLock = "1130917221, 3"

  /// Migrates the database in the caller's transaction: all steps or none. The caller has locked it exclusively.
  ///
  /// - Throws: `.newerSchema` if a newer program wrote it.
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

private let ownTables = """
  -- While a month is about to be dropped: those of its times that stay, and those that have changed since they were
  -- looked at.
  CREATE TABLE staying (
    scheduled_at BIGINT NOT NULL,
    reminder BIGINT NOT NULL,
    PRIMARY KEY (scheduled_at, reminder)
  );

  -- The last key of each table whose keys people see, and whose order is that in which changes were made. A sequence would
  -- neither be without holes nor keep that order between transactions that run side by side. `endpoints`: how often
  -- those have changed, which each daemon keeps in memory.
  CREATE TABLE number (
    name TEXT COLLATE "C" PRIMARY KEY,
    last BIGINT NOT NULL
  );
  INSERT INTO number VALUES ('change', 0), ('entry', 0), ('milestone', 0), ('endpoints', 0);

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
