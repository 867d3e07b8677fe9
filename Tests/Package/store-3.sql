-- A store as Chime kept it before trackers were linked to reminders: layout 3, written by chimed as it was then.
-- Read by Tests/Package/run, which has the new chimed bring it to the layout of today.
PRAGMA application_id = 0x43686D65;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE alias (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "alias" VALUES(1,'z34z');
INSERT INTO "alias" VALUES(2,'x7pw');
INSERT INTO "alias" VALUES(3,'pyy9');
INSERT INTO "alias" VALUES(4,'gp3t');
INSERT INTO "alias" VALUES(5,'jzew');
INSERT INTO "alias" VALUES(6,'frpg');
INSERT INTO "alias" VALUES(7,'yzx4');
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
INSERT INTO "attempt" VALUES(1,1,1,1795331284115,0,'failed',NULL,NULL,'Failed to connect to 127.0.0.1 port 8099 after 0 ms: Couldn''t connect to server');
INSERT INTO "attempt" VALUES(1,2,2,1795331284119,0,'failed',NULL,NULL,'Failed to connect to 127.0.0.1 port 8099 after 0 ms: Couldn''t connect to server');
INSERT INTO "attempt" VALUES(2,1,1,1795331288011,0,'failed',NULL,NULL,'Failed to connect to 127.0.0.1 port 8099 after 0 ms: Couldn''t connect to server');
INSERT INTO "attempt" VALUES(2,2,2,1795331288029,0,'failed',NULL,NULL,'Failed to connect to 127.0.0.1 port 8099 after 0 ms: Couldn''t connect to server');
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
  created_at INTEGER NOT NULL, in_order INTEGER NOT NULL DEFAULT 0, attempts_before INTEGER NOT NULL DEFAULT 0,
  FOREIGN KEY (scheduled_at, reminder) REFERENCES occurrence (scheduled_at, reminder)
) STRICT;
INSERT INTO "delivery" VALUES(1,'msg_01m811aq47waf2pxaf9b70j9zn',1795331284000,6,1,1,1,1795331289546,1795331289546,2,1795331284103,0,0);
INSERT INTO "delivery" VALUES(2,'msg_01m811aty03d2ev8t7wxg6egg6',1795331288000,7,1,1,4,1795331288221,1795331293140,2,1795331288000,0,0);
CREATE TABLE due (
  reminder INTEGER NOT NULL REFERENCES reminder (key) ON DELETE CASCADE,
  snooze_of INTEGER NOT NULL,
  next_at INTEGER NOT NULL, scheduled_at INTEGER, wakes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (reminder, snooze_of)
) STRICT, WITHOUT ROWID;
INSERT INTO "due" VALUES(1,-1,1795334400000,NULL,0);
INSERT INTO "due" VALUES(2,-1,1795422300000,NULL,0);
INSERT INTO "due" VALUES(3,-1,1796061600000,NULL,0);
INSERT INTO "due" VALUES(4,-1,1795334400000,NULL,0);
INSERT INTO "due" VALUES(5,-1,1795414200000,NULL,1);
INSERT INTO "due" VALUES(6,-1,1795334885000,NULL,0);
INSERT INTO "due" VALUES(6,1795331284000,1795332485129,NULL,0);
CREATE TABLE endpoint (
  owner INTEGER NOT NULL,
  channel TEXT NOT NULL,
  url TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  disabled TEXT, settings TEXT NOT NULL DEFAULT '{}', failing_since INTEGER, disabled_at INTEGER,
  PRIMARY KEY (owner, channel)
) STRICT, WITHOUT ROWID;
INSERT INTO "endpoint" VALUES(0,'team','http://127.0.0.1:8099/hook',1795331283961,NULL,'{}',1795331284115,NULL);
CREATE TABLE lane (
  key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  channel TEXT NOT NULL, ordered INTEGER NOT NULL DEFAULT 0,
  UNIQUE (owner, channel)
) STRICT;
INSERT INTO "lane" VALUES(1,0,'team',0);
CREATE TABLE note (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "note" VALUES('clock','1795331282570');
INSERT INTO "note" VALUES('surroundings','local Etc/UTC 384865:114:1756065323.0
database 385730:114350:1756065323.0
place -
calendars cbf29ce484222325
quiet hold ');
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
  title TEXT NOT NULL, repeats INTEGER NOT NULL DEFAULT 0, repeat_at INTEGER,
  PRIMARY KEY (scheduled_at, reminder)
) STRICT, WITHOUT ROWID;
INSERT INTO "occurrence" VALUES(1795331284000,6,0,2,1,1795331284000,NULL,NULL,1795332485129,NULL,NULL,NULL,NULL,'Tea',0,NULL);
INSERT INTO "occurrence" VALUES(1795331288000,7,0,3,1,1795331288000,NULL,1795331288221,NULL,NULL,NULL,NULL,NULL,'Gone',0,NULL);
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
INSERT INTO "reminder" VALUES(1,0,0,1795331283996,0,'local','every 90m from 08:00 to 22:00','Drink water',NULL,'{"channels":["desktop"]}');
INSERT INTO "reminder" VALUES(2,0,1,1795331284027,1,'Europe/Prague','weekdays at 09:25','Stand-up',NULL,'{"channels":["team"]}');
INSERT INTO "reminder" VALUES(3,0,1,1795331284042,0,'local','last day of month at 18:00','Rent',NULL,'{"channels":["team"],"pause":{"until":{"_0":1795734000000}}}');
INSERT INTO "reminder" VALUES(4,0,0,1795331284054,0,'local','daily at 08:00','Pills',NULL,'{"channels":["team"],"nag":{"escalation":[],"every":300000,"max":6}}');
INSERT INTO "reminder" VALUES(5,0,0,1795331284066,0,'local','weekdays at 06:10','Catch the train',NULL,'{"channels":["team"],"wake":true}');
INSERT INTO "reminder" VALUES(6,0,0,1795331284091,0,'local','at 2026-11-22T08:08:05Z','Tea',NULL,'{"channels":["team"]}');
INSERT INTO "reminder" VALUES(7,0,0,1795331285192,0,'local','at 2026-11-22T07:08:08Z','Gone',NULL,'{"channels":["team"]}');
CREATE TABLE token (
  owner INTEGER NOT NULL,
  token TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  answer BLOB NOT NULL,
  PRIMARY KEY (owner, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX reminder_title ON reminder (title);
CREATE INDEX due_next ON due (next_at);
CREATE INDEX occurrence_reminder ON occurrence (reminder, scheduled_at);
CREATE INDEX delivery_occurrence ON delivery (scheduled_at, reminder);
CREATE INDEX delivery_owed ON delivery (lane, visible_at) WHERE state <= 1;
CREATE INDEX delivery_dead ON delivery (lane) WHERE state = 3;
CREATE INDEX token_age ON token (kept_at);
CREATE INDEX delivery_in_order ON delivery (lane) WHERE state <= 1 AND in_order = 1;
CREATE INDEX reminder_owner ON reminder (owner);
CREATE INDEX reminder_except ON reminder (key) WHERE instr(schedule, 'except') > 0;
CREATE INDEX due_snoozed ON due (reminder) WHERE snooze_of >= 0;
CREATE INDEX due_moved ON due (scheduled_at) WHERE scheduled_at IS NOT NULL;
CREATE INDEX occurrence_open ON occurrence (reminder, owner, state) WHERE state <= 2;
CREATE INDEX due_waking ON due (next_at) WHERE wakes = 1;
COMMIT;
