// load SOCKET CONNECTIONS SECONDS: sends the message on standard input repeatedly, on each connection one at a time, and
// prints answers, error answers, seconds, and the 50th and 99th percentile of the round trip in microseconds. The first
// fifth of a second is warm-up.
#include "peer.h"

enum { most_samples = 1 << 22 };

struct connection {
  int64_t sent;
  size_t length;
  char answer[1 << 16];
};

static char message[1 << 18];
static size_t message_length;
static uint32_t samples[most_samples];

static void send_message(int socket, struct connection *connection) {
  connection->sent = microseconds(CLOCK_MONOTONIC);
  connection->length = 0;
  need(send(socket, message, message_length, MSG_NOSIGNAL) == (ssize_t)message_length, "send");
}

static int by_value(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  need(count == 4, "load SOCKET CONNECTIONS SECONDS");
  int connection_count = atoi(arguments[2]);
  int64_t span = (int64_t)(atof(arguments[3]) * 1e6);
  message_length = fread(message, 1, sizeof message - 1, stdin);
  message[message_length++] = 0;
  struct sockaddr_un address = socket_address(arguments[1]);
  struct connection *connections = calloc(connection_count, sizeof *connections);
  int *sockets = calloc(connection_count, sizeof *sockets);
  int set = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connection_count; i++) {
    sockets[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    need(connect(sockets[i], (struct sockaddr *)&address, sizeof address) == 0, "connect");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(set, EPOLL_CTL_ADD, sockets[i], &event);
  }
  for (int i = 0; i < connection_count; i++) send_message(sockets[i], &connections[i]);

  int64_t begin = microseconds(CLOCK_MONOTONIC) + 200000, end = begin + span, now = 0;
  size_t answers = 0, errors = 0;
  struct epoll_event ready[64];
  while (now < end) {
    int found = epoll_wait(set, ready, 64, 1000);
    for (int i = 0; i < found; i++) {
      int index = ready[i].data.u32;
      struct connection *connection = &connections[index];
      ssize_t length = read(
        sockets[index], connection->answer + connection->length, sizeof connection->answer - connection->length);
      need(length > 0, "the connection");
      connection->length += length;
      if (connection->answer[connection->length - 1] != 0) {
        need(connection->length < sizeof connection->answer, "room for an answer");
        continue;
      }
      now = microseconds(CLOCK_MONOTONIC);
      if (now >= begin && now < end) {
        if (answers < most_samples) samples[answers] = (uint32_t)(now - connection->sent);
        answers += 1;
        errors += strstr(connection->answer, "\"error\":\"") != NULL;
      }
      send_message(sockets[index], connection);
    }
    now = microseconds(CLOCK_MONOTONIC);
  }
  size_t kept = answers < most_samples ? answers : most_samples;
  qsort(samples, kept, sizeof *samples, by_value);
  printf(
    "%zu %zu %.6f %u %u\n", answers, errors, span / 1e6, kept ? samples[kept / 2] : 0,
    kept ? samples[kept * 99 / 100] : 0);
  return 0;
}
