#define _GNU_SOURCE
#include "CLinux.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int chime_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int chime_pidfd_wait(int pidfd, int *code, int *status) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  int result;
  do result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -1;
  if (info.si_pid == 0) {
    errno = EAGAIN;
    return -1;
  }
  *code = info.si_code;
  *status = info.si_status;
  return 0;
}

int chime_peer_credentials(int fd, struct chime_peer *peer) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
  peer->pid = credentials.pid;
  peer->uid = credentials.uid;
  peer->gid = credentials.gid;
  return 0;
}

int chime_clock_watch(int fd) {
  if (fd < 0) fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) return -1;
  // Far enough never to fire by itself, small enough for every kernel's 64-bit nanoseconds.
  struct itimerspec far = {.it_value = {.tv_sec = 0x1FFFFFFFF}};
  if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) < 0) return -1;
  return fd;
}

int chime_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }
