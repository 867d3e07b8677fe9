#define _GNU_SOURCE
#include "CLinux.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

// posix_spawn(3) cannot set resource limits, and limits set from outside would come after the program has started.
// vfork(2) does not copy the daemon's memory, as fork(2) would. Until the program runs, both processes share memory, so
// the child only makes system calls, writes only `failure`, and never returns from its functions.

struct failure {
  volatile int number;
  volatile enum chime_spawn_step step;
};

static int limit(int resource, int64_t value) {
  if (value < 0) return 0;
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return -1;
  rlim_t wanted = (rlim_t)value;
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted) wanted = now.rlim_max;
  struct rlimit limit = {.rlim_cur = wanted, .rlim_max = wanted};
  return setrlimit(resource, &limit);
}

/// Sets the processor limit: SIGXCPU first, which a program may handle, and SIGKILL two seconds later.
static int limit_processor(int64_t seconds) {
  if (seconds < 0) return 0;
  struct rlimit now;
  if (getrlimit(RLIMIT_CPU, &now) != 0) return -1;
  struct rlimit limit = {.rlim_cur = (rlim_t)seconds, .rlim_max = (rlim_t)seconds + 2};
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < limit.rlim_max) limit.rlim_max = now.rlim_max;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_CPU, &limit);
}

static int set_limits(const struct chime_limits *limits) {
  if (limits->nice != 0) {
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (now == -1 && errno != 0) return -1;
    if (setpriority(PRIO_PROCESS, 0, now + limits->nice) != 0) return -1;
  }
  if (limit(RLIMIT_CORE, limits->core) != 0) return -1;
  if (limit(RLIMIT_FSIZE, limits->file_size) != 0) return -1;
  if (limit(RLIMIT_NOFILE, limits->files) != 0) return -1;
  if (limit(RLIMIT_NPROC, limits->processes) != 0) return -1;
  if (limit_processor(limits->processor) != 0) return -1;
  return limit(RLIMIT_AS, limits->memory);
}

/// Installs the child's three descriptors, whatever their numbers, and closes all others.
static int set_descriptors(int input, int output, int errors) {
  if (input < 0) input = open("/dev/null", O_RDONLY);
  input = fcntl(input, F_DUPFD, 3);
  output = fcntl(output, F_DUPFD, 3);
  errors = fcntl(errors, F_DUPFD, 3);
  if (input < 0 || output < 0 || errors < 0) return -1;
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) return -1;
  return close_range(3, ~0U, 0);
}

/// Sets the death signal. Exits if the daemon died before the kernel knew the signal.
static int end_with(int signal, pid_t parent) {
  if (signal == 0) return 0;
  if (prctl(PR_SET_PDEATHSIG, signal) != 0) return -1;
  if (getppid() != parent) _exit(127);
  return 0;
}

/// Turns the child into the program. Returns only on failure.
static void __attribute__((noinline)) become(
    const struct chime_program *program, pid_t parent, struct failure *failure) {
  sigset_t none;
  struct sigaction usual = {.sa_handler = SIG_DFL};
  failure->step = CHIME_SPAWN_EXECUTE;
  setpgid(0, 0);
  for (int number = 1; number < NSIG; number++) sigaction(number, &usual, NULL);
  if (end_with(program->death_signal, parent) == 0 &&
      set_descriptors(program->input, program->output, program->errors) == 0) {
    failure->step = CHIME_SPAWN_FOLDER;
    if (program->folder == NULL || chdir(program->folder) == 0) {
      failure->step = CHIME_SPAWN_LIMITS;
      if (set_limits(&program->limits) == 0) {
        failure->step = CHIME_SPAWN_EXECUTE;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(program->path, program->arguments, program->environment);
      }
    }
  }
  failure->number = errno;
}

int chime_spawn(const struct chime_program *program, pid_t *pid, int *pidfd, enum chime_spawn_step *step) {
  const int descriptors[] = {program->input, program->output, program->errors};
  for (int index = 0; index < 3; index++) {
    int flags = descriptors[index] < 0 ? -1 : fcntl(descriptors[index], F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK)) fcntl(descriptors[index], F_SETFL, flags & ~O_NONBLOCK);
  }
  // No signal handler of the daemon may run in the child while it shares the daemon's memory.
  sigset_t all, before;
  sigfillset(&all);
  struct failure failure = {0, CHIME_SPAWN_EXECUTE};
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  pid_t child = vfork();
  if (child == 0) {
    become(program, parent, &failure);
    _exit(127);
  }
  int number = child < 0 ? errno : failure.number;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *step = failure.step;
  if (child > 0 && number == 0) {
    *pidfd = chime_pidfd_open(child);
    if (*pidfd >= 0) {
      *pid = child;
      return 0;
    }
    // A child that cannot be watched is killed.
    number = errno;
    kill(-child, SIGKILL);
  }
  if (child > 0) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  return number;
}
