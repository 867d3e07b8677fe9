#include "CPowerVFS.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  for (const unsigned char *byte = bytes; size > 0; byte++, size--) hash = (hash ^ *byte) * 0x100000001B3u;
  return hash;
}

// Hashes every value of every row, in the order of the table's key.
static int mix_rows(sqlite3 *connection, const char *sql, uint64_t *hash) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
  if (code != SQLITE_OK) return code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
      int type = sqlite3_column_type(statement, column);
      *hash = mix(*hash, &type, sizeof type);
      const void *bytes = sqlite3_column_blob(statement, column);
      size_t size = (size_t)sqlite3_column_bytes(statement, column);
      if (bytes) *hash = mix(*hash, bytes, size);
    }
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int mix_tables(sqlite3 *connection, uint64_t *hash) {
  int code = mix_rows(connection, "SELECT type, name, sql FROM sqlite_schema ORDER BY name", hash);
  sqlite3_stmt *names;
  if (code == SQLITE_OK) {
    code = sqlite3_prepare_v2(
        connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", -1, &names, NULL);
  }
  if (code != SQLITE_OK) return code;
  while (code == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW) {
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", (const char *)sqlite3_column_text(names, 0));
    *hash = mix(*hash, sql, strlen(sql));
    code = mix_rows(connection, sql, hash);
  }
  sqlite3_finalize(names);
  return code;
}

uint64_t power_examine(const char *path, const char *vfs, char *verdict, int size) {
  sqlite3 *connection = NULL;
  uint64_t hash = 0xCBF29CE484222325u;
  int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs);
  sqlite3_busy_timeout(connection, 2000);
  if (code == SQLITE_OK) code = sqlite3_exec(connection, "BEGIN", NULL, NULL, NULL);
  sqlite3_stmt *check = NULL;
  if (code == SQLITE_OK) code = sqlite3_prepare_v2(connection, "PRAGMA integrity_check(1)", -1, &check, NULL);
  if (code == SQLITE_OK && sqlite3_step(check) == SQLITE_ROW) {
    snprintf(verdict, (size_t)size, "%s", (const char *)sqlite3_column_text(check, 0));
  }
  sqlite3_finalize(check);
  if (code == SQLITE_OK) code = mix_tables(connection, &hash);
  if (code != SQLITE_OK) snprintf(verdict, (size_t)size, "%s", sqlite3_errmsg(connection));
  sqlite3_close(connection);
  return hash;
}
