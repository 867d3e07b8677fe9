/// A Migration is one step from the previous version of a schema. A released step is never edited; a change becomes a new
/// step.
package struct Migration: Sendable {
  package let version: Int
  /// Composed only where a step is taken: most starts find the current version.
  package let script: @Sendable () -> String

  package init(version: Int, script: @autoclosure @escaping @Sendable () -> String) {
    (self.version, self.script) = (version, script)
  }
}

/// The tables of a store, written once for both engines.
package enum SharedTables {
  /// The SQL dialect of an engine.
  package enum Dialect {
    case sqlite
    /// Text is compared byte by byte.
    case postgres

    /// Placeholders in the scripts below and their replacements, applied in this order.
    fileprivate var words: [(String, String)] {
      switch self {
      case .sqlite:
        [
          ("INT2", "INTEGER"), ("INT4", "INTEGER"), ("chime.", ""), ("\n) PARTITIONED;", "\n) CLUSTERED;"),
          ("IDENTITY", "INTEGER PRIMARY KEY"), ("NUMBER", "INTEGER PRIMARY KEY AUTOINCREMENT"),
          ("\n);", "\n) STRICT;"), ("\n) CLUSTERED;", "\n) STRICT, WITHOUT ROWID;"),
        ]
      case .postgres:
        [
          ("INTEGER", "BIGINT"), ("TEXT", "TEXT COLLATE \"C\""), ("BLOB", "BYTEA"), ("\n) CLUSTERED;", "\n);"),
          ("\n) PARTITIONED;", "\n) PARTITION BY RANGE (scheduled_at);"), ("instr(", "strpos("),
          ("IDENTITY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), ("NUMBER", "BIGINT PRIMARY KEY"),
        ]
      }
    }
  }

  package static func script(_ dialect: Dialect) -> String { dialect == .sqlite ? sqlite : postgres }

  // Composed once: the replacing takes milliseconds.
  private static let sqlite = composed(.sqlite)
  private static let postgres = composed(.postgres)

  private static func composed(_ dialect: Dialect) -> String {
    var lines = (reminders + firings + trackers).split(separator: "\n", omittingEmptySubsequences: false)
    lines.removeAll { $0.hasSuffix(dialect == .sqlite ? "-- POSTGRES" : "-- SQLITE") }
    let script = withHistories(dialect == .sqlite ? lines : withFunctions(lines))
    return dialect.words.reduce(script) { $0.replacing($1.0, with: $1.1) }
  }

  /// Makes a function of the body of each trigger, as PostgreSQL requires.
  private static func withFunctions(_ lines: [Substring]) -> [Substring] {
    var trigger = ""
    return lines.map { line in
      if line.hasPrefix("CREATE TRIGGER "), let condition = line.firstRange(of: " WHEN ") {
        let name = line.split(separator: " ")[2]
        let test = line[condition.upperBound...].dropLast(" BEGIN".count)
        trigger = "\(line[..<condition.lowerBound]) FOR EACH ROW WHEN (\(test)) EXECUTE FUNCTION \(name)();"
        return "CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN"
      }
      if line != "END;" { return line }
      return "RETURN \(trigger.contains(" BEFORE ") ? "OLD" : "NULL"); END $body$;\n\(trigger)"
    }
  }

  /// Adds the last columns, an index and the history table of each `VERSIONED` table, whose first column is `key`.
  private static func withHistories(_ lines: [Substring]) -> String {
    var table: [Substring] = []
    let lines = lines.map { line in
      table = line.hasPrefix("CREATE TABLE ") ? [line] : table + [line]
      guard line == ") VERSIONED;" else { return String(line) }
      let name = table[0].split(separator: " ")[2]
      let columns = table.dropFirst(2).dropLast().map { column in
        column.firstRange(of: " REFERENCES ").map { column[..<$0.lowerBound] + "," } ?? column
      }
      return """
          created_by INTEGER,
          deleted_by INTEGER
        );
        CREATE INDEX \(name)_deleted_by ON \(name) (deleted_by) WHERE deleted_by IS NOT NULL;
        CREATE TABLE \(name)_history (
          change INTEGER NOT NULL,
          key INTEGER NOT NULL,
        \(columns.joined(separator: "\n"))
          created_by INTEGER,
          PRIMARY KEY (change, key)
        ) CLUSTERED;
        """
    }
    return lines.joined(separator: "\n")
  }

  // Placeholders that are not SQL: `IDENTITY` is a generated key, `NUMBER` a key that is never reused and follows the order
  // of changes, `CLUSTERED` stores rows in the order of their key, `PARTITIONED` also by months, and `VERSIONED` is for
  // `withHistories`. A line that ends with the name of an engine is for that engine only.
  //
  // Times are milliseconds since the epoch. Codes are the indexes of the domain's enum cases. The bound in a partial index
  // is the last code that is included. PostgreSQL aligns columns, so narrow ones follow the wide ones. The columns of a
  // primary key are the first of their table, in its order: otherwise the check of SQLite 3.40 reports NULL values that do
  // not exist.

  private static let reminders = """
    -- Every reminder there ever was. A name is given once, so that history needs no names of its own and none is
    -- inherited by a stranger.
    CREATE TABLE reminder_name (
      key IDENTITY,
      id TEXT NOT NULL UNIQUE
    );

    -- Definitions. What is rarely asked for by itself stands in `definition`, as JSON without its defaults. `tracker`: whoever
    -- logs an entry finds the reminders of its tracker by an index that holds no other. `follows`: the id of the reminder
    -- from which it counts, `needs` that of the one for which its times wait; what hangs on one is found likewise.
    -- `counts_from`: from when on the times of this definition count. `down_since`: since when it is told that no good ping
    -- has come.
    CREATE TABLE reminder (
      key INTEGER PRIMARY KEY REFERENCES reminder_name (key),
      owner INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      skip_next INTEGER NOT NULL,
      zone TEXT NOT NULL,
      schedule TEXT NOT NULL,
      title TEXT NOT NULL,
      body TEXT,
      definition TEXT NOT NULL,
      tracker TEXT,
      follows TEXT,
      needs TEXT,
      counts_from INTEGER,
      down_since INTEGER
    );
    CREATE INDEX reminder_owner ON reminder (owner);
    CREATE INDEX reminder_tracker ON reminder (owner, tracker) WHERE tracker IS NOT NULL;
    CREATE INDEX reminder_follows ON reminder (follows) WHERE follows IS NOT NULL;
    CREATE INDEX reminder_needs ON reminder (needs) WHERE needs IS NOT NULL;
    CREATE INDEX reminder_title ON reminder (title); -- SQLITE
    CREATE INDEX reminder_title ON reminder USING hash (title); -- POSTGRES
    CREATE INDEX reminder_except ON reminder (key) WHERE instr(schedule, 'except') > 0;
    CREATE INDEX reminder_expects ON reminder (key) WHERE instr(definition, '"within":') > 0;

    -- Replaced definitions, for as long as there is history that came of them. `until`: before
    -- which each of its times had been decided by then.
    CREATE TABLE reminder_history (
      reminder INTEGER NOT NULL REFERENCES reminder_name (key) ON DELETE CASCADE,
      until INTEGER NOT NULL,
      counts_from INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      zone TEXT NOT NULL,
      schedule TEXT NOT NULL,
      title TEXT NOT NULL,
      definition TEXT NOT NULL,
      PRIMARY KEY (reminder, until)
    ) CLUSTERED;
    CREATE INDEX reminder_history_until ON reminder_history (until);
    CREATE INDEX reminder_history_owner ON reminder_history (owner, reminder);

    -- What jobs have said of themselves, the newest of each reminder. `number` counts from 1; `via` is a tenant's name.
    CREATE TABLE ping (
      reminder INTEGER NOT NULL REFERENCES reminder_name (key) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      uid INTEGER NOT NULL,
      via TEXT,
      took_ms INTEGER,
      status INTEGER,
      output TEXT,
      PRIMARY KEY (reminder, number)
    ) CLUSTERED;

    -- `settings` is JSON without its defaults. `failing_since`: when the first failure came since it last took something.
    CREATE TABLE endpoint (
      owner INTEGER NOT NULL,
      channel TEXT NOT NULL,
      url TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      disabled TEXT,
      disabled_at INTEGER,
      failing_since INTEGER,
      settings TEXT NOT NULL,
      PRIMARY KEY (owner, channel)
    ) CLUSTERED;

    -- Answers to requests that carried a token.
    CREATE TABLE token (
      owner INTEGER NOT NULL,
      token TEXT NOT NULL,
      kept_at INTEGER NOT NULL,
      answer BLOB NOT NULL,
      PRIMARY KEY (owner, token)
    ) CLUSTERED;
    CREATE INDEX token_age ON token (kept_at);

    -- Action tokens that were used, for as long as somebody could use them again.
    CREATE TABLE used_token (
      token TEXT PRIMARY KEY,
      expires_at INTEGER NOT NULL
    ) CLUSTERED;
    CREATE INDEX used_token_age ON used_token (expires_at);

    CREATE TABLE note (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) CLUSTERED;

    -- How many reminders of a tenant have a time of their schedule to come: the sum of `delta`. What brings one about or
    -- ends one adds a row and looks at no other; whoever has to know the number adds them up, and makes one of many.
    CREATE TABLE tenant_count (
      tenant INTEGER NOT NULL,
      delta INTEGER NOT NULL
    );
    CREATE INDEX tenant_count_tenant ON tenant_count (tenant, delta);

    """

  // Tables that each firing writes have no foreign keys: a check would look up a row for every row. Occurrences are in the
  // order of time, so that a batch is written side by side; lookups by reminder use narrow indexes. Counts for every start
  // and status come from an index or a few rows, for any number of reminders.
  private static let firings = """
    -- What the clock waits for. `snooze_of` is -1 for a reminder's regular time, whose scheduled time is `scheduled_at`, or
    -- `next_at` where that is null; otherwise it is the scheduled time of an occurrence that comes again at `next_at`.
    -- `wakes`: 1 when the machine is woken for it. `bucket` leads the index, so that several connections claim apart from
    -- each other and the dead rows of one time do not lie in front of all that comes after it.
    CREATE TABLE due (
      reminder INTEGER NOT NULL REFERENCES reminder (key) ON DELETE CASCADE,
      snooze_of INTEGER NOT NULL,
      next_at INTEGER NOT NULL,
      scheduled_at INTEGER,
      wakes INT2 NOT NULL DEFAULT 0,
      bucket INT2 NOT NULL GENERATED ALWAYS AS (reminder % 16) STORED, -- POSTGRES
      PRIMARY KEY (reminder, snooze_of)
    ) CLUSTERED;
    ALTER TABLE due SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0); -- POSTGRES
    CREATE INDEX due_next ON due (next_at); -- SQLITE
    CREATE INDEX due_next ON due (bucket, next_at); -- POSTGRES
    CREATE INDEX due_snoozed ON due (reminder) WHERE snooze_of >= 0;
    CREATE INDEX due_moved ON due (scheduled_at) WHERE scheduled_at IS NOT NULL;
    CREATE INDEX due_waking ON due (next_at) WHERE wakes = 1;

    -- In PostgreSQL, times that have come and attempts lie by months of the scheduled time (UTC), so that a month that is
    -- over is dropped and not deleted row by row. What is in no month that has been made is in the `_rest` of each.
    --
    -- state: 0 fired, 1 delivered, 2 snoozed (until `snoozed_until`), 3 done, 4 dismissed, 5 missed (for `reason`).
    -- `repeats`: how often its present round has been repeated unanswered; `repeat_at`: when it is again; null: not.
    -- `answered_by`: by which way its last answer came; null: by the control socket.
    CREATE TABLE occurrence (
      scheduled_at INTEGER NOT NULL,
      reminder INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      fired_at INTEGER,
      delivered_at INTEGER,
      ended_at INTEGER,
      snoozed_until INTEGER,
      run_through INTEGER,
      repeat_at INTEGER,
      state INT2 NOT NULL CHECK (state BETWEEN 0 AND 6),
      rounds INT4 NOT NULL,
      repeats INT4 NOT NULL DEFAULT 0,
      run_count INTEGER,
      reason TEXT,
      late TEXT,
      answered_by TEXT,
      title TEXT NOT NULL,
      PRIMARY KEY (scheduled_at, reminder)
    ) PARTITIONED;
    -- A time is in one of the two.
    CREATE INDEX occurrence_open ON occurrence (reminder, scheduled_at, owner, state) WHERE state <= 2;
    CREATE INDEX occurrence_closed ON occurrence (reminder, scheduled_at) WHERE state > 2;
    -- When others that wait for a reminder find it done.
    CREATE INDEX occurrence_done ON occurrence (reminder, ended_at) WHERE state = 3 OR reason = 'doneAlready';
    CREATE TABLE occurrence_rest PARTITION OF occurrence DEFAULT; -- POSTGRES

    -- One queue of the outbox. Never removed: there are few, and their deliveries are history. `ordered`: 1 when a delivery
    -- is tried only after every earlier one of the queue has been settled. `shard`: queues are shared out by it.
    CREATE TABLE delivery_queue (
      key IDENTITY,
      owner INTEGER NOT NULL,
      channel TEXT NOT NULL,
      ordered INT2 NOT NULL DEFAULT 0,
      shard INT2 NOT NULL GENERATED ALWAYS AS (key % 256) STORED, -- POSTGRES
      UNIQUE (owner, channel)
    );

    -- state: 0 pending, 1 waiting (until `state_at`), 2 delivered, 3 dead, 4 cancelled (each at `state_at`).
    -- `visible_at`: when it may be claimed, for as long as it is owed; then 0, which takes no room in SQLite. `in_order`: 1
    -- in an ordered queue, whose index finds its oldest. `attempts_before`: those that ended before it was sent again on
    -- request. `started_at` to `error`: the latest attempt, of which most have no other; null: none has ended. `event`: what
    -- it tells (`DeliveryEvent.text`); null: that its occurrence fires. `receipt`: what the receiver calls it. `epoch`:
    -- under which of its queue's lease it was claimed last: what came of it counts under that one only.
    CREATE TABLE delivery (
      key IDENTITY,
      scheduled_at INTEGER NOT NULL,
      reminder INTEGER NOT NULL,
      queue INTEGER NOT NULL,
      visible_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      state_at INTEGER,
      state INT2 NOT NULL CHECK (state BETWEEN 0 AND 4),
      in_order INT2 NOT NULL DEFAULT 0,
      round INT4 NOT NULL,
      attempts INT4 NOT NULL,
      attempts_before INT4 NOT NULL DEFAULT 0,
      id BLOB NOT NULL UNIQUE,
      epoch INTEGER, -- POSTGRES
      started_at INTEGER,
      status INT4,
      took_ms INT4,
      outcome INT2,
      answer TEXT,
      error TEXT,
      event TEXT,
      receipt TEXT
    );
    CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
    CREATE INDEX delivery_pending ON delivery (queue, visible_at) WHERE state <= 1;
    CREATE INDEX delivery_dead ON delivery (queue) WHERE state = 3;
    CREATE INDEX delivery_in_order ON delivery (queue) WHERE state <= 1 AND in_order = 1; -- SQLITE
    CREATE INDEX delivery_in_order ON delivery (queue, key) WHERE state <= 1 AND in_order = 1; -- POSTGRES

    -- Attempts that others followed. Append only. `position` counts the delivery's, from 1.
    -- outcome: 0 delivered, 1 failed, 2 refused.
    -- `scheduled_at` is that of the delivery's occurrence, so that both go with the same month, and an attempt is looked
    -- for in one month only.
    CREATE TABLE attempt (
      delivery INTEGER NOT NULL,
      scheduled_at INTEGER NOT NULL,
      position INT4 NOT NULL,
      outcome INT2 NOT NULL,
      started_at INTEGER NOT NULL,
      took_ms INTEGER NOT NULL,
      status INTEGER,
      answer TEXT,
      error TEXT,
      PRIMARY KEY (delivery, scheduled_at, position)
    ) PARTITIONED;
    CREATE TABLE attempt_rest PARTITION OF attempt DEFAULT; -- POSTGRES

    -- Owners that are no users. Their numbers come after all of users (2^31). None is given twice, and no row is ever removed.
    CREATE TABLE tenant (
      number IDENTITY,
      name TEXT NOT NULL UNIQUE
    );
    ALTER TABLE tenant ALTER number RESTART WITH 2147483648; -- POSTGRES

    CREATE TRIGGER due_counted AFTER INSERT ON due WHEN NEW.snooze_of = -1 BEGIN
      INSERT INTO chime.tenant_count (tenant, delta)
      SELECT owner, 1 FROM chime.reminder WHERE key = NEW.reminder AND owner >= 2147483648;
    END;
    CREATE TRIGGER due_uncounted AFTER DELETE ON due WHEN OLD.snooze_of = -1 BEGIN
      INSERT INTO chime.tenant_count (tenant, delta)
      SELECT owner, -1 FROM chime.reminder WHERE key = OLD.reminder AND owner >= 2147483648;
    END;
    -- When its due times go with it, it is not there any more to say whose it was.
    CREATE TRIGGER reminder_uncounted BEFORE DELETE ON reminder WHEN OLD.owner >= 2147483648 BEGIN
      INSERT INTO chime.tenant_count (tenant, delta)
      SELECT OLD.owner, -1 FROM chime.due WHERE reminder = OLD.key AND snooze_of = -1;
    END;

    """

  // Statements of triggers that count an item for an entry, and no longer count it.
  private static let count = """
    INSERT INTO chime.item_day VALUES (NEW.tracker, NEW.item, NEW.day, 1)
      ON CONFLICT (tracker, item, day) DO UPDATE SET count = item_day.count + 1;
    INSERT INTO chime.item_total VALUES (NEW.tracker, NEW.item, 1)
      ON CONFLICT (tracker, item) DO UPDATE SET count = item_total.count + 1;
    """
  private static let uncount = """
    UPDATE chime.item_day SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day;
    DELETE FROM chime.item_day WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day AND count = 0;
    UPDATE chime.item_total SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item;
    DELETE FROM chime.item_total WHERE tracker = OLD.tracker AND item = OLD.item AND count = 0;
    """

  // Each table of user data has the columns `created_by` and `deleted_by`, the changes that created and removed the row. Replaced
  // rows are in the table with the suffix `_history`, under the change that replaced them (`VersionedTable`). All other
  // queries ignore rows that are gone; the partial indexes exclude them. NULL means that no change created the row, or
  // that it exists.
  private static let trackers = """
    -- What can be taken back, in order. A key is given once. `after_entry`: the last entry that was there before it.
    -- `detail`: how reminders and endpoints were before and after it, as JSON.
    CREATE TABLE change (
      key NUMBER,
      owner INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      tracker TEXT,
      subject TEXT NOT NULL,
      after_entry INTEGER NOT NULL,
      detail TEXT
    );
    CREATE INDEX change_owner ON change (owner, key);
    CREATE INDEX change_at ON change (at);

    -- Names. They stay when what they name is removed: entries point at removed items, unlocks at removed packs.
    CREATE TABLE tracker_name (
      key IDENTITY,
      owner INTEGER NOT NULL,
      id TEXT NOT NULL,
      UNIQUE (owner, id)
    );
    CREATE TABLE item_name (
      key IDENTITY,
      tracker INTEGER NOT NULL REFERENCES tracker_name (key),
      id TEXT NOT NULL,
      UNIQUE (tracker, id)
    );
    CREATE TABLE pack_name (
      key IDENTITY,
      owner INTEGER NOT NULL,
      id TEXT NOT NULL,
      UNIQUE (owner, id)
    );

    -- Definitions are JSON without their defaults.
    CREATE TABLE tracker (
      key INTEGER PRIMARY KEY REFERENCES tracker_name (key),
      pack TEXT,
      created_at INTEGER NOT NULL,
      definition TEXT NOT NULL,
    ) VERSIONED;
    CREATE INDEX tracker_created_by ON tracker (created_by) WHERE created_by IS NOT NULL;

    -- `key` is the entry's id. Quantities are grains, `day` counts from 1970-01-01, `fields` is a JSON object of grains.
    -- `has_note` (0 or 1) is for the index of notes, and `deleted_by` is in each index, so that counting reads the index alone.
    CREATE TABLE entry (
      key NUMBER,
      tracker INTEGER NOT NULL REFERENCES tracker_name (key),
      at INTEGER NOT NULL,
      day INTEGER NOT NULL,
      minute INTEGER NOT NULL,
      quantity INTEGER,
      item INTEGER REFERENCES item_name (key),
      fields TEXT,
      photo TEXT,
      note TEXT,
      has_note INTEGER NOT NULL,
    ) VERSIONED;
    CREATE INDEX entry_at ON entry (tracker, at, day, deleted_by) WHERE deleted_by IS NULL;
    CREATE INDEX entry_day ON entry (tracker, day, at, deleted_by) WHERE deleted_by IS NULL;
    CREATE INDEX entry_note ON entry (tracker, at, day, has_note, deleted_by) WHERE has_note = 1 AND deleted_by IS NULL;
    CREATE INDEX entry_item ON entry (item, at, day, deleted_by) WHERE item IS NOT NULL AND deleted_by IS NULL;

    -- How often each item occurs: on a day, and ever. The entries keep these themselves.
    CREATE TABLE item_day (
      tracker INTEGER NOT NULL,
      item INTEGER NOT NULL,
      day INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (tracker, item, day)
    ) CLUSTERED;
    CREATE INDEX item_day_day ON item_day (tracker, day, count);
    CREATE TABLE item_total (
      tracker INTEGER NOT NULL,
      item INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (tracker, item)
    ) CLUSTERED;
    CREATE TRIGGER entry_made AFTER INSERT ON entry WHEN NEW.item IS NOT NULL AND NEW.deleted_by IS NULL BEGIN
      \(count)
    END;
    CREATE TRIGGER entry_unmade AFTER DELETE ON entry WHEN OLD.item IS NOT NULL AND OLD.deleted_by IS NULL BEGIN
      \(uncount)
    END;
    CREATE TRIGGER entry_was AFTER UPDATE OF tracker, item, day, deleted_by ON entry WHEN OLD.item IS NOT NULL AND OLD.deleted_by IS NULL BEGIN
      \(uncount)
    END;
    CREATE TRIGGER entry_is AFTER UPDATE OF tracker, item, day, deleted_by ON entry WHEN NEW.item IS NOT NULL AND NEW.deleted_by IS NULL BEGIN
      \(count)
    END;

    -- What follows from entries; made anew by whoever has to.
    CREATE TABLE day_total (
      tracker INTEGER NOT NULL REFERENCES tracker_name (key),
      day INTEGER NOT NULL,
      count INTEGER NOT NULL,
      total INTEGER NOT NULL,
      least INTEGER,
      most INTEGER,
      last INTEGER,
      first_at INTEGER NOT NULL,
      last_at INTEGER NOT NULL,
      first_minute INTEGER NOT NULL,
      last_minute INTEGER NOT NULL,
      met INTEGER NOT NULL,
      goal TEXT,
      PRIMARY KEY (tracker, day)
    ) CLUSTERED;
    CREATE TABLE tracker_summary (
      tracker INTEGER PRIMARY KEY REFERENCES tracker_name (key),
      content TEXT NOT NULL
    );

    CREATE TABLE item (
      key INTEGER PRIMARY KEY REFERENCES item_name (key),
      title TEXT NOT NULL,
      attributes TEXT,
      since INTEGER,
      until INTEGER,
      note TEXT,
      photo TEXT,
      created_at INTEGER NOT NULL,
    ) VERSIONED;
    CREATE INDEX item_created_by ON item (created_by) WHERE created_by IS NOT NULL;

    -- `key` is the milestone's id.
    CREATE TABLE milestone (
      key NUMBER,
      tracker INTEGER NOT NULL REFERENCES tracker_name (key),
      day INTEGER NOT NULL,
      title TEXT NOT NULL,
      note TEXT,
      photo TEXT,
      value INTEGER,
      created_at INTEGER NOT NULL,
    ) VERSIONED;
    CREATE INDEX milestone_day ON milestone (tracker, day) WHERE deleted_by IS NULL;
    CREATE INDEX milestone_created_by ON milestone (created_by) WHERE created_by IS NOT NULL;

    -- `print`: of the definition, by which one that has been read before is known without reading it again.
    CREATE TABLE pack (
      key INTEGER PRIMARY KEY REFERENCES pack_name (key),
      installed_at INTEGER NOT NULL,
      reminders TEXT NOT NULL,
      print INTEGER NOT NULL,
      definition TEXT NOT NULL,
    ) VERSIONED;
    CREATE INDEX pack_created_by ON pack (created_by) WHERE created_by IS NOT NULL;

    -- What is unlocked stays so, whatever is taken back.
    CREATE TABLE achievement (
      pack INTEGER NOT NULL REFERENCES pack_name (key),
      id TEXT NOT NULL,
      reached INTEGER NOT NULL,
      unlocked_at INTEGER,
      silent INTEGER NOT NULL,
      PRIMARY KEY (pack, id)
    ) CLUSTERED;
    CREATE TABLE experience (
      pack INTEGER PRIMARY KEY REFERENCES pack_name (key),
      points INTEGER NOT NULL
    );

    -- What is to take the place of all that an owner has, and what it has taken the place of: trackers and packs under a
    -- number that is nobody's. `at`: when it was last written to. `change`: the one that laid it aside; null: it is being
    -- made, or nobody needs it any more.
    CREATE TABLE staging_owner (
      number INTEGER PRIMARY KEY,
      owner INTEGER NOT NULL,
      at INTEGER NOT NULL,
      change INTEGER
    );
    CREATE INDEX staging_owner_change ON staging_owner (change);

    """
}
