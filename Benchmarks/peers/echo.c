// echo SOCKET: returns what it receives, on any number of connections. This is the minimal cost of a request.
#include "peer.h"

int main(int count, char **arguments) {
  need(count == 2, "echo SOCKET");
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_un address = socket_address(arguments[1]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  need(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
  need(listen(listener, 256) == 0, "listen");
  puts("ready");
  fflush(stdout);
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[64];
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int found = epoll_wait(set, ready, 64, -1);
    for (int i = 0; i < found; i++) {
      int socket = ready[i].data.fd;
      if (socket == listener) {
        while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
          event.data.fd = socket;
          epoll_ctl(set, EPOLL_CTL_ADD, socket, &event);
        }
        continue;
      }
      char bytes[65536];
      ssize_t length = read(socket, bytes, sizeof bytes);
      if (length <= 0 || write(socket, bytes, length) != length) close(socket);
    }
  }
}
