// Helpers shared by the peers.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// Ends the peer with an error message unless `holds`.
static inline void need(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static inline int64_t microseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static inline struct sockaddr_un socket_address(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  need(strlen(path) < sizeof address.sun_path, "a shorter socket path");
  strcpy(address.sun_path, path);
  return address;
}

/// Waits on a timerfd of the wall clock until a time in microseconds since the epoch.
static inline void wait_until(int timer, int64_t time) {
  struct itimerspec when = {.it_value = {time / 1000000, time % 1000000 * 1000}};
  uint64_t expirations;
  need(timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) == 0, "timerfd_settime");
  need(read(timer, &expirations, sizeof expirations) == sizeof expirations, "read of a timerfd");
}
