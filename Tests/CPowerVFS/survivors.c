// Computes what a disk holds after a power cut.
#include "log.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct image {
  unsigned char *bytes;
  size_t size, room;
  long *pending; // changes since the last synchronization
  long pending_count, pending_room;
  bool is_named; // on the disk
} image;

typedef struct chance {
  uint64_t state;
} chance;

// SplitMix64, like the generators in Swift.
static uint64_t next(chance *chance) {
  uint64_t mixed = chance->state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

static void resize(image *image, size_t size) {
  if (size > image->room) {
    image->room = size + size / 2 + 4096;
    image->bytes = realloc(image->bytes, image->room);
  }
  if (size > image->size) memset(image->bytes + image->size, 0, size - image->size);
  image->size = size;
}

static void put(image *image, const unsigned char *data, size_t offset, size_t length) {
  if (offset + length > image->size) resize(image, offset + length);
  memcpy(image->bytes + offset, data, length);
}

static void settle(image *image, const change *log, power_fate fate, chance *chance, size_t sector) {
  for (long i = 0; i < image->pending_count; i++) {
    const change *entry = &log[image->pending[i]];
    if (fate == power_nothing) continue;
    if (entry->kind == change_truncate) {
      if (fate == power_all || next(chance) & 1) resize(image, (size_t)entry->offset);
      continue;
    }
    size_t offset = (size_t)entry->offset;
    for (size_t done = 0; done < entry->length;) {
      size_t part = sector - (offset + done) % sector;
      if (part > entry->length - done) part = entry->length - done;
      if (fate == power_all || next(chance) & 1) {
        put(image, entry->data + done, offset + done, part);
        if (fate == power_garbled && next(chance) % 4 == 0) {
          for (size_t byte = 0; byte < part; byte++) image->bytes[offset + done + byte] = (unsigned char)next(chance);
        }
      }
      done += part;
    }
  }
  image->pending_count = 0;
}

static void wait_for_sync(image *image, long change) {
  if (image->pending_count == image->pending_room) {
    image->pending_room = image->pending_room ? 2 * image->pending_room : 16;
    image->pending = realloc(image->pending, sizeof(long) * (size_t)image->pending_room);
  }
  image->pending[image->pending_count++] = change;
}

static uint64_t mix(uint64_t hash, const unsigned char *bytes, size_t size) {
  for (; size >= 8; bytes += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x100000001B3u;
    hash ^= hash >> 29;
  }
  for (; size > 0; bytes++, size--) hash = (hash ^ *bytes) * 0x100000001B3u;
  return hash;
}

static bool write_file(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *stream = fopen(path, "wb");
  if (!stream) return false;
  bool done = fwrite(bytes, 1, size, stream) == size;
  return fclose(stream) == 0 && done;
}

static bool empty(const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) return false;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  closedir(entries);
  return true;
}

// Replays the log up to the cut. Name changes wait for the folder's synchronization as bytes wait for their file's.
static void replay(power_disk *disk, long cut, power_fate fate, chance *chance, size_t sector, image *images) {
  image folder = {0};
  for (long i = 0; i < cut && i < disk->count; i++) {
    const change *entry = &disk->log[i];
    switch (entry->kind) {
    case change_create:
    case change_delete: wait_for_sync(&folder, i); break;
    case change_write:
    case change_truncate: wait_for_sync(&images[entry->file], i); break;
    case change_sync: settle(&images[entry->file], disk->log, power_all, chance, sector); break;
    // The kernel treats data that it failed to write as written (https://lwn.net/Articles/752063/).
    case change_sync_failed: settle(&images[entry->file], disk->log, fate, chance, sector); break;
    case change_sync_folder:
      for (long j = 0; j < folder.pending_count; j++) {
        const change *name = &disk->log[folder.pending[j]];
        images[name->file].is_named = name->kind == change_create;
      }
      folder.pending_count = 0;
      break;
    }
  }
  for (long j = 0; j < folder.pending_count; j++) {
    const change *name = &disk->log[folder.pending[j]];
    if (fate == power_all || (fate != power_nothing && next(chance) & 1)) {
      images[name->file].is_named = name->kind == change_create;
    }
  }
  free(folder.pending);
  for (int i = 0; i < disk->file_count; i++) settle(&images[i], disk->log, fate, chance, sector);
}

uint64_t power_disk_survivors(power_disk *disk, long cut, power_fate fate, uint64_t seed, const char *folder) {
  chance chance = {seed};
  size_t sector = next(&chance) & 1 ? 512 : 4096;
  pthread_mutex_lock(&disk->mutex);
  image *images = calloc((size_t)disk->file_count + 1, sizeof(image));
  for (int i = 0; i < disk->file_count; i++) {
    images[i].is_named = disk->files[i].was_there;
    if (disk->files[i].base_size > 0) put(&images[i], disk->files[i].base, 0, disk->files[i].base_size);
  }
  replay(disk, cut, fate, &chance, sector, images);
  bool done = empty(folder);
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < disk->file_count; i++) {
    if (images[i].is_named) {
      const char *name = disk->files[i].name;
      hash = mix(mix(hash, (const unsigned char *)name, strlen(name)), images[i].bytes, images[i].size);
      hash = mix(hash, (const unsigned char *)&images[i].size, sizeof images[i].size);
      done = write_file(folder, name, images[i].bytes, images[i].size) && done;
      if (fate != power_nothing && strlen(name) > 4 && strcmp(name + strlen(name) - 4, "-wal") == 0) {
        char index[128];
        unsigned char rubbish[64];
        for (size_t byte = 0; byte < sizeof rubbish; byte++) rubbish[byte] = (unsigned char)next(&chance);
        snprintf(index, sizeof index, "%.*s-shm", (int)strlen(name) - 4, name);
        done = write_file(folder, index, rubbish, sizeof rubbish) && done;
      }
    }
    free(images[i].bytes);
    free(images[i].pending);
  }
  free(images);
  pthread_mutex_unlock(&disk->mutex);
  return done ? hash | 1 : 0;
}
