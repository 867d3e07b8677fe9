// receiver [FILE [DELAY [STATUS]]]: an HTTP receiver on a port of 127.0.0.1 that it prints first. For each request it
// prints, or writes to FILE, when its first byte was read (microseconds since the epoch) and the "title" of its JSON
// body. It answers STATUS (204 by default) after DELAY milliseconds, or never if DELAY is negative.
#include "peer.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>

enum { most_connections = 1024, room = 65536 };

struct connection {
  int64_t began;
  size_t length;
  char bytes[room];
};

static struct connection *connections[most_connections];

/// Delayed answers, in a ring: all have the same delay, so the oldest is due first.
static struct {
  int64_t at;
  int socket;
  struct connection *connection;
} waiting[1 << 16];
static uint16_t oldest, newest;

static int64_t delay;
static char answer[64] = "HTTP/1.1 204 No Content\r\n\r\n";

/// Sends the answers that are due; returns the milliseconds until the next, or -1 if there is none.
static int answer_waiting(void) {
  while (oldest != newest) {
    int64_t left = waiting[oldest].at - microseconds(CLOCK_MONOTONIC);
    if (left > 0) return (int)(left / 1000 + 1);
    // The connection may be closed by now.
    int socket = waiting[oldest].socket;
    if (connections[socket] && connections[socket] == waiting[oldest].connection) {
      ssize_t written = write(socket, answer, strlen(answer));
      (void)written;
    }
    oldest += 1;
  }
  return -1;
}

/// Returns the length of the first complete request, or 0; `body` points to its body.
static size_t whole_request(struct connection *connection, char **body) {
  connection->bytes[connection->length] = 0;
  char *end = strstr(connection->bytes, "\r\n\r\n");
  if (!end) return 0;
  *body = end + 4;
  char *field = strcasestr(connection->bytes, "\r\ncontent-length:");
  size_t length = *body - connection->bytes + (field && field < end ? strtoul(field + 17, NULL, 10) : 0);
  return length <= connection->length ? length : 0;
}

static void report(struct connection *connection, char *body, size_t length) {
  char *end = connection->bytes + length, after = *end;
  *end = 0;
  char *title = strstr(body, "\"title\":\""), *quote = title ? strchr(title + 9, '"') : NULL;
  printf("%lld %.*s\n", (long long)connection->began, quote ? (int)(quote - title - 9) : 0, title ? title + 9 : "");
  *end = after;
}

/// Returns whether the connection stays open.
static int serve(int socket) {
  struct connection *connection = connections[socket];
  ssize_t count = read(socket, connection->bytes + connection->length, room - 1 - connection->length);
  int64_t now = microseconds(CLOCK_REALTIME);
  if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  if (connection->length == 0) connection->began = now;
  connection->length += count;
  char *body;
  for (size_t length; (length = whole_request(connection, &body)) > 0;) {
    report(connection, body, length);
    if (delay == 0) {
      if (write(socket, answer, strlen(answer)) < 0) return 0;
    } else if (delay > 0) {
      waiting[newest].at = microseconds(CLOCK_MONOTONIC) + delay * 1000;
      waiting[newest].socket = socket;
      waiting[newest].connection = connection;
      newest += 1;
    }
    connection->length -= length;
    memmove(connection->bytes, connection->bytes + length, connection->length);
    connection->began = now;
  }
  return connection->length < room - 1;
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  if (count > 2) delay = atoll(arguments[2]);
  if (count > 3) {
    snprintf(answer, sizeof answer, "HTTP/1.1 %d As Asked\r\ncontent-length: 0\r\n\r\n", atoi(arguments[3]));
  }
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  need(bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
  need(listen(listener, 1024) == 0, "listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  if (count > 1) need(freopen(arguments[1], "w", stdout) != NULL, arguments[1]);
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[64];
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int found = epoll_wait(set, ready, 64, answer_waiting());
    for (int i = 0; i < found; i++) {
      int socket = ready[i].data.fd;
      if (socket != listener) {
        if (serve(socket)) continue;
        free(connections[socket]);
        connections[socket] = NULL;
        close(socket);
        continue;
      }
      while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        need(socket < most_connections && (connections[socket] = calloc(1, sizeof(struct connection))), "room");
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        event.data.fd = socket;
        epoll_ctl(set, EPOLL_CTL_ADD, socket, &event);
      }
    }
    fflush(stdout);
  }
}
