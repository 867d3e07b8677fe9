#pragma once
#include "CPowerVFS.h"
#include <pthread.h>
#include <stddef.h>

typedef enum change_kind {
  change_create, change_write, change_truncate, change_sync, change_sync_failed, change_delete, change_sync_folder
} change_kind;

typedef struct change {
  change_kind kind;
  int file;
  int64_t offset; // of a write; the new size of a truncation
  size_t length;
  unsigned char *data;
} change;

// A file is content with a name. A name that is deleted and created again refers to another file.
typedef struct power_file {
  char name[96];
  unsigned char *base; // content on the disk when the log began
  size_t base_size;
  bool was_there; // whether it existed when the log began
  bool is_named;  // whether it exists now
} power_file;

struct power_disk {
  pthread_mutex_t mutex;
  char name[64];
  struct sqlite3_vfs *vfs, *system;
  change *log;
  long count, room;
  power_file *files;
  int file_count, file_room;
  // Read without the mutex, to see whether there is any.
  _Atomic(power_fault) fault;
  long fault_after, fault_count, failed;
};

// Each of these functions locks the mutex.
int power_file_named(power_disk *disk, const char *path, bool make);
void power_log(power_disk *disk, change_kind kind, int file, int64_t offset, size_t length, const void *data);
power_fault power_trip(power_disk *disk);
void power_disk_free_log(power_disk *disk);
