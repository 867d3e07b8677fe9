// Version 2: several daemons share the outbox. Times are milliseconds since the epoch by the database's clock.
extension Schema {
  static let version2 = """
    -- The daemons that have the database, or had it in the last day. `expires_at`: until when what a daemon has leased is
    -- its own, unless it is heard of before. It stands here and not with each lease, so that a daemon is heard of by one
    -- small row, which no transaction that relies on a lease ever locks. `leaving`: 1 when it takes nothing more.
    CREATE TABLE node (
      id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name TEXT COLLATE "C" NOT NULL,
      process BIGINT NOT NULL,
      version TEXT COLLATE "C" NOT NULL,
      started_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      leaving SMALLINT NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);

    -- Whose each part of the outbox is (`lane.shard`); nobody's where `node` is null or gone. `epoch` counts its owners.
    -- Whoever claims for a lane has the row locked for share until the claim has committed, so that nobody takes the lane
    -- over in between.
    CREATE TABLE shard_lease (
      shard SMALLINT PRIMARY KEY CHECK (shard BETWEEN 0 AND 255),
      node BIGINT,
      epoch BIGINT NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    INSERT INTO shard_lease (shard) SELECT number FROM generate_series(0, 255) number;

    -- What each daemon keeps in memory, and how often that has changed.
    CREATE TABLE revision (
      name TEXT COLLATE "C" PRIMARY KEY,
      number BIGINT NOT NULL
    );

    -- Under which epoch of its lane's lease a delivery was claimed last: what came of it counts under that one only.
    ALTER TABLE delivery ADD COLUMN epoch BIGINT;
    """
}
