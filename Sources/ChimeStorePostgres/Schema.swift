import ChimeCore

/// The layout of the database and how it came to be. All of it is in the schema `chime`.
enum Schema {
  /// One step from the layout before it. A step that has been released is never edited; what changes becomes a new one.
  struct Migration: Sendable {
    let version: Int
    let scripts: [String]
  }

  static let migrations = [
    Migration(version: 1, scripts: [version1, version1Trackers]), Migration(version: 2, scripts: [version2]),
    Migration(version: 3, scripts: [version3]), Migration(version: 4, scripts: [version4]),
  ]

  /// The newest layout this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// The two advisory locks of the database, by which daemons keep out of each other's way ("Chme", and which). Whoever
  /// uses the tables has a share of the first, whoever changes them has it alone.
  static let daemonLock = "1130917221, 1"
  static let migrationLock = "1130917221, 2"

  /// Brings the database to `target` in one transaction: all steps or none. Of several programs one does it.
  ///
  /// - Throws: `.newerSchema` when a newer program has written it.
  static func migrate(_ connection: Connection, to target: Int = current) throws {
    // Most starts find it as it is to be, and change nothing.
    if try version(of: connection) == target { return }
    _ = try connection.begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    do {
      try connection.script("SELECT pg_advisory_xact_lock(\(migrationLock))")
      let found = try version(of: connection)
      try change(connection, from: found, to: target)
      try connection.script("COMMIT")
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Makes the steps within a transaction of the caller's.
  static func change(_ connection: Connection, from found: Int, to target: Int = current) throws {
    guard found <= current else { throw StoreFailure.newerSchema(found: found, known: current) }
    if found == 0 {
      try connection.script("CREATE SCHEMA IF NOT EXISTS chime")
      try connection.script("CREATE TABLE IF NOT EXISTS chime.layout (version BIGINT NOT NULL)")
    }
    for migration in migrations where migration.version > found && migration.version <= target {
      // An index of a large table takes longer than any statement of an ordinary day.
      try connection.script("SET LOCAL statement_timeout = 0")
      for script in migration.scripts { try connection.script(script) }
      try connection.script("DELETE FROM chime.layout; INSERT INTO chime.layout VALUES (\(migration.version))")
    }
  }

  /// 0 for a database that has none of it.
  static func version(of connection: Connection) throws -> Int {
    guard try connection.script("SELECT to_regclass('chime.layout')::text") != nil else { return 0 }
    return try connection.script("SELECT max(version)::text FROM chime.layout").flatMap { Int($0) } ?? 0
  }
}

// Times are milliseconds since the epoch. Codes stand for the cases of the domain's enums, in their order there; the
// bound in a partial index is the last code that still counts. Text is compared byte by byte.
//
// No foreign keys point from what is written with each firing: checking them would lock and look up a row for every row.
private let version1 = """
  -- Every reminder there ever was. A name is given once, so that history needs no names of its own and none is
  -- inherited by a stranger.
  CREATE TABLE alias (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE
  );

  -- Definitions. What is rarely asked for by itself stands in `definition`, as JSON without its defaults.
  CREATE TABLE reminder (
    key BIGINT PRIMARY KEY REFERENCES alias (key),
    owner BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    skip_next BIGINT NOT NULL,
    zone TEXT COLLATE "C" NOT NULL,
    schedule TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C",
    definition TEXT COLLATE "C" NOT NULL,
    tracker TEXT COLLATE "C"
  );
  CREATE INDEX reminder_owner ON reminder (owner);
  CREATE INDEX reminder_title ON reminder USING hash (title);
  CREATE INDEX reminder_except ON reminder (key) WHERE strpos(schedule, 'except') > 0;
  CREATE INDEX reminder_tracker ON reminder (owner, tracker) WHERE tracker IS NOT NULL;

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
    state SMALLINT NOT NULL CHECK (state BETWEEN 0 AND 5),
    rounds INTEGER NOT NULL,
    repeats INTEGER NOT NULL,
    run_count BIGINT,
    reason TEXT COLLATE "C",
    late TEXT COLLATE "C",
    title TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (scheduled_at, reminder)
  );
  CREATE INDEX occurrence_reminder ON occurrence (reminder, scheduled_at);
  CREATE INDEX occurrence_open ON occurrence (reminder, owner, state) WHERE state <= 2;

  -- One queue of the outbox. Never removed: there are few, and their deliveries are history. `ordered`: 1 when a delivery
  -- is tried only after every earlier one of the lane has been settled. `shard`: lanes are shared out by it.
  CREATE TABLE lane (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner BIGINT NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    ordered SMALLINT NOT NULL DEFAULT 0,
    shard SMALLINT NOT NULL GENERATED ALWAYS AS (key % 256) STORED,
    UNIQUE (owner, channel)
  );

  -- state: 0 pending, 1 waiting (until `state_at`), 2 delivered, 3 dead, 4 cancelled (each at `state_at`).
  -- `visible_at`: when it may be claimed, for as long as it is owed. `in_order`: 1 in an ordered lane. `attempts_before`:
  -- those that ended before it was sent again on request.
  CREATE TABLE delivery (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scheduled_at BIGINT NOT NULL,
    reminder BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    visible_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    state_at BIGINT,
    state SMALLINT NOT NULL CHECK (state BETWEEN 0 AND 4),
    in_order SMALLINT NOT NULL,
    round INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    attempts_before INTEGER NOT NULL,
    id TEXT COLLATE "C" NOT NULL UNIQUE
  );
  CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
  CREATE INDEX delivery_owed ON delivery (lane, visible_at) WHERE state <= 1;
  CREATE INDEX delivery_dead ON delivery (lane) WHERE state = 3;
  CREATE INDEX delivery_in_order ON delivery (lane, key) WHERE state <= 1 AND in_order = 1;

  -- Append only. `position` counts the delivery's attempts, whatever number they were given.
  CREATE TABLE attempt (
    delivery BIGINT NOT NULL,
    position INTEGER NOT NULL,
    number BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    status BIGINT,
    outcome TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C",
    error TEXT COLLATE "C",
    PRIMARY KEY (delivery, position)
  );

  -- `settings` is JSON without its defaults. `failing_since`: when the first failure came since it last took something.
  CREATE TABLE endpoint (
    owner BIGINT NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    disabled TEXT COLLATE "C",
    disabled_at BIGINT,
    failing_since BIGINT,
    settings TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, channel)
  );

  -- Answers to requests that carried a token.
  CREATE TABLE token (
    owner BIGINT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    kept_at BIGINT NOT NULL,
    answer BYTEA NOT NULL,
    PRIMARY KEY (owner, token)
  );
  CREATE INDEX token_age ON token (kept_at);

  CREATE TABLE note (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
  );
  """
