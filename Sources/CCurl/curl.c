#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define FUNCTIONS(each)                                                                                   \
  each(global_init) each(free) each(easy_init) each(easy_cleanup) each(easy_strerror) each(easy_setopt)   \
  each(easy_getinfo) each(multi_init) each(multi_cleanup) each(multi_add_handle) each(multi_remove_handle) \
  each(multi_perform) each(multi_poll) each(multi_info_read) each(slist_append) each(slist_free_all)      \
  each(url) each(url_cleanup) each(url_set) each(url_get)

// Typed by the header's own declarations, so that what is called here is what libcurl declares.
#define MEMBER(name) __typeof__(curl_##name) *name;
struct functions {
  FUNCTIONS(MEMBER)
};

// Written once, under the lock. Read without it, by threads that have had a 1 from chime_curl_load, which took the lock.
static struct functions curl;
static void *loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void complain(char *why, size_t size) {
  const char *reason = dlerror();
  snprintf(why, size, "%s", reason != NULL ? reason : "the dynamic linker does not say why");
}

static int resolve(void *library, struct functions *found) {
#define RESOLVE(name) \
  if ((found->name = (__typeof__(found->name))dlsym(library, "curl_" #name)) == NULL) return 0;
  FUNCTIONS(RESOLVE)
  return 1;
}

int chime_curl_load(const char *library, char *why, size_t size) {
  struct functions found;
  pthread_mutex_lock(&lock);
  // Local: its names, and those of the libraries it brings, are seen by nobody else in the process.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int done = handle != NULL && resolve(handle, &found);
  if (!done) complain(why, size);
  if (done && loaded == NULL) {
    curl = found;
    loaded = handle;
  } else if (handle != NULL) {
    dlclose(handle); // gives back a reference; what is loaded keeps its first one
  }
  pthread_mutex_unlock(&lock);
  return done;
}

CURLcode chime_curl_global_init(long flags) { return curl.global_init(flags); }
void chime_curl_free(void *memory) { curl.free(memory); }

CURL *chime_curl_easy_init(void) { return curl.easy_init(); }
void chime_curl_easy_cleanup(CURL *handle) { curl.easy_cleanup(handle); }
const char *chime_curl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

CURLcode chime_curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl.easy_setopt(handle, option, value);
}
CURLcode chime_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl.easy_setopt(handle, option, value);
}
CURLcode chime_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl.easy_setopt(handle, option, value);
}
CURLcode chime_curl_set_write(CURL *handle, size_t (*function)(char *, size_t, size_t, void *)) {
  return curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
}
CURLcode chime_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl.easy_getinfo(handle, info, value);
}
CURLcode chime_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl.easy_getinfo(handle, info, value);
}

CURLM *chime_curl_multi_init(void) { return curl.multi_init(); }
CURLMcode chime_curl_multi_cleanup(CURLM *multi) { return curl.multi_cleanup(multi); }
CURLMcode chime_curl_multi_add_handle(CURLM *multi, CURL *handle) { return curl.multi_add_handle(multi, handle); }
CURLMcode chime_curl_multi_remove_handle(CURLM *multi, CURL *handle) {
  return curl.multi_remove_handle(multi, handle);
}
CURLMcode chime_curl_multi_perform(CURLM *multi, int *running) { return curl.multi_perform(multi, running); }
CURLMcode chime_curl_multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout, int *ready) {
  return curl.multi_poll(multi, extra, count, timeout, ready);
}
CURLMsg *chime_curl_multi_info_read(CURLM *multi, int *left) { return curl.multi_info_read(multi, left); }

struct curl_slist *chime_curl_slist_append(struct curl_slist *list, const char *line) {
  return curl.slist_append(list, line);
}
void chime_curl_slist_free_all(struct curl_slist *list) { curl.slist_free_all(list); }

CURLU *chime_curl_url(void) { return curl.url(); }
void chime_curl_url_cleanup(CURLU *url) { curl.url_cleanup(url); }
CURLUcode chime_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
  return curl.url_set(url, part, text, flags);
}
CURLUcode chime_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
  return curl.url_get(url, part, text, flags);
}
