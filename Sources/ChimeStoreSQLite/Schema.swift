import ChimeCore
import ChimeRecords

/// The schema of the database and its migrations.
enum Schema {
  /// Marks the file as Chime's ("Chme"; sqlite.org/fileformat2.html, "Application ID").
  static let applicationID = 0x4368_6D65

  static let migrations = [Migration(version: 1, script: SharedTables.script(.sqlite) + version1)]

  /// The newest version that this program knows.
  static var current: Int { migrations.last?.version ?? 0 }

  /// Migrates the database in one transaction: all steps or none.
  ///
  /// - Throws: `.newerSchema` if a newer program wrote it; `.corrupt` if the version number is damaged.
  static func migrate(_ connection: Connection, by migrations: [Migration] = migrations) throws {
    let (found, target) = (try version(of: connection), migrations.last?.version ?? 0)
    guard found <= target else { throw StoreFailure.newerSchema(found: found, known: target) }
    guard found < target else { return }
    try connection.run("BEGIN IMMEDIATE")
    do {
      try connection.script("PRAGMA application_id = 0x43686D65")
      for migration in migrations where migration.version > found { try connection.script(migration.script()) }
      try connection.script(
        """
        CREATE TABLE IF NOT EXISTS layout (version INTEGER NOT NULL) STRICT;
        DELETE FROM layout;
        INSERT INTO layout VALUES (\(target));
        PRAGMA user_version = \(target);
        """)
      try connection.run("COMMIT")
    } catch {
      if !connection.isAutocommit { try? connection.run("ROLLBACK") }
      throw error
    }
  }

  /// Returns the schema version; 0 for a new file.
  ///
  /// The version is in the file's header (`PRAGMA user_version`) and in the table `layout`, because SQLite has no
  /// checksum of the header. With a damaged number that is too low, steps would run again over existing tables. With one
  /// that is too high, the daemon would demand a newer version, which does not exist. Every program writes both numbers
  /// in one transaction. If they differ, the file is damaged; if they agree on an unknown number, the schema is newer.
  ///
  /// - Throws: `.corrupt` if the two numbers differ.
  static func version(of connection: Connection) throws -> Int {
    // Each statement compares the header and the table at one moment, because a daemon may be migrating.
    let found = try connection.first(
      """
      SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'layout')
      FROM pragma_user_version
      """
    ) { (header: $0.int(0), hasTable: $0.int(1) != 0) }
    guard let found else { return 0 }
    if found.header == 0, !found.hasTable { return 0 }
    let isSame =
      try found.hasTable
      && connection.first("SELECT max(version) IS (SELECT user_version FROM pragma_user_version) FROM layout") {
        $0.int(0) != 0
      } == true
    guard isSame else {
      throw StoreFailure.corrupt(
        "\(connection.path) is damaged (the number of its schema is wrong)", movedTo: nil)
    }
    return found.header
  }
}

// Times are milliseconds since the epoch. Codes are the indexes of the domain's enum cases. The bound in a partial index
// is the last code that is included. Tables that grow with each firing are clustered by time, so that a batch is written
// side by side. Lookups by reminder use narrow indexes. These tables have no foreign keys, because a check reads another
// row for each row that is written or removed. Counts for every start and status come from an index or a few rows, for
// any number of reminders.
private let version1 = """
  CREATE INDEX reminder_title ON reminder (title);
  CREATE INDEX reminder_except ON reminder (key) WHERE instr(schedule, 'except') > 0;
  CREATE INDEX reminder_expects ON reminder (key) WHERE instr(definition, '"within":') > 0;

  -- What the clock waits for. `snooze_of` is -1 for a reminder's regular time, whose scheduled time is `scheduled_at`, or
  -- `next_at` where that is null; otherwise it is the scheduled time of an occurrence that comes again at `next_at`.
  -- `wakes`: 1 when the machine is woken for it.
  CREATE TABLE due (
    reminder INTEGER NOT NULL REFERENCES reminder (key) ON DELETE CASCADE,
    snooze_of INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    scheduled_at INTEGER,
    wakes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (reminder, snooze_of)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_next ON due (next_at);
  CREATE INDEX due_snoozed ON due (reminder) WHERE snooze_of >= 0;
  CREATE INDEX due_moved ON due (scheduled_at) WHERE scheduled_at IS NOT NULL;
  CREATE INDEX due_waking ON due (next_at) WHERE wakes = 1;

  -- state: 0 fired, 1 delivered, 2 snoozed (until `snoozed_until`), 3 done, 4 dismissed, 5 missed (for `reason`).
  -- `repeats`: how often its present round has been repeated unanswered; `repeat_at`: when it is again; null: not.
  -- `answered_by`: by which way its last answer came; null: by the control socket.
  CREATE TABLE occurrence (
    scheduled_at INTEGER NOT NULL,
    reminder INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
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
    repeats INTEGER NOT NULL DEFAULT 0,
    repeat_at INTEGER,
    answered_by TEXT,
    PRIMARY KEY (scheduled_at, reminder)
  ) STRICT, WITHOUT ROWID;
  -- A time is in one of the two.
  CREATE INDEX occurrence_open ON occurrence (reminder, scheduled_at, owner, state) WHERE state <= 2;
  CREATE INDEX occurrence_closed ON occurrence (reminder, scheduled_at) WHERE state > 2;
  -- When others that wait for a reminder find it done.
  CREATE INDEX occurrence_done ON occurrence (reminder, ended_at) WHERE state = 3 OR reason = 'doneAlready';

  -- One queue of the outbox. Never removed: there are few, and their deliveries are history. `ordered`: 1 when a delivery
  -- is tried only after every earlier one of the queue has been settled.
  CREATE TABLE delivery_queue (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    channel TEXT NOT NULL,
    ordered INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, channel)
  ) STRICT;

  -- state: 0 pending, 1 waiting (until `state_at`), 2 delivered, 3 dead, 4 cancelled (each at `state_at`).
  -- `visible_at`: when it may be claimed, for as long as it is owed; then 0, which takes no room. `in_order`: 1 in an ordered queue, whose index finds its
  -- oldest. `attempts_before`: those that ended before it was sent again on request. `started_at` to `error`: the
  -- latest attempt, of which most have no other; null: none has ended. `event`: what it tells (`DeliveryEvent.text`); null: that its
  -- occurrence fires. `receipt`: what the receiver calls it.
  CREATE TABLE delivery (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    scheduled_at INTEGER NOT NULL,
    reminder INTEGER NOT NULL,
    queue INTEGER NOT NULL,
    round INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
    state_at INTEGER,
    visible_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    in_order INTEGER NOT NULL DEFAULT 0,
    attempts_before INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER,
    took_ms INTEGER,
    outcome INTEGER,
    status INTEGER,
    answer TEXT,
    error TEXT,
    event TEXT,
    receipt TEXT
  ) STRICT;
  CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
  CREATE INDEX delivery_pending ON delivery (queue, visible_at) WHERE state <= 1;
  CREATE INDEX delivery_dead ON delivery (queue) WHERE state = 3;
  CREATE INDEX delivery_in_order ON delivery (queue) WHERE state <= 1 AND in_order = 1;

  -- Attempts that others followed. Append only. `position` counts the delivery's, from 1.
  -- outcome: 0 delivered, 1 failed, 2 refused.
  CREATE TABLE attempt (
    delivery INTEGER NOT NULL,
    position INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    status INTEGER,
    answer TEXT,
    error TEXT,
    PRIMARY KEY (delivery, position)
  ) STRICT, WITHOUT ROWID;

  -- Owners that are no users. Their numbers come after all of users (2^31). None is given twice, and no row is ever
  -- removed.
  CREATE TABLE tenant (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TRIGGER due_counted AFTER INSERT ON due WHEN NEW.snooze_of = -1 BEGIN
    INSERT INTO tenant_count (tenant, delta)
    SELECT owner, 1 FROM reminder WHERE key = NEW.reminder AND owner >= 2147483648;
  END;
  CREATE TRIGGER due_uncounted AFTER DELETE ON due WHEN OLD.snooze_of = -1 BEGIN
    INSERT INTO tenant_count (tenant, delta)
    SELECT owner, -1 FROM reminder WHERE key = OLD.reminder AND owner >= 2147483648;
  END;
  -- When its due times go with it, it is not there any more to say whose it was.
  CREATE TRIGGER reminder_uncounted BEFORE DELETE ON reminder WHEN OLD.owner >= 2147483648 BEGIN
    INSERT INTO tenant_count (tenant, delta)
    SELECT OLD.owner, -1 FROM due WHERE reminder = OLD.key AND snooze_of = -1;
  END;

  CREATE TRIGGER entry_made AFTER INSERT ON entry WHEN NEW.item IS NOT NULL AND NEW.deleted_by IS NULL BEGIN
    \(count)
  END;
  CREATE TRIGGER entry_unmade AFTER DELETE ON entry WHEN OLD.item IS NOT NULL AND OLD.deleted_by IS NULL BEGIN
    \(uncount)
  END;
  CREATE TRIGGER entry_was AFTER UPDATE OF tracker, item, day, deleted_by ON entry
    WHEN OLD.item IS NOT NULL AND OLD.deleted_by IS NULL BEGIN
    \(uncount)
  END;
  CREATE TRIGGER entry_is AFTER UPDATE OF tracker, item, day, deleted_by ON entry
    WHEN NEW.item IS NOT NULL AND NEW.deleted_by IS NULL BEGIN
    \(count)
  END;
  """

// Statements of triggers that count an item for an entry, and no longer count it.
private let count = """
  INSERT INTO item_day VALUES (NEW.tracker, NEW.item, NEW.day, 1)
    ON CONFLICT (tracker, item, day) DO UPDATE SET count = count + 1;
  INSERT INTO item_total VALUES (NEW.tracker, NEW.item, 1)
    ON CONFLICT (tracker, item) DO UPDATE SET count = count + 1;
  """
private let uncount = """
  UPDATE item_day SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day;
  DELETE FROM item_day WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day AND count = 0;
  UPDATE item_total SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item;
  DELETE FROM item_total WHERE tracker = OLD.tracker AND item = OLD.item AND count = 0;
  """
