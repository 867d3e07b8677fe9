// firing START COUNT DATABASE PORT|PROGRAM: the minimal cost of a durable reminder. At COUNT consecutive seconds from START
// (microseconds since the epoch): a timerfd, one row committed to SQLite, and one HTTP request to the receiver at PORT
// over a persistent connection, or a start of PROGRAM. Receiver or program record the times.
#include "peer.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>

static int connect_to(const char *port) {
  int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  need(connect(connection, (struct sockaddr *)&address, sizeof address) == 0, "connect");
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return connection;
}

static void request(int connection, const char *title) {
  char body[64], request[256];
  int length = snprintf(body, sizeof body, "{\"title\":\"%s\"}", title);
  length = snprintf(
    request, sizeof request, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", length, body);
  need(write(connection, request, length) == length, "write");
  char answer[256];
  need(read(connection, answer, sizeof answer) > 0, "read");
}

static void run(char *program, char *title) {
  pid_t child;
  need(posix_spawn(&child, program, NULL, NULL, (char *[]){program, title, NULL}, NULL) == 0, program);
  waitpid(child, NULL, 0);
}

int main(int count, char **arguments) {
  need(count == 5, "firing START COUNT DATABASE PORT|PROGRAM");
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
  char *program = arguments[4][0] == '/' ? arguments[4] : NULL;
  int connection = program == NULL ? connect_to(arguments[4]) : -1;
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  need(timer >= 0, "timerfd_create");
  for (int i = 0; i < times; i++) {
    int64_t due = start + i * 1000000LL;
    wait_until(timer, due);
    sqlite3_bind_int64(insert, 1, due);
    need(sqlite3_step(insert) == SQLITE_DONE, "sqlite3_step");
    sqlite3_reset(insert);
    char title[64];
    snprintf(title, sizeof title, "peer %lld", (long long)due);
    if (program != NULL) run(program, title); else request(connection, title);
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
