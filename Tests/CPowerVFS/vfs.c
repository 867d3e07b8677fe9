// The function table for SQLite (sqlite.org/c3ref/vfs.html, sqlite.org/c3ref/io_methods.html). Everything except
// synchronization is passed on to the system's VFS.
#include "log.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct handle {
  sqlite3_file base;
  power_disk *disk;
  int file;          // -1: not logged
  bool syncs_folder; // at its first synchronization, as the system's VFS does for a new journal
  sqlite3_file *real;
} handle;

// The system's VFS, which stores its settings in itself and must be called with itself.
static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs) { return ((power_disk *)vfs->pAppData)->system; }
static handle *of(sqlite3_file *file) { return (handle *)file; }
static sqlite3_file *real(sqlite3_file *file) { return of(file)->real; }

static int close_file(sqlite3_file *file) {
  int code = real(file)->pMethods->xClose(real(file));
  sqlite3_free(real(file));
  return code;
}

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  // A full disk can still be read.
  if (of(file)->disk->fault == power_fault_io && power_trip(of(file)->disk)) return SQLITE_IOERR_READ;
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int write_part(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int code = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
  if (code == SQLITE_OK) power_log(of(file)->disk, change_write, of(file)->file, offset, (size_t)count, bytes);
  return code;
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  switch (power_trip(of(file)->disk)) {
  case power_fault_none: return write_part(file, bytes, count, offset);
  case power_fault_io: return SQLITE_IOERR_WRITE;
  case power_fault_full: write_part(file, bytes, count / 2, offset); return SQLITE_FULL;
  }
  return SQLITE_INTERNAL;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  if (of(file)->disk->fault == power_fault_io && power_trip(of(file)->disk)) return SQLITE_IOERR_TRUNCATE;
  int code = real(file)->pMethods->xTruncate(real(file), size);
  if (code == SQLITE_OK) power_log(of(file)->disk, change_truncate, of(file)->file, size, 0, NULL);
  return code;
}

static int sync_file(sqlite3_file *file, int flags) {
  (void)flags;
  handle *handle = of(file);
  if (handle->disk->fault == power_fault_io && power_trip(handle->disk)) {
    power_log(handle->disk, change_sync_failed, handle->file, 0, 0, NULL);
    return SQLITE_IOERR_FSYNC;
  }
  power_log(handle->disk, change_sync, handle->file, 0, 0, NULL);
  if (handle->syncs_folder) power_log(handle->disk, change_sync_folder, -1, 0, 0, NULL);
  handle->syncs_folder = false;
  return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  if (of(file)->disk->fault == power_fault_io && power_trip(of(file)->disk)) return SQLITE_IOERR_FSTAT;
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int is_reserved(sqlite3_file *file, int *out) { return real(file)->pMethods->xCheckReservedLock(real(file), out); }
static int control(sqlite3_file *file, int what, void *value) {
  return real(file)->pMethods->xFileControl(real(file), what, value);
}
static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int characteristics(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int shm_unmap(sqlite3_file *file, int delete) { return real(file)->pMethods->xShmUnmap(real(file), delete); }

// Version 2: with shared memory, but without memory-mapped files, whose writes could not be logged.
static const sqlite3_io_methods methods = {
    .iVersion = 2, .xClose = close_file, .xRead = read_file, .xWrite = write_file, .xTruncate = truncate_file,
    .xSync = sync_file, .xFileSize = file_size, .xLock = lock, .xUnlock = unlock, .xCheckReservedLock = is_reserved,
    .xFileControl = control, .xSectorSize = sector_size, .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map, .xShmLock = shm_lock, .xShmBarrier = shm_barrier, .xShmUnmap = shm_unmap};

static int open_file(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *out) {
  handle *handle = of(file);
  memset(handle, 0, sizeof *handle);
  handle->disk = vfs->pAppData;
  handle->file = -1;
  handle->real = sqlite3_malloc(real_vfs(vfs)->szOsFile);
  if (!handle->real) return SQLITE_NOMEM;
  memset(handle->real, 0, (size_t)real_vfs(vfs)->szOsFile);
  int code = real_vfs(vfs)->xOpen(real_vfs(vfs), path, handle->real, flags, out);
  if (code != SQLITE_OK) {
    if (handle->real->pMethods) handle->real->pMethods->xClose(handle->real);
    sqlite3_free(handle->real);
    return code;
  }
  if (path) handle->file = power_file_named(handle->disk, path, true);
  int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  handle->syncs_folder = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
  handle->base.pMethods = &methods;
  return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
  power_disk *disk = vfs->pAppData;
  if (disk->fault == power_fault_io && power_trip(disk)) return SQLITE_IOERR_DELETE;
  int code = real_vfs(vfs)->xDelete(real_vfs(vfs), path, 0);
  if (code != SQLITE_OK) return code;
  power_log(disk, change_delete, power_file_named(disk, path, false), 0, 0, NULL);
  if (syncs_folder) power_log(disk, change_sync_folder, -1, 0, 0, NULL);
  return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *path, int flags, int *out) {
  return real_vfs(vfs)->xAccess(real_vfs(vfs), path, flags, out);
}

static int full_name(sqlite3_vfs *vfs, const char *path, int size, char *out) {
  return real_vfs(vfs)->xFullPathname(real_vfs(vfs), path, size, out);
}

power_disk *power_disk_make(const char *name) {
  sqlite3_vfs *system = sqlite3_vfs_find("unix");
  power_disk *disk = calloc(1, sizeof *disk);
  sqlite3_vfs *vfs = malloc(sizeof *vfs);
  if (!system || !disk || !vfs) return NULL;
  pthread_mutex_init(&disk->mutex, NULL);
  snprintf(disk->name, sizeof disk->name, "%s", name);
  disk->system = system;
  disk->vfs = vfs;
  // Everything not related to files (time, randomness, libraries) is the system's.
  *vfs = *system;
  vfs->pNext = NULL;
  vfs->szOsFile = sizeof(handle);
  vfs->zName = disk->name;
  vfs->pAppData = disk;
  vfs->xOpen = open_file;
  vfs->xDelete = delete_file;
  vfs->xAccess = access_file;
  vfs->xFullPathname = full_name;
  if (sqlite3_vfs_register(vfs, 0) == SQLITE_OK) return disk;
  power_disk_free(disk);
  return NULL;
}

void power_disk_free(power_disk *disk) {
  sqlite3_vfs_unregister(disk->vfs);
  free(disk->vfs);
  power_disk_free_log(disk);
  pthread_mutex_destroy(&disk->mutex);
  free(disk);
}
