// Makes the program into which it is loaded (LD_PRELOAD) see an unreadable disk: read(2) and pread(2) of a database or
// its log fail with EIO.
//
//   CHIME_FAILING_READS=FILE   four bytes, the number of reads that will still fail, as a native int; -1: all. Writing to
//                              it takes effect at once, and reading it gives the remaining number.
//
// The variables are removed, so that programs started by this one are not affected.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic int *left;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CHIME_FAILING_READS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *memory = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) left = memory;
    close(file);
  }
  unsetenv("CHIME_FAILING_READS");
  unsetenv("LD_PRELOAD");
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), count = strlen(end);
  return length >= count && strcmp(text + length - count, end) == 0;
}

static int fails(int file) {
  if (!left || *left == 0) return 0;
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (!ends_with(path, "/chime.db") && !ends_with(path, "/chime.db-wal")) return 0;
  int now = *left;
  while (now > 0 && !atomic_compare_exchange_weak(left, &now, now - 1)) {}
  if (now == 0) return 0;
  errno = EIO;
  return 1;
}

ssize_t read(int file, void *bytes, size_t count) {
  static ssize_t (*real)(int, void *, size_t);
  if (!real) real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  return fails(file) ? -1 : real(file, bytes, count);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  static ssize_t (*real)(int, void *, size_t, off_t);
  if (!real) real = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  return fails(file) ? -1 : real(file, bytes, count, offset);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
  static ssize_t (*real)(int, void *, size_t, off64_t);
  if (!real) real = (ssize_t (*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  return fails(file) ? -1 : real(file, bytes, count, offset);
}
