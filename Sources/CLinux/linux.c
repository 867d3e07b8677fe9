#define _GNU_SOURCE
#include "CLinux.h"

#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

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
  // Far enough never to fire, and small enough for 64-bit nanoseconds in every kernel.
  struct itimerspec far = {.it_value = {.tv_sec = 0x1FFFFFFFF}};
  if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) < 0) return -1;
  return fd;
}

int chime_clock_state(int64_t *max_error) {
  struct timex state;
  memset(&state, 0, sizeof state);
  int result = adjtimex(&state);
  if (result < 0) return -1;
  *max_error = state.maxerror;
  // The same test as timedated's: some programs set the error bound but not the flag. The kernel gives up at 16 s.
  return state.maxerror < 16000000;
}

int chime_wake_timer(void) { return timerfd_create(CLOCK_REALTIME_ALARM, TFD_NONBLOCK | TFD_CLOEXEC); }

int chime_wake_timer_set(int fd, int64_t milliseconds) {
  struct itimerspec at = {.it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000}};
  return timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int chime_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }
int chime_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

int chime_pty(int ends[2]) {
  int main_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (main_end < 0) return -1;
  char name[PATH_MAX];
  int terminal = -1;
  struct termios settings;
  if (grantpt(main_end) == 0 && unlockpt(main_end) == 0) {
    int failure = ptsname_r(main_end, name, sizeof name);
    if (failure == 0)
      terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    else
      errno = failure;
  }
  if (terminal >= 0 && tcgetattr(terminal, &settings) == 0) {
    cfmakeraw(&settings);
    if (tcsetattr(terminal, TCSANOW, &settings) == 0) {
      ends[0] = main_end;
      ends[1] = terminal;
      return 0;
    }
  }
  int failure = errno;
  if (terminal >= 0) close(terminal);
  close(main_end);
  errno = failure;
  return -1;
}

int64_t chime_wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void chime_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void chime_malloc_keep_small(void) {
  mallopt(M_ARENA_MAX, 1);
  // Explicit thresholds stop malloc from raising them after the first large block.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

/// Handles the first object in the list, which is the program itself.
static int forget_code(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size, (void)context;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = object->dlpi_addr + segment->p_vaddr;
    uintptr_t first = start & ~(page - 1);
    madvise((void *)first, start + segment->p_memsz - first, MADV_DONTNEED);
  }
  return 1;
}

void chime_forget_code(void) { dl_iterate_phdr(forget_code, NULL); }
