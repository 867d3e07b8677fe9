#pragma once
// Linux interfaces that Swift's Glibc module does not import: epoll, timerfd, inotify, pidfd, peer credentials. This
// header sets no feature macros, so that system types look as they do in Swift's Glibc module.
#ifdef __swift__
// Import SwiftGlibc first, so that types that both define, such as timespec, always come from that module.
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

/// The peer's ids that SO_PEERCRED returns at accept.
struct chime_peer {
  int32_t pid;
  uint32_t uid;
  uint32_t gid;
};

/// Opens a descriptor that becomes readable when the process ends (pidfd_open(2)). -1 with errno on failure.
int chime_pidfd_open(pid_t pid);
/// Waits on a pidfd by waitid(2). Returns 0 and fills `code` (CLD_EXITED …) and `status`, or -1 with errno.
int chime_pidfd_wait(int pidfd, int *code, int *status);
/// Reads the SO_PEERCRED of a connected Unix socket. Returns 0, or -1 with errno.
int chime_peer_credentials(int fd, struct chime_peer *peer);
/// Configures malloc to use one heap for all threads and to return large blocks at once (mallopt(3)). By default each
/// contending thread gets a heap of its own, and none of them shrinks. Call before the first thread starts.
void chime_malloc_keep_small(void);
/// Removes the program's code pages from memory (MADV_DONTNEED, madvise(2)). Pages still in use return from the page
/// cache. Most code of the start is not needed again for months.
void chime_forget_code(void);
/// Accepts a connection by accept4(2). The socket is non-blocking and close-on-exec. -1 with errno on failure.
int chime_accept(int listener);
/// Creates a timerfd that becomes readable (ECANCELED) when CLOCK_REALTIME is set: it is armed for the far future with
/// TFD_TIMER_CANCEL_ON_SET. Pass the descriptor to re-arm it. Returns the descriptor, or -1 with errno.
int chime_clock_watch(int fd);
/// Creates a timerfd on CLOCK_REALTIME_ALARM, which wakes the machine from sleep (timerfd_create(2)). -1 with errno:
/// EPERM without CAP_WAKE_ALARM.
int chime_wake_timer(void);
/// Arms the timer for an absolute wall-clock time in milliseconds since the epoch; 0 disarms it. The timer follows
/// clock changes. Returns 0, or -1 with errno.
int chime_wake_timer_set(int fd, int64_t milliseconds);
/// Creates a non-blocking, close-on-exec pipe, read end first. Returns 0, or -1 with errno.
int chime_pipe(int ends[2]);
/// Creates a pseudo-terminal in raw mode: first the non-blocking, close-on-exec end to read from, then the terminal to
/// pass on. It becomes no controlling terminal. Returns 0, or -1 with errno.
int chime_pty(int ends[2]);
/// Returns the wall clock in milliseconds since the epoch.
int64_t chime_wall_clock(void);
/// Reads the kernel's clock state (adjtimex(2)): 1 if it is synchronized, 0 if not, -1 with errno. Sets `max_error` in
/// microseconds.
int chime_clock_state(int64_t *max_error);
/// Names the calling thread for ps and debuggers, with at most 15 bytes.
void chime_name_thread(const char *name);
/// Resource limits of a program (setrlimit(2)); -1 keeps the daemon's. The daemon's own hard limits cap them.
struct chime_limits {
  /// Address space in bytes (RLIMIT_AS).
  int64_t memory;
  /// Processor time in seconds (RLIMIT_CPU).
  int64_t processor;
  /// Open descriptors (RLIMIT_NOFILE).
  int64_t files;
  /// Processes and threads of the user in total (RLIMIT_NPROC).
  int64_t processes;
  /// Size of written files in bytes (RLIMIT_FSIZE).
  int64_t file_size;
  /// Size of core dumps in bytes (RLIMIT_CORE).
  int64_t core;
  /// Increment of the daemon's nice value.
  int nice;
};

/// A program to run.
struct chime_program {
  const char *path;
  char *const *arguments;
  char *const *environment;
  /// Working directory; NULL for the daemon's.
  const char *folder;
  /// Descriptor for standard input; -1 for /dev/null.
  int input;
  int output;
  int errors;
  /// Signal for the program when the starting thread or its process ends (PR_SET_PDEATHSIG, prctl(2)); 0 for none.
  int death_signal;
  struct chime_limits limits;
};

/// The step that failed before the program ran.
enum chime_spawn_step { CHIME_SPAWN_EXECUTE, CHIME_SPAWN_FOLDER, CHIME_SPAWN_LIMITS };

/// Runs a program in a new process group with its limits, default signal handlers, no blocked signals, and only its
/// three descriptors, which are made blocking. Fills `pid` and `pidfd`, which becomes readable when the process ends.
/// Returns 0, or an error number; then no process exists and `step` says what failed.
int chime_spawn(const struct chime_program *program, pid_t *pid, int *pidfd, enum chime_spawn_step *step);
