// Trackers. What a person has entered stands in a table with `born` and `gone`, the changes that made and removed it, and
// what was replaced in the table of the same name with `_before`, under the change that replaced it: taking a change back
// removes what was born of it, brings back what is gone by it, and puts back what was before it. A row that is gone is
// none for everything else; the partial indexes leave it out. Null: made outside of a change, and there still.
let schemaVersion5: StaticString = """
  -- What can be taken back, in order. A key is given once. `after_entry`: the last entry that was there before it.
  -- `detail`: how reminders and endpoints were before and after it, as JSON.
  CREATE TABLE change (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    tracker TEXT,
    subject TEXT NOT NULL,
    after_entry INTEGER NOT NULL,
    detail TEXT
  ) STRICT;
  CREATE INDEX change_owner ON change (owner);
  CREATE INDEX change_at ON change (at);

  -- Names. They stay when what they name is removed: entries point at removed items, unlocks at removed packs.
  CREATE TABLE tracker_name (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (owner, id)
  ) STRICT;
  CREATE TABLE item_name (
    key INTEGER PRIMARY KEY,
    tracker INTEGER NOT NULL REFERENCES tracker_name (key),
    id TEXT NOT NULL,
    UNIQUE (tracker, id)
  ) STRICT;
  CREATE TABLE pack_name (
    key INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (owner, id)
  ) STRICT;

  -- Definitions are JSON without their defaults.
  CREATE TABLE tracker (
    key INTEGER PRIMARY KEY REFERENCES tracker_name (key),
    pack TEXT,
    created_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    born INTEGER,
    gone INTEGER
  ) STRICT;
  CREATE INDEX tracker_born ON tracker (born) WHERE born IS NOT NULL;
  CREATE INDEX tracker_gone ON tracker (gone) WHERE gone IS NOT NULL;
  CREATE TABLE tracker_before (
    change INTEGER NOT NULL,
    key INTEGER NOT NULL,
    pack TEXT,
    created_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    born INTEGER,
    PRIMARY KEY (change, key)
  ) STRICT, WITHOUT ROWID;

  -- `key` is the entry's id. Quantities are grains, `day` counts from 1970-01-01, `fields` is a JSON object of grains.
  -- `has_note` (0 or 1) is for the index of notes, and `gone` is in each index, so that counting reads the index alone.
  CREATE TABLE entry (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
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
    born INTEGER,
    gone INTEGER
  ) STRICT;
  CREATE INDEX entry_at ON entry (tracker, at, day, gone) WHERE gone IS NULL;
  CREATE INDEX entry_day ON entry (tracker, day, at, gone) WHERE gone IS NULL;
  CREATE INDEX entry_note ON entry (tracker, at, day, has_note, gone) WHERE has_note = 1 AND gone IS NULL;
  CREATE INDEX entry_item ON entry (item, at, day, gone) WHERE item IS NOT NULL AND gone IS NULL;
  CREATE INDEX entry_gone ON entry (gone) WHERE gone IS NOT NULL;
  CREATE TABLE entry_before (
    change INTEGER NOT NULL,
    key INTEGER NOT NULL,
    tracker INTEGER NOT NULL,
    at INTEGER NOT NULL,
    day INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    quantity INTEGER,
    item INTEGER,
    fields TEXT,
    photo TEXT,
    note TEXT,
    has_note INTEGER NOT NULL,
    born INTEGER,
    PRIMARY KEY (change, key)
  ) STRICT, WITHOUT ROWID;

  -- How often each item occurs: on a day, and ever. The entries keep these themselves.
  CREATE TABLE item_day (
    tracker INTEGER NOT NULL,
    item INTEGER NOT NULL,
    day INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tracker, item, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX item_day_day ON item_day (tracker, day, count);
  CREATE TABLE item_total (
    tracker INTEGER NOT NULL,
    item INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tracker, item)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entry_made AFTER INSERT ON entry WHEN NEW.item IS NOT NULL AND NEW.gone IS NULL BEGIN
    INSERT INTO item_day VALUES (NEW.tracker, NEW.item, NEW.day, 1)
      ON CONFLICT (tracker, item, day) DO UPDATE SET count = count + 1;
    INSERT INTO item_total VALUES (NEW.tracker, NEW.item, 1)
      ON CONFLICT (tracker, item) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER entry_unmade AFTER DELETE ON entry WHEN OLD.item IS NOT NULL AND OLD.gone IS NULL BEGIN
    UPDATE item_day SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day;
    DELETE FROM item_day WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day AND count = 0;
    UPDATE item_total SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item;
    DELETE FROM item_total WHERE tracker = OLD.tracker AND item = OLD.item AND count = 0;
  END;
  CREATE TRIGGER entry_was AFTER UPDATE OF tracker, item, day, gone ON entry
    WHEN OLD.item IS NOT NULL AND OLD.gone IS NULL BEGIN
    UPDATE item_day SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day;
    DELETE FROM item_day WHERE tracker = OLD.tracker AND item = OLD.item AND day = OLD.day AND count = 0;
    UPDATE item_total SET count = count - 1 WHERE tracker = OLD.tracker AND item = OLD.item;
    DELETE FROM item_total WHERE tracker = OLD.tracker AND item = OLD.item AND count = 0;
  END;
  CREATE TRIGGER entry_is AFTER UPDATE OF tracker, item, day, gone ON entry
    WHEN NEW.item IS NOT NULL AND NEW.gone IS NULL BEGIN
    INSERT INTO item_day VALUES (NEW.tracker, NEW.item, NEW.day, 1)
      ON CONFLICT (tracker, item, day) DO UPDATE SET count = count + 1;
    INSERT INTO item_total VALUES (NEW.tracker, NEW.item, 1)
      ON CONFLICT (tracker, item) DO UPDATE SET count = count + 1;
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
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tracker_summary (
    tracker INTEGER PRIMARY KEY REFERENCES tracker_name (key),
    content TEXT NOT NULL
  ) STRICT;

  CREATE TABLE item (
    key INTEGER PRIMARY KEY REFERENCES item_name (key),
    title TEXT NOT NULL,
    attributes TEXT,
    since INTEGER,
    until INTEGER,
    note TEXT,
    photo TEXT,
    created_at INTEGER NOT NULL,
    born INTEGER,
    gone INTEGER
  ) STRICT;
  CREATE INDEX item_born ON item (born) WHERE born IS NOT NULL;
  CREATE INDEX item_gone ON item (gone) WHERE gone IS NOT NULL;
  CREATE TABLE item_before (
    change INTEGER NOT NULL,
    key INTEGER NOT NULL,
    title TEXT NOT NULL,
    attributes TEXT,
    since INTEGER,
    until INTEGER,
    note TEXT,
    photo TEXT,
    created_at INTEGER NOT NULL,
    born INTEGER,
    PRIMARY KEY (change, key)
  ) STRICT, WITHOUT ROWID;

  -- `key` is the milestone's id.
  CREATE TABLE milestone (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    tracker INTEGER NOT NULL REFERENCES tracker_name (key),
    day INTEGER NOT NULL,
    title TEXT NOT NULL,
    note TEXT,
    photo TEXT,
    value INTEGER,
    created_at INTEGER NOT NULL,
    born INTEGER,
    gone INTEGER
  ) STRICT;
  CREATE INDEX milestone_day ON milestone (tracker, day) WHERE gone IS NULL;
  CREATE INDEX milestone_born ON milestone (born) WHERE born IS NOT NULL;
  CREATE INDEX milestone_gone ON milestone (gone) WHERE gone IS NOT NULL;
  CREATE TABLE milestone_before (
    change INTEGER NOT NULL,
    key INTEGER NOT NULL,
    tracker INTEGER NOT NULL,
    day INTEGER NOT NULL,
    title TEXT NOT NULL,
    note TEXT,
    photo TEXT,
    value INTEGER,
    created_at INTEGER NOT NULL,
    born INTEGER,
    PRIMARY KEY (change, key)
  ) STRICT, WITHOUT ROWID;

  -- `print`: of the definition, by which one that has been read before is known without reading it again.
  CREATE TABLE pack (
    key INTEGER PRIMARY KEY REFERENCES pack_name (key),
    installed_at INTEGER NOT NULL,
    reminders TEXT NOT NULL,
    print INTEGER NOT NULL,
    definition TEXT NOT NULL,
    born INTEGER,
    gone INTEGER
  ) STRICT;
  CREATE INDEX pack_born ON pack (born) WHERE born IS NOT NULL;
  CREATE INDEX pack_gone ON pack (gone) WHERE gone IS NOT NULL;
  CREATE TABLE pack_before (
    change INTEGER NOT NULL,
    key INTEGER NOT NULL,
    installed_at INTEGER NOT NULL,
    reminders TEXT NOT NULL,
    print INTEGER NOT NULL,
    definition TEXT NOT NULL,
    born INTEGER,
    PRIMARY KEY (change, key)
  ) STRICT, WITHOUT ROWID;

  -- What is unlocked stays so, whatever is taken back.
  CREATE TABLE achievement (
    pack INTEGER NOT NULL REFERENCES pack_name (key),
    id TEXT NOT NULL,
    reached INTEGER NOT NULL,
    unlocked_at INTEGER,
    silent INTEGER NOT NULL,
    PRIMARY KEY (pack, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE experience (
    pack INTEGER PRIMARY KEY REFERENCES pack_name (key),
    points INTEGER NOT NULL
  ) STRICT;

  -- What is to take the place of all that an owner has, and what it has taken the place of: trackers and packs under a
  -- number that is nobody's. `at`: when it was last written to. `change`: the one that laid it aside; null: it is being
  -- made, or nobody needs it any more.
  CREATE TABLE shelf (
    number INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    at INTEGER NOT NULL,
    change INTEGER
  ) STRICT;
  CREATE INDEX shelf_change ON shelf (change);

  PRAGMA user_version = 5;
  """
