// firing START COUNT DATABASE PORT: the minimal cost of a durable reminder. At COUNT consecutive seconds from START
// (microseconds since the epoch): a timerfd, one row committed to SQLite, and one HTTP request to the receiver at PORT
// over a persistent connection. The receiver records the times.
#include "peer.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sqlite3.h>

int main(int count, char **arguments) {
  need(count == 5, "firing START COUNT DATABASE PORT");
  int64_t start = atoll(arguments[1]);
  int times = atoi(arguments[2]);
  sqlite3 *database;
  sqlite3_stmt *insert;
  need(sqlite3_open(arguments[3], &database) == SQLITE_OK, "sqlite3_open");
  sqlite3_exec(
    database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE fired (at INTEGER, title TEXT)",
    NULL, NULL, NULL);
  need(
    sqlite3_prepare_v2(database, "INSERT INTO fired VALUES (?, 'Drink water')", -1, &insert, NULL) == SQLITE_OK,
    "sqlite3_prepare_v2");
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[4]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  need(connect(connection, (struct sockaddr *)&address, sizeof address) == 0, "connect");
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  need(timer >= 0, "timerfd_create");
  for (int i = 0; i < times; i++) {
    int64_t due = start + i * 1000000LL;
    wait_until(timer, due);
    sqlite3_bind_int64(insert, 1, due);
    need(sqlite3_step(insert) == SQLITE_DONE, "sqlite3_step");
    sqlite3_reset(insert);
    char body[64], request[256];
    int length = snprintf(body, sizeof body, "{\"title\":\"peer %lld\"}", (long long)due);
    length = snprintf(
      request, sizeof request, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", length, body);
    need(write(connection, request, length) == length, "write");
    char answer[256];
    need(read(connection, answer, sizeof answer) > 0, "read");
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
