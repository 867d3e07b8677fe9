// Version 3: owners that are no users.
extension Schema {
  static let version3 = """
    -- Their numbers come after all of users (2^31). None is given twice, and no row is ever removed.
    CREATE TABLE tenant (
      number BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 2147483648) PRIMARY KEY,
      name TEXT COLLATE "C" NOT NULL UNIQUE
    );

    -- How many reminders of a tenant have a time of their schedule to come: the sum of `delta`. What brings one about or
    -- ends one adds a row and waits for nobody; whoever has to know the number has the tenant's row locked, adds them up,
    -- and makes one of many.
    CREATE TABLE tenant_count (
      tenant BIGINT NOT NULL,
      delta BIGINT NOT NULL
    );
    CREATE INDEX tenant_count_tenant ON tenant_count (tenant, delta);

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
    """
}
