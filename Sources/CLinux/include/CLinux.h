#pragma once
// What Linux offers and Swift's Glibc module does not import: epoll, timerfd, inotify, pidfd, peer credentials.
// No feature macro here: the system's types must look as they do in Swift's own Glibc module.
#ifdef __swift__
// What both have is that module's, whichever of the two a compilation meets first: timespec, for one.
#pragma clang module import SwiftGlibc
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// The numbers SO_PEERCRED gives at accept.
struct chime_peer {
  int32_t pid;
  uint32_t uid;
  uint32_t gid;
};

/// pidfd_open(2): a descriptor that turns readable when the process ends. -1 with errno on failure.
int chime_pidfd_open(pid_t pid);
/// waitid(2) on a pidfd. Returns 0 and fills `code` (CLD_EXITED …) and `status`, or -1 with errno.
int chime_pidfd_wait(int pidfd, int *code, int *status);
/// SO_PEERCRED of a connected Unix socket. 0, or -1 with errno.
int chime_peer_credentials(int fd, struct chime_peer *peer);
/// Has malloc keep one heap for all threads and give large blocks back at once (mallopt(3)). By default each thread that
/// ever waited for another has a heap of its own, and none of them shrinks. Before the first thread is made.
void chime_malloc_keep_small(void);
/// Has the kernel take the program's own code out of the process (MADV_DONTNEED, madvise(2)); what is still used comes
/// back page by page from the page cache. Most of what a start needs is not needed again for months.
void chime_forget_code(void);
/// accept4(2) without the peer's address: the socket is non-blocking and closed on exec. -1 with errno on failure.
int chime_accept(int listener);
/// A timerfd on CLOCK_REALTIME, armed for the far future with TFD_TIMER_CANCEL_ON_SET: readable (ECANCELED) when the
/// clock is set. Call again with the descriptor to re-arm it. Returns the descriptor, or -1 with errno.
int chime_clock_watch(int fd);
/// A timerfd on CLOCK_REALTIME_ALARM, which wakes the machine from its sleep (timerfd_create(2)). -1 with errno: EPERM
/// without CAP_WAKE_ALARM.
int chime_wake_timer(void);
/// Arms it for a time of the wall clock, in milliseconds since the epoch, whichever way that is set; 0 disarms it. 0, or -1
/// with errno.
int chime_wake_timer_set(int fd, int64_t milliseconds);
/// A pipe whose ends are closed on exec and do not block: read end first. 0, or -1 with errno.
int chime_pipe(int ends[2]);
/// A pseudo-terminal that passes bytes unchanged: the end to read from first (closed on exec, does not block), then the
/// terminal to give away. It becomes nobody's controlling terminal. 0, or -1 with errno.
int chime_pty(int ends[2]);
/// The wall clock, in milliseconds since the epoch.
int64_t chime_wall_clock(void);
/// What the kernel says of the clock (adjtimex(2), asked only): 1 when it is synchronised, 0 when not, -1 with errno. Fills
/// the bound of its error in microseconds.
int chime_clock_state(int64_t *max_error);
/// Names the calling thread, for ps and debuggers: at most 15 bytes.
void chime_name_thread(const char *name);
/// What a program may use at most (setrlimit(2)); -1 leaves what the daemon has. What the daemon itself may not have is
/// not given.
struct chime_limits {
  /// Bytes of address space (RLIMIT_AS).
  int64_t memory;
  /// Seconds of processor time (RLIMIT_CPU).
  int64_t processor;
  /// Open descriptors (RLIMIT_NOFILE).
  int64_t files;
  /// Processes and threads of the user's, all of them counted (RLIMIT_NPROC).
  int64_t processes;
  /// Bytes of a file that it writes (RLIMIT_FSIZE).
  int64_t file_size;
  /// Bytes of a core dump (RLIMIT_CORE).
  int64_t core;
  /// Added to the daemon's nice value; 0 leaves it.
  int nice;
};

/// A program that is to be run.
struct chime_program {
  const char *path;
  char *const *arguments;
  char *const *environment;
  /// Where it starts; NULL for where the daemon is.
  const char *folder;
  /// Its standard input; -1 for /dev/null.
  int input;
  int output;
  int errors;
  /// What it is sent when the thread that started it ends, with its process for one (PR_SET_PDEATHSIG, prctl(2)); 0 for
  /// nothing.
  int death_signal;
  struct chime_limits limits;
};

/// What could not be done for a program before it ran.
enum chime_spawn_step { CHIME_SPAWN_EXECUTE, CHIME_SPAWN_FOLDER, CHIME_SPAWN_LIMITS };

/// Runs a program in a process group of its own, within its limits, with default signal handlers, no signal blocked, its
/// three descriptors (made to block) and no other. Fills `pid` and `pidfd`, which turns readable when the process ends.
/// Returns 0, or an error number, and then there is no process and `step` says what failed.
int chime_spawn(const struct chime_program *program, pid_t *pid, int *pidfd, enum chime_spawn_step *step);
