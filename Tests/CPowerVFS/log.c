#define _GNU_SOURCE
#include "log.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), other = strlen(end);
  return length >= other && strcmp(text + length - other, end) == 0;
}

// The index of the log is memory, and the content of the lock file is not durable.
static bool is_kept(const char *name) { return name[0] != '.' && !ends_with(name, "-shm") && !ends_with(name, ".lock"); }

static power_file *add_file(power_disk *disk, const char *name) {
  if (disk->file_count == disk->file_room) {
    disk->file_room = disk->file_room ? 2 * disk->file_room : 8;
    disk->files = realloc(disk->files, sizeof(power_file) * (size_t)disk->file_room);
  }
  power_file *file = &disk->files[disk->file_count++];
  memset(file, 0, sizeof *file);
  snprintf(file->name, sizeof file->name, "%s", name);
  file->is_named = true;
  return file;
}

int power_file_named(power_disk *disk, const char *path, bool make) {
  const char *name = last_part(path);
  int found = -1;
  pthread_mutex_lock(&disk->mutex);
  for (int i = 0; i < disk->file_count && found < 0; i++) {
    if (disk->files[i].is_named && strcmp(disk->files[i].name, name) == 0) found = i;
  }
  bool is_new = found < 0 && make;
  if (is_new) {
    add_file(disk, name);
    found = disk->file_count - 1;
  }
  pthread_mutex_unlock(&disk->mutex);
  if (is_new) power_log(disk, change_create, found, 0, 0, NULL);
  return found;
}

void power_log(power_disk *disk, change_kind kind, int file, int64_t offset, size_t length, const void *data) {
  if (file < 0 && kind != change_sync_folder) return;
  pthread_mutex_lock(&disk->mutex);
  if (disk->count == disk->room) {
    disk->room = disk->room ? 2 * disk->room : 256;
    disk->log = realloc(disk->log, sizeof(change) * (size_t)disk->room);
  }
  change *entry = &disk->log[disk->count++];
  *entry = (change){kind, file, offset, length, NULL};
  if (data) {
    entry->data = malloc(length);
    memcpy(entry->data, data, length);
  }
  if (kind == change_delete) disk->files[file].is_named = false;
  pthread_mutex_unlock(&disk->mutex);
}

static void forget(power_disk *disk) {
  for (long i = 0; i < disk->count; i++) free(disk->log[i].data);
  for (int i = 0; i < disk->file_count; i++) free(disk->files[i].base);
  disk->count = disk->file_count = 0;
}

void power_disk_free_log(power_disk *disk) {
  forget(disk);
  free(disk->log);
  free(disk->files);
}

bool power_disk_begin(power_disk *disk, const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) return false;
  pthread_mutex_lock(&disk->mutex);
  forget(disk);
  bool done = true;
  for (struct dirent *entry; (entry = readdir(entries));) {
    if (!is_kept(entry->d_name)) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    struct stat status;
    FILE *stream = fopen(path, "rb");
    if (!stream || fstat(fileno(stream), &status) != 0) {
      done = false;
    } else {
      power_file *file = add_file(disk, entry->d_name);
      file->was_there = true;
      file->base_size = (size_t)status.st_size;
      file->base = malloc(file->base_size + 1);
      done = fread(file->base, 1, file->base_size, stream) == file->base_size && done;
    }
    if (stream) fclose(stream);
  }
  pthread_mutex_unlock(&disk->mutex);
  closedir(entries);
  return done;
}

long power_disk_changes(power_disk *disk) {
  pthread_mutex_lock(&disk->mutex);
  long count = disk->count;
  pthread_mutex_unlock(&disk->mutex);
  return count;
}

void power_disk_describe(power_disk *disk, long number, char *text, int size) {
  static const char *const words[] = {
      "create", "write", "truncate", "fsync", "failed fsync", "delete", "fsync of the folder"};
  text[0] = 0;
  pthread_mutex_lock(&disk->mutex);
  if (number >= 0 && number < disk->count) {
    change *entry = &disk->log[number];
    const char *name = entry->file >= 0 ? disk->files[entry->file].name : "";
    snprintf(text, (size_t)size, "%ld %s %s", number, words[entry->kind], name);
    if (entry->kind == change_write || entry->kind == change_truncate) {
      size_t used = strlen(text);
      snprintf(text + used, (size_t)size - used, " at %lld, %zu bytes", (long long)entry->offset, entry->length);
    }
  }
  pthread_mutex_unlock(&disk->mutex);
}

void power_disk_fail(power_disk *disk, power_fault fault, long after, long count) {
  pthread_mutex_lock(&disk->mutex);
  disk->fault = fault;
  disk->fault_after = after;
  disk->fault_count = count;
  disk->failed = 0;
  pthread_mutex_unlock(&disk->mutex);
}

long power_disk_failed(power_disk *disk) {
  pthread_mutex_lock(&disk->mutex);
  long failed = disk->failed;
  pthread_mutex_unlock(&disk->mutex);
  return failed;
}

power_fault power_trip(power_disk *disk) {
  power_fault fault = power_fault_none;
  pthread_mutex_lock(&disk->mutex);
  if (disk->fault != power_fault_none && disk->fault_count > 0 && disk->fault_after-- <= 0) {
    disk->fault_count--;
    disk->failed++;
    fault = disk->fault;
  }
  pthread_mutex_unlock(&disk->mutex);
  return fault;
}
