// crowd-receiver FILE DELAY ADDRESS: accepts hundreds of thousands of webhooks on a port of ADDRESS that it prints. For
// each it writes a line to FILE with its webhook-id and the "occurrence" of its JSON body, and answers 204 after DELAY
// milliseconds: so every answered one is recorded, and some attempts are always in flight.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most = 8192, room = 8192, slots = 1 << 16 };

struct connection {
  size_t length;
  uint64_t number;
  char bytes[room];
};

static struct connection *connections[most];
static uint64_t opened;

/// Delayed answers, in a ring: all have the same delay, so the oldest is due first.
static struct {
  int64_t at;
  int socket;
  uint64_t number;
} waiting[slots];
static uint16_t oldest, newest;
static int64_t delay;

static void need(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void forget(int socket) {
  free(connections[socket]);
  connections[socket] = NULL;
  close(socket);
}

/// Sends the answers that are due; returns the milliseconds until the next, or -1 if there is none.
static int answer(void) {
  static const char text[] = "HTTP/1.1 204 No Content\r\n\r\n";
  for (; oldest != newest; oldest++) {
    int64_t left = waiting[oldest].at - now();
    if (left > 0) return (int)left;
    // The connection may be closed by now, and its descriptor reused.
    struct connection *connection = connections[waiting[oldest].socket];
    if (!connection || connection->number != waiting[oldest].number) continue;
    if (send(waiting[oldest].socket, text, sizeof text - 1, MSG_NOSIGNAL) < 0) forget(waiting[oldest].socket);
  }
  return -1;
}

/// Returns the length of the first complete request, or 0; `body` points to its body.
static size_t whole(struct connection *connection, char **body) {
  connection->bytes[connection->length] = 0;
  char *end = strstr(connection->bytes, "\r\n\r\n");
  if (!end) return 0;
  *body = end + 4;
  char *field = strcasestr(connection->bytes, "\r\ncontent-length:");
  size_t length = *body - connection->bytes + (field && field < end ? strtoul(field + 17, NULL, 10) : 0);
  return length <= connection->length ? length : 0;
}

/// Writes a line about the request.
static void record(struct connection *connection, char *body, size_t length) {
  char *end = connection->bytes + length, after = *end;
  *end = 0;
  char *id = strcasestr(connection->bytes, "\r\nwebhook-id:"), *occurrence = strstr(body, "\"occurrence\":\"");
  need(id && id < body && occurrence, "a request without an id or an occurrence");
  id += 13 + strspn(id + 13, " ");
  occurrence += 14;
  printf("%.*s %.*s\n", (int)strcspn(id, "\r "), id, (int)strcspn(occurrence, "\""), occurrence);
  *end = after;
}

/// Returns whether the connection stays open.
static int serve(int socket) {
  struct connection *connection = connections[socket];
  ssize_t count = read(socket, connection->bytes + connection->length, room - 1 - connection->length);
  if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  connection->length += count;
  char *body;
  for (size_t length; (length = whole(connection, &body)) > 0;) {
    record(connection, body, length);
    waiting[newest].at = now() + delay;
    waiting[newest].socket = socket;
    waiting[newest].number = connection->number;
    newest += 1;
    need(newest != oldest, "room for more answers");
    connection->length -= length;
    memmove(connection->bytes, connection->bytes + length, connection->length);
  }
  return connection->length < room - 1;
}

int main(int count, char **arguments) {
  errno = EINVAL;
  need(count == 4, "crowd-receiver FILE DELAY ADDRESS");
  delay = atoll(arguments[2]);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  need(inet_pton(AF_INET, arguments[3], &address.sin_addr) == 1, arguments[3]);
  socklen_t size = sizeof address;
  need(bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
  need(listen(listener, 4096) == 0, "listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  need(freopen(arguments[1], "w", stdout) != NULL, arguments[1]);
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int found = epoll_wait(set, ready, 256, answer());
    for (int i = 0; i < found; i++) {
      int socket = ready[i].data.fd;
      if (socket != listener) {
        if (connections[socket] && !serve(socket)) forget(socket);
        continue;
      }
      while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        need(socket < most && (connections[socket] = malloc(sizeof(struct connection))), "room for a connection");
        connections[socket]->length = 0;
        connections[socket]->number = ++opened;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        event.data.fd = socket;
        epoll_ctl(set, EPOLL_CTL_ADD, socket, &event);
      }
    }
    // Write before any of them is answered.
    fflush(stdout);
  }
}
