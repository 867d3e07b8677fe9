// Version 6: owners that are no users.
let schemaVersion6: StaticString = """
  -- Their numbers come after all of users (2^31). None is given twice, and no row is ever removed.
  CREATE TABLE tenant (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  -- How many reminders of a tenant have a time of their schedule to come: the sum of `delta`. What brings one about or
  -- ends one adds a row and looks at no other; whoever has to know the number adds them up, and makes one of many.
  CREATE TABLE tenant_count (
    tenant INTEGER NOT NULL,
    delta INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX tenant_count_tenant ON tenant_count (tenant, delta);

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

  PRAGMA user_version = 6;
  """
