import ChimeCore
import ChimeRecords

/// The layout of the database and how it came to be.
enum Schema {
  /// One step from the layout before it. A step that has been released is never edited; what changes becomes a new one.
  struct Migration: Sendable {
    let version: Int
    let script: StaticString
  }

  /// Marks the file as ours ("Chme"; sqlite.org/fileformat2.html, "Application ID").
  static let applicationID = 0x4368_6D65

  static let migrations = [
    Migration(version: 1, script: version1), Migration(version: 2, script: version2),
    Migration(version: 3, script: version3), Migration(version: 4, script: version4),
    Migration(version: 5, script: schemaVersion5), Migration(version: 6, script: schemaVersion6),
    Migration(version: 7, script: version7),
  ]

  /// The first layout that keeps its number in the table `layout` too. Each one after it does.
  private static let firstNumberedTwice = 7

  /// The newest layout this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// Brings the database to `target` in one transaction: all steps or none.
  ///
  /// - Throws: `.newerSchema` when a newer program has written it; `.corrupt` when its number is damaged.
  static func migrate(_ connection: Connection, to target: Int = current) throws {
    let found = try version(of: connection)
    guard found <= current else { throw StoreFailure.newerSchema(found: found, known: current) }
    guard found < target else { return }
    try connection.run("BEGIN IMMEDIATE")
    do {
      try connection.script("PRAGMA application_id = 0x43686D65")
      for migration in migrations where migration.version > found && migration.version <= target {
        try connection.script(migration.script)
      }
      try connection.run("COMMIT")
    } catch {
      if !connection.isAutocommit { try? connection.run("ROLLBACK") }
      throw error
    }
  }

  /// The number of a store's layout; 0 for a file that has none yet.
  ///
  /// The number stands in the file's header (`PRAGMA user_version`) and again in the table `layout`, because SQLite has no
  /// checksum of the header. A damaged number that is too low would run steps again over the tables that they made; one
  /// that is too high would stop the daemon until somebody installs a newer one, which does not exist. Every program
  /// writes both numbers in one transaction, a newer one too. Two that differ are therefore damage, whichever is greater;
  /// two that agree on a number that is not known are a newer layout.
  ///
  /// - Throws: `.corrupt` when the two numbers differ.
  static func version(of connection: Connection) throws -> Int {
    // Each statement compares the header and the tables of one moment: a daemon may be changing the layout meanwhile.
    let found = try connection.first(
      """
      SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'layout')
      FROM pragma_user_version
      """
    ) { (header: $0.int(0), hasTable: $0.int(1) != 0) }
    guard let found else { return 0 }
    guard found.hasTable else {
      guard (0..<firstNumberedTwice).contains(found.header) else { throw damagedNumber(connection) }
      return found.header
    }
    let isSame = try connection.first(
      "SELECT max(version) IS (SELECT user_version FROM pragma_user_version) FROM layout"
    ) { $0.int(0) != 0 }
    guard isSame == true else { throw damagedNumber(connection) }
    return found.header
  }

  private static func damagedNumber(_ connection: Connection) -> StoreFailure {
    .corrupt("\(connection.path) is damaged (the number of its schema is wrong)", movedTo: nil)
  }
}

// Times are milliseconds since the epoch. Codes stand for the cases of the domain's enums, in their order there; the
// bound in a partial index is the last code that still counts. The tables that grow with each firing are clustered by
// time, so that a batch of firings is written side by side; what is looked up by reminder is narrow.
private let version1: StaticString = """
  -- Every reminder there ever was. A name is given once, so that history needs no names of its own and none is
  -- inherited by a stranger.
  CREATE TABLE alias (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
  ) STRICT;

  -- Definitions. What is rarely asked for by itself stands in `definition`, as JSON without its defaults.
  CREATE TABLE reminder (
    key INTEGER PRIMARY KEY REFERENCES alias (key),
    owner INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    skip_next INTEGER NOT NULL,
    zone TEXT NOT NULL,
    schedule TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT,
    definition TEXT NOT NULL
  ) STRICT;
  CREATE INDEX reminder_title ON reminder (title);

  -- What the clock waits for. `snooze_of` is -1 for a reminder's regular time, whose scheduled time is `next_at`;
  -- otherwise it is the scheduled time of an occurrence that was snoozed until `next_at`.
  CREATE TABLE due (
    reminder INTEGER NOT NULL REFERENCES reminder (key) ON DELETE CASCADE,
    snooze_of INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    PRIMARY KEY (reminder, snooze_of)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_next ON due (next_at);

  -- state: 0 fired, 1 delivered, 2 snoozed (until `snoozed_until`), 3 done, 4 dismissed, 5 missed (for `reason`).
  CREATE TABLE occurrence (
    scheduled_at INTEGER NOT NULL,
    reminder INTEGER NOT NULL REFERENCES alias (key),
    owner INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 5),
    rounds INTEGER NOT NULL,
    fired_at INTEGER,
    delivered_at INTEGER,
    ended_at INTEGER,
    snoozed_until INTEGER,
    reason TEXT,
    late TEXT,
    run_count INTEGER,
    run_through INTEGER,
    title TEXT NOT NULL,
    PRIMARY KEY (scheduled_at, reminder)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX occurrence_reminder ON occurrence (reminder, scheduled_at);
  CREATE INDEX occurrence_open ON occurrence (reminder, owner) WHERE state <= 2;

  -- One queue of the outbox. Never removed: there are few, and their deliveries are history.
  CREATE TABLE lane (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    channel TEXT NOT NULL,
    UNIQUE (owner, channel)
  ) STRICT;

  -- state: 0 pending, 1 waiting (until `state_at`), 2 delivered, 3 dead, 4 cancelled (each at `state_at`).
  -- `visible_at`: when it may be claimed, for as long as it is owed.
  CREATE TABLE delivery (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scheduled_at INTEGER NOT NULL,
    reminder INTEGER NOT NULL,
    lane INTEGER NOT NULL REFERENCES lane (key),
    round INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
    state_at INTEGER,
    visible_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (scheduled_at, reminder) REFERENCES occurrence (scheduled_at, reminder)
  ) STRICT;
  CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
  CREATE INDEX delivery_owed ON delivery (lane, visible_at) WHERE state <= 1;
  CREATE INDEX delivery_dead ON delivery (lane) WHERE state = 3;

  -- Append only. `position` counts the delivery's attempts, whatever number they were given.
  CREATE TABLE attempt (
    delivery INTEGER NOT NULL REFERENCES delivery (key),
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER,
    answer TEXT,
    error TEXT,
    PRIMARY KEY (delivery, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE endpoint (
    owner INTEGER NOT NULL,
    channel TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled TEXT,
    PRIMARY KEY (owner, channel)
  ) STRICT, WITHOUT ROWID;

  -- Answers to requests that carried a token.
  CREATE TABLE token (
    owner INTEGER NOT NULL,
    token TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    answer BLOB NOT NULL,
    PRIMARY KEY (owner, token)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX token_age ON token (kept_at);

  CREATE TABLE note (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  PRAGMA user_version = 1;
  """

// A regular due time may be looked at later than its scheduled time: by its jitter, or at the end of quiet hours. An
// open occurrence may ask to be repeated. A lane may keep its order, and an endpoint has settings and a history.
private let version2: StaticString = """
  -- The scheduled time of a regular due time; null where it is `next_at`.
  ALTER TABLE due ADD COLUMN scheduled_at INTEGER;

  -- How often its present round has been repeated unanswered, and when it is again; null: not.
  ALTER TABLE occurrence ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE occurrence ADD COLUMN repeat_at INTEGER;

  -- 1: a delivery is tried only when every earlier one of the lane has been settled.
  ALTER TABLE lane ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0;

  -- `in_order`: 1 in an ordered lane, whose index finds its oldest. `attempts_before`: those that ended before it was sent
  -- again on request.
  ALTER TABLE delivery ADD COLUMN in_order INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE delivery ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX delivery_in_order ON delivery (lane) WHERE state <= 1 AND in_order = 1;

  -- `settings` is JSON without its defaults. `failing_since`: when the first failure came since it last took something.
  ALTER TABLE endpoint ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE endpoint ADD COLUMN failing_since INTEGER;
  ALTER TABLE endpoint ADD COLUMN disabled_at INTEGER;

  -- What is counted and looked for at every start and in every status: however many reminders there are, it is either
  -- the length of an index or a handful of rows.
  CREATE INDEX reminder_owner ON reminder (owner);
  CREATE INDEX reminder_except ON reminder (key) WHERE instr(schedule, 'except') > 0;
  CREATE INDEX due_snoozed ON due (reminder) WHERE snooze_of >= 0;
  CREATE INDEX due_moved ON due (scheduled_at) WHERE scheduled_at IS NOT NULL;
  DROP INDEX occurrence_open;
  CREATE INDEX occurrence_open ON occurrence (reminder, owner, state) WHERE state <= 2;

  PRAGMA user_version = 2;
  """

// A reminder may wake the machine: the earliest time of those that do is one step down an index.
private let version3: StaticString = """
  -- 1: the machine is woken for it.
  ALTER TABLE due ADD COLUMN wakes INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX due_waking ON due (next_at) WHERE wakes = 1;

  PRAGMA user_version = 3;
  """

// A reminder may be linked to a tracker: whoever logs an entry finds those of its tracker by an index that holds no other.
private let version4: StaticString = """
  ALTER TABLE reminder ADD COLUMN tracker TEXT;
  CREATE INDEX reminder_tracker ON reminder (owner, tracker) WHERE tracker IS NOT NULL;

  PRAGMA user_version = 4;
  """

// The number of the layout, a second time (`Schema.version`). Each later step updates it beside `user_version`.
private let version7: StaticString = """
  CREATE TABLE layout (version INTEGER NOT NULL) STRICT;
  INSERT INTO layout VALUES (7);

  PRAGMA user_version = 7;
  """
