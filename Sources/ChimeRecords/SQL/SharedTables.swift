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

/// The tables that both engines share. Each engine defines the tables that every firing writes itself.
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
          ("IDENTITY", "INTEGER PRIMARY KEY"), ("NUMBER", "INTEGER PRIMARY KEY AUTOINCREMENT"),
          ("\n);", "\n) STRICT;"), ("\n) CLUSTERED;", "\n) STRICT, WITHOUT ROWID;"),
        ]
      case .postgres:
        [
          ("INTEGER", "BIGINT"), ("TEXT", "TEXT COLLATE \"C\""), ("BLOB", "BYTEA"), ("\n) CLUSTERED;", "\n);"),
          ("IDENTITY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), ("NUMBER", "BIGINT PRIMARY KEY"),
        ]
      }
    }
  }

  package static func script(_ dialect: Dialect) -> String {
    dialect.words.reduce(reminders + withHistories(trackers)) { $0.replacing($1.0, with: $1.1) }
  }

  /// Adds the history table of each `VERSIONED` table, whose first column is `key` and whose last is `deleted_by`.
  private static func withHistories(_ script: String) -> String {
    var table: [Substring] = []
    let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      table = line.hasPrefix("CREATE TABLE ") ? [line] : table + [line]
      guard line == ") VERSIONED;" else { return String(line) }
      let columns = table.dropFirst(2).dropLast(2).map { column in
        column.firstRange(of: " REFERENCES ").map { column[..<$0.lowerBound] + "," } ?? column
      }
      return """
        );
        CREATE TABLE \(table[0].split(separator: " ")[2])_history (
          change INTEGER NOT NULL,
          key INTEGER NOT NULL,
        \(columns.joined(separator: "\n"))
          PRIMARY KEY (change, key)
        ) CLUSTERED;
        """
    }
    return lines.joined(separator: "\n")
  }

  /// The placeholders are not SQL: `IDENTITY` is a generated key, `NUMBER` a key that is never reused and follows the
  /// order of changes, `CLUSTERED` stores rows in the order of their key, and `VERSIONED` is for `withHistories`.
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
      created_by INTEGER,
      deleted_by INTEGER
    ) VERSIONED;
    CREATE INDEX tracker_created_by ON tracker (created_by) WHERE created_by IS NOT NULL;
    CREATE INDEX tracker_deleted_by ON tracker (deleted_by) WHERE deleted_by IS NOT NULL;

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
      created_by INTEGER,
      deleted_by INTEGER
    ) VERSIONED;
    CREATE INDEX entry_at ON entry (tracker, at, day, deleted_by) WHERE deleted_by IS NULL;
    CREATE INDEX entry_day ON entry (tracker, day, at, deleted_by) WHERE deleted_by IS NULL;
    CREATE INDEX entry_note ON entry (tracker, at, day, has_note, deleted_by) WHERE has_note = 1 AND deleted_by IS NULL;
    CREATE INDEX entry_item ON entry (item, at, day, deleted_by) WHERE item IS NOT NULL AND deleted_by IS NULL;
    CREATE INDEX entry_deleted_by ON entry (deleted_by) WHERE deleted_by IS NOT NULL;

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
      created_by INTEGER,
      deleted_by INTEGER
    ) VERSIONED;
    CREATE INDEX item_created_by ON item (created_by) WHERE created_by IS NOT NULL;
    CREATE INDEX item_deleted_by ON item (deleted_by) WHERE deleted_by IS NOT NULL;

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
      created_by INTEGER,
      deleted_by INTEGER
    ) VERSIONED;
    CREATE INDEX milestone_day ON milestone (tracker, day) WHERE deleted_by IS NULL;
    CREATE INDEX milestone_created_by ON milestone (created_by) WHERE created_by IS NOT NULL;
    CREATE INDEX milestone_deleted_by ON milestone (deleted_by) WHERE deleted_by IS NOT NULL;

    -- `print`: of the definition, by which one that has been read before is known without reading it again.
    CREATE TABLE pack (
      key INTEGER PRIMARY KEY REFERENCES pack_name (key),
      installed_at INTEGER NOT NULL,
      reminders TEXT NOT NULL,
      print INTEGER NOT NULL,
      definition TEXT NOT NULL,
      created_by INTEGER,
      deleted_by INTEGER
    ) VERSIONED;
    CREATE INDEX pack_created_by ON pack (created_by) WHERE created_by IS NOT NULL;
    CREATE INDEX pack_deleted_by ON pack (deleted_by) WHERE deleted_by IS NOT NULL;

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
