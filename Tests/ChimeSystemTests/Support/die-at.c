// Kills the program into which it is loaded (LD_PRELOAD) at a chosen system call, more precisely than any power cut.
//
//   CHIME_DIE_AT="KIND N"    SIGKILL before the N-th call of a kind (from 1); with "KIND N after" right after it. Kinds:
//                            sync (fsync, fdatasync), write (pwrite, write), send (send, sendmsg, writev),
//                            name (rename, unlink, mkdir, ftruncate), any
//   CHIME_TRACE=FILE         logs every synchronization, rename, removal and creation, one line each
//
// The variables are removed, so that programs started by this one are not affected.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t self;
static char kind[16];
static long limit;
static int after;
static int trace = -1;
static atomic_long count;

__attribute__((constructor)) static void begin(void) {
  self = getpid();
  const char *when = getenv("CHIME_DIE_AT"), *file = getenv("CHIME_TRACE");
  char tail[16] = "";
  if (when && sscanf(when, "%15s %ld %15s", kind, &limit, tail) >= 2) after = strcmp(tail, "after") == 0;
  if (file) trace = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  unsetenv("CHIME_DIE_AT");
  unsetenv("CHIME_TRACE");
  unsetenv("LD_PRELOAD");
}

static long number(const char *what) {
  if (limit == 0 || (strcmp(kind, what) != 0 && strcmp(kind, "any") != 0)) return 0;
  return atomic_fetch_add(&count, 1) + 1;
}

static void die(long number, int now) {
  if (number != 0 && number == limit && after == now) {
    kill(self, SIGKILL);
    for (;;) pause();
  }
}

static void note(const char *format, ...) {
  if (trace < 0) return;
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (length > 0 && (size_t)length < sizeof line) (void)real(trace, line, (size_t)length);
}

static void note_file(const char *what, int file) {
  if (trace < 0) return;
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length > 0) note("%s %.*s\n", what, (int)length, path);
}

#define CALL(what, result, name, parameters, values) \
  result name parameters {                           \
    static result(*real) parameters;                 \
    if (!real) real = dlsym(RTLD_NEXT, #name);       \
    long at = number(what);                          \
    die(at, 0);                                      \
    result out = real values;                        \
    die(at, 1);                                      \
    TRACE;                                           \
    return out;                                      \
  }

#define TRACE note_file("fsync", file)
CALL("sync", int, fsync, (int file), (file))
CALL("sync", int, fdatasync, (int file), (file))
#undef TRACE
#define TRACE (void)0
CALL("write", ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at_), (file, bytes, size, at_))
CALL("write", ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at_), (file, bytes, size, at_))
CALL("write", ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
CALL("send", ssize_t, send, (int file, const void *bytes, size_t size, int flags), (file, bytes, size, flags))
CALL("send", ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
CALL("send", ssize_t, writev, (int file, const struct iovec *parts, int count_), (file, parts, count_))
CALL("name", int, ftruncate, (int file, off_t size), (file, size))
CALL("name", int, ftruncate64, (int file, off64_t size), (file, size))
#undef TRACE
#define TRACE note("rename %s %s\n", from, to)
CALL("name", int, rename, (const char *from, const char *to), (from, to))
#undef TRACE
#define TRACE note("unlink %s\n", path)
CALL("name", int, unlink, (const char *path), (path))
#undef TRACE
#define TRACE note("mkdir %s %d\n", path, out)
CALL("name", int, mkdir, (const char *path, mode_t mode), (path, mode))
