// Trackers. What a person has entered stands in a table with `born` and `gone`, the changes that made and removed it, and
// what was replaced in the table of the same name with `_before`, under the change that replaced it: taking a change back
// removes what was born of it, brings back what is gone by it, and puts back what was before it. A row that is gone is
// none for everything else; the partial indexes leave it out. Null: made outside of a change, and there still.
let version1Trackers = """
  -- The last key of each table whose keys people see, and whose order is that in which changes were made. A sequence would
  -- neither be without holes nor keep that order between transactions that run side by side.
  CREATE TABLE number (
    name TEXT COLLATE "C" PRIMARY KEY,
    last BIGINT NOT NULL
  );
  INSERT INTO number VALUES ('change', 0), ('entry', 0), ('milestone', 0);

  -- What can be taken back, in order. A key is given once. `after_entry`: the last entry that was there before it.
  -- `detail`: how reminders and endpoints were before and after it, as JSON.
  CREATE TABLE change (
    key BIGINT PRIMARY KEY,
    owner BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    tracker TEXT COLLATE "C",
    subject TEXT COLLATE "C" NOT NULL,
    after_entry BIGINT NOT NULL,
    detail TEXT COLLATE "C"
  );
  CREATE INDEX change_owner ON change (owner, key);
  CREATE INDEX change_at ON change (at);

  -- Names. They stay when what they name is removed: entries point at removed items, unlocks at removed packs.
  CREATE TABLE tracker_name (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    UNIQUE (owner, id)
  );
  CREATE TABLE item_name (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tracker BIGINT NOT NULL REFERENCES tracker_name (key),
    id TEXT COLLATE "C" NOT NULL,
    UNIQUE (tracker, id)
  );
  CREATE TABLE pack_name (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    UNIQUE (owner, id)
  );

  -- Definitions are JSON without their defaults.
  CREATE TABLE tracker (
    key BIGINT PRIMARY KEY REFERENCES tracker_name (key),
    pack TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    born BIGINT,
    gone BIGINT
  );
  CREATE INDEX tracker_born ON tracker (born) WHERE born IS NOT NULL;
  CREATE INDEX tracker_gone ON tracker (gone) WHERE gone IS NOT NULL;
  CREATE TABLE tracker_before (
    change BIGINT NOT NULL,
    key BIGINT NOT NULL,
    pack TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    born BIGINT,
    PRIMARY KEY (change, key)
  );

  -- `key` is the entry's id. Quantities are grains, `day` counts from 1970-01-01, `fields` is a JSON object of grains.
  -- `has_note` (0 or 1) is for the index of notes, and `gone` is in each index, so that counting reads the index alone.
  CREATE TABLE entry (
    key BIGINT PRIMARY KEY,
    tracker BIGINT NOT NULL REFERENCES tracker_name (key),
    at BIGINT NOT NULL,
    day BIGINT NOT NULL,
    minute BIGINT NOT NULL,
    quantity BIGINT,
    item BIGINT REFERENCES item_name (key),
    fields TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    note TEXT COLLATE "C",
    has_note BIGINT NOT NULL,
    born BIGINT,
    gone BIGINT
  );
  CREATE INDEX entry_at ON entry (tracker, at, day, gone) WHERE gone IS NULL;
  CREATE INDEX entry_day ON entry (tracker, day, at, gone) WHERE gone IS NULL;
  CREATE INDEX entry_note ON entry (tracker, at, day, has_note, gone) WHERE has_note = 1 AND gone IS NULL;
  CREATE INDEX entry_item ON entry (item, at, day, gone) WHERE item IS NOT NULL AND gone IS NULL;
  CREATE INDEX entry_gone ON entry (gone) WHERE gone IS NOT NULL;
  CREATE TABLE entry_before (
    change BIGINT NOT NULL,
    key BIGINT NOT NULL,
    tracker BIGINT NOT NULL,
    at BIGINT NOT NULL,
    day BIGINT NOT NULL,
    minute BIGINT NOT NULL,
    quantity BIGINT,
    item BIGINT,
    fields TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    note TEXT COLLATE "C",
    has_note BIGINT NOT NULL,
    born BIGINT,
    PRIMARY KEY (change, key)
  );

  -- How often each item occurs: on a day, and ever. The entries keep these themselves.
  CREATE TABLE item_day (
    tracker BIGINT NOT NULL,
    item BIGINT NOT NULL,
    day BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (tracker, item, day)
  );
  CREATE INDEX item_day_day ON item_day (tracker, day, count);
  CREATE TABLE item_total (
    tracker BIGINT NOT NULL,
    item BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (tracker, item)
  );
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
    WHEN (NEW.item IS NOT NULL AND NEW.gone IS NULL) EXECUTE FUNCTION item_made();
  CREATE TRIGGER entry_unmade AFTER DELETE ON entry FOR EACH ROW
    WHEN (OLD.item IS NOT NULL AND OLD.gone IS NULL) EXECUTE FUNCTION item_unmade();
  CREATE TRIGGER entry_is AFTER UPDATE OF tracker, item, day, gone ON entry FOR EACH ROW
    WHEN (NEW.item IS NOT NULL AND NEW.gone IS NULL) EXECUTE FUNCTION item_made();
  CREATE TRIGGER entry_was AFTER UPDATE OF tracker, item, day, gone ON entry FOR EACH ROW
    WHEN (OLD.item IS NOT NULL AND OLD.gone IS NULL) EXECUTE FUNCTION item_unmade();

  -- What follows from entries; made anew by whoever has to.
  CREATE TABLE day_total (
    tracker BIGINT NOT NULL REFERENCES tracker_name (key),
    day BIGINT NOT NULL,
    count BIGINT NOT NULL,
    total BIGINT NOT NULL,
    least BIGINT,
    most BIGINT,
    last BIGINT,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    first_minute BIGINT NOT NULL,
    last_minute BIGINT NOT NULL,
    met BIGINT NOT NULL,
    goal TEXT COLLATE "C",
    PRIMARY KEY (tracker, day)
  );
  CREATE TABLE tracker_summary (
    tracker BIGINT PRIMARY KEY REFERENCES tracker_name (key),
    content TEXT COLLATE "C" NOT NULL
  );

  CREATE TABLE item (
    key BIGINT PRIMARY KEY REFERENCES item_name (key),
    title TEXT COLLATE "C" NOT NULL,
    attributes TEXT COLLATE "C",
    since BIGINT,
    until BIGINT,
    note TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    born BIGINT,
    gone BIGINT
  );
  CREATE INDEX item_born ON item (born) WHERE born IS NOT NULL;
  CREATE INDEX item_gone ON item (gone) WHERE gone IS NOT NULL;
  CREATE TABLE item_before (
    change BIGINT NOT NULL,
    key BIGINT NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    attributes TEXT COLLATE "C",
    since BIGINT,
    until BIGINT,
    note TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    born BIGINT,
    PRIMARY KEY (change, key)
  );

  -- `key` is the milestone's id.
  CREATE TABLE milestone (
    key BIGINT PRIMARY KEY,
    tracker BIGINT NOT NULL REFERENCES tracker_name (key),
    day BIGINT NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    value BIGINT,
    created_at BIGINT NOT NULL,
    born BIGINT,
    gone BIGINT
  );
  CREATE INDEX milestone_day ON milestone (tracker, day) WHERE gone IS NULL;
  CREATE INDEX milestone_born ON milestone (born) WHERE born IS NOT NULL;
  CREATE INDEX milestone_gone ON milestone (gone) WHERE gone IS NOT NULL;
  CREATE TABLE milestone_before (
    change BIGINT NOT NULL,
    key BIGINT NOT NULL,
    tracker BIGINT NOT NULL,
    day BIGINT NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C",
    photo TEXT COLLATE "C",
    value BIGINT,
    created_at BIGINT NOT NULL,
    born BIGINT,
    PRIMARY KEY (change, key)
  );

  -- `print`: of the definition, by which one that has been read before is known without reading it again.
  CREATE TABLE pack (
    key BIGINT PRIMARY KEY REFERENCES pack_name (key),
    installed_at BIGINT NOT NULL,
    reminders TEXT COLLATE "C" NOT NULL,
    print BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    born BIGINT,
    gone BIGINT
  );
  CREATE INDEX pack_born ON pack (born) WHERE born IS NOT NULL;
  CREATE INDEX pack_gone ON pack (gone) WHERE gone IS NOT NULL;
  CREATE TABLE pack_before (
    change BIGINT NOT NULL,
    key BIGINT NOT NULL,
    installed_at BIGINT NOT NULL,
    reminders TEXT COLLATE "C" NOT NULL,
    print BIGINT NOT NULL,
    definition TEXT COLLATE "C" NOT NULL,
    born BIGINT,
    PRIMARY KEY (change, key)
  );

  -- What is unlocked stays so, whatever is taken back.
  CREATE TABLE achievement (
    pack BIGINT NOT NULL REFERENCES pack_name (key),
    id TEXT COLLATE "C" NOT NULL,
    reached BIGINT NOT NULL,
    unlocked_at BIGINT,
    silent BIGINT NOT NULL,
    PRIMARY KEY (pack, id)
  );
  CREATE TABLE experience (
    pack BIGINT PRIMARY KEY REFERENCES pack_name (key),
    points BIGINT NOT NULL
  );

  -- What is to take the place of all that an owner has, and what it has taken the place of: trackers and packs under a
  -- number that is nobody's. `at`: when it was last written to. `change`: the one that laid it aside; null: it is being
  -- made, or nobody needs it any more.
  CREATE TABLE shelf (
    number BIGINT PRIMARY KEY,
    owner BIGINT NOT NULL,
    at BIGINT NOT NULL,
    change BIGINT
  );
  CREATE INDEX shelf_change ON shelf (change);
  """
