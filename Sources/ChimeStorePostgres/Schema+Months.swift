// Version 4: times that have come, and attempts, by months of the scheduled time (UTC), so that a month that is over is
// dropped and not deleted row by row. What is in no month that has been made is in the `_rest` of each.
//
// Each step is one function, and so one statement of whoever calls it: none can stop half-way with the locks in hand.
extension Schema {
  static let version4 = version4Tables + version4Functions + version4Rows

  /// An advisory lock ("Chme", 3): whoever makes or drops months has it.
  static let monthLock = "1130917221, 3"

  private static let version4Tables = """
    ALTER TABLE occurrence RENAME TO occurrence_whole;
    ALTER INDEX occurrence_pkey RENAME TO occurrence_whole_pkey;
    ALTER INDEX occurrence_reminder RENAME TO occurrence_whole_reminder;
    ALTER INDEX occurrence_open RENAME TO occurrence_whole_open;
    ALTER TABLE attempt RENAME TO attempt_whole;
    ALTER INDEX attempt_pkey RENAME TO attempt_whole_pkey;

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
    ) PARTITION BY RANGE (scheduled_at);
    CREATE INDEX occurrence_reminder ON occurrence (reminder, scheduled_at);
    CREATE INDEX occurrence_open ON occurrence (reminder, owner, state) WHERE state <= 2;
    CREATE TABLE occurrence_rest PARTITION OF occurrence DEFAULT;

    -- `scheduled_at` is that of the delivery's occurrence, so that both go with the same month, and an attempt is looked
    -- for in one month only.
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
      scheduled_at BIGINT NOT NULL,
      PRIMARY KEY (delivery, position, scheduled_at)
    ) PARTITION BY RANGE (scheduled_at);
    CREATE TABLE attempt_rest PARTITION OF attempt DEFAULT;

    -- While a month is about to be dropped: those of its times that stay, and those that have changed since they were
    -- looked at.
    CREATE TABLE staying (
      scheduled_at BIGINT NOT NULL,
      reminder BIGINT NOT NULL,
      PRIMARY KEY (scheduled_at, reminder)
    );

    """

  private static let version4Functions = """
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
      SELECT coalesce(state <> 2 AND at < oldest AND (ended_at IS NULL OR ended_at < oldest), false)
        OR coalesce(state > 2 AND at < first, false)
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

  /// Months of the last two years are made where there are rows of them; what is older, or to come, is in the rest.
  private static let version4Rows = """
    DO $body$
    DECLARE month DATE := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date;
    BEGIN
      FOR step IN 0..24 LOOP
        IF EXISTS (SELECT 1 FROM chime.occurrence_whole
          WHERE scheduled_at >= chime.month_start(month)
            AND scheduled_at < chime.month_start((month + interval '1 month')::date)) THEN
          PERFORM chime.make_month(month);
        END IF;
        month := (month - interval '1 month')::date;
      END LOOP;
    END $body$;
    INSERT INTO occurrence SELECT * FROM occurrence_whole;
    INSERT INTO attempt (
      delivery, position, number, started_at, took_ms, status, outcome, answer, error, scheduled_at)
      SELECT t.delivery, t.position, t.number, t.started_at, t.took_ms, t.status, t.outcome, t.answer, t.error,
        coalesce(d.scheduled_at, t.started_at)
      FROM attempt_whole t LEFT JOIN delivery d ON d.key = t.delivery;
    DROP TABLE occurrence_whole, attempt_whole;
    ANALYZE occurrence, attempt;
    """
}
