#define _GNU_SOURCE
#include "CCurl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define FUNCTIONS(each)                                                                                   \
  each(global_init) each(free) each(easy_init) each(easy_cleanup) each(easy_strerror) each(easy_setopt)   \
  each(easy_getinfo) each(multi_init) each(multi_cleanup) each(multi_add_handle) each(multi_remove_handle) \
  each(multi_perform) each(multi_poll) each(multi_info_read) each(slist_append) each(slist_free_all)      \
  each(multi_setopt) each(version_info) each(url) each(url_cleanup) each(url_set) each(url_get)

// Types come from the header's declarations, so that calls match libcurl's functions.
#define MEMBER(name) __typeof__(curl_##name) *name;
struct functions {
  FUNCTIONS(MEMBER)
};

// Written once, under the lock. Threads read it without the lock, but only after chime_curl_load returned 1 to them.
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
  // RTLD_LOCAL hides the symbols of the library and its dependencies from the rest of the process.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int done = handle != NULL && resolve(handle, &found);
  if (!done) complain(why, size);
  if (done && loaded == NULL) {
    curl = found;
    loaded = handle;
  } else if (handle != NULL) {
    dlclose(handle); // releases this reference; the loaded library keeps its first one
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
CURLcode chime_curl_set_read(CURL *handle, size_t (*function)(char *, size_t, size_t, void *)) {
  return curl.easy_setopt(handle, CURLOPT_READFUNCTION, function);
}
CURLcode chime_curl_set_header(CURL *handle, size_t (*function)(char *, size_t, size_t, void *)) {
  return curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
}
CURLcode chime_curl_set_open_socket(CURL *handle, curl_opensocket_callback function) {
  return curl.easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}
CURLcode chime_curl_set_before_request(CURL *handle, curl_prereq_callback function) {
  return curl.easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}
CURLcode chime_curl_set_progress(CURL *handle, curl_xferinfo_callback function) {
  return curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
}
curl_socket_t chime_curl_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int64_t chime_socket_received(int socket) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return -1;
  return (int64_t)info.tcpi_bytes_received;
}

/// Returns the port of an address and writes its text; -1 if it is no Internet address.
static int read_address(const struct sockaddr_storage *address, char *text, socklen_t size) {
  if (address->ss_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    return inet_ntop(AF_INET, &four->sin_addr, text, size) != NULL ? ntohs(four->sin_port) : -1;
  }
  if (address->ss_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    return inet_ntop(AF_INET6, &six->sin6_addr, text, size) != NULL ? ntohs(six->sin6_port) : -1;
  }
  return -1;
}

int chime_socket_port(int socket) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN];
  if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return -1;
  return read_address(&address, text, sizeof text);
}

int chime_socket_leads(int socket, const char *peer, int port) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN];
  if (getpeername(socket, (struct sockaddr *)&address, &length) != 0) return 0;
  return read_address(&address, text, sizeof text) == port && strcmp(text, peer) == 0;
}
CURLcode chime_curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl.easy_getinfo(handle, info, value);
}
CURLcode chime_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl.easy_getinfo(handle, info, value);
}

CURLcode chime_curl_get_string(CURL *handle, CURLINFO info, const char **value) {
  return curl.easy_getinfo(handle, info, value);
}

int chime_curl_has_certificate_file(void) { return curl.version_info(CURLVERSION_NOW)->cainfo != NULL; }

CURLM *chime_curl_multi_init(void) { return curl.multi_init(); }
CURLMcode chime_curl_multi_cleanup(CURLM *multi) { return curl.multi_cleanup(multi); }
CURLMcode chime_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl.multi_setopt(multi, option, value);
}
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

// Refused certificates and endless handshakes. The functions belong to the OpenSSL that libcurl is linked with and are
// found through libcurl, so they match its handles even if the process contains another OpenSSL.

static struct {
  void (*set)(void *context, int (*verify)(void *, void *), void *argument);
  int (*verify)(void *store);
  int (*error)(void *store);
  void *(*certificate)(void *store);
  const void *(*not_before)(const void *certificate);
  const void *(*not_after)(const void *certificate);
  int (*time)(const void *asn1, struct tm *time);
  void (*watch)(void *context, void (*message)(int, int, int, const void *, size_t, void *, void *));
  long (*control)(void *context, int command, long number, void *argument);
  int (*index)(int kind, long number, void *argument, void *made, void *copied, void *freed);
  int (*keep)(void *connection, int index, void *value);
  void *(*kept)(const void *connection, int index);
  void (*shut)(void *connection, int mode);
} tls;
static pthread_once_t tls_once = PTHREAD_ONCE_INIT;
static int tls_found;
/// Index of the connection's handshake byte count. It is stored as a number, so that nothing must be freed.
static int tls_taken;

static void find_tls(void) {
  const char *name = curl.version_info(CURLVERSION_NOW)->ssl_version;
  if (name == NULL || strncmp(name, "OpenSSL/", 8) != 0) return;
#define FIND(member, symbol) ((tls.member = (__typeof__(tls.member))dlsym(loaded, symbol)) != NULL)
  tls_found = FIND(set, "SSL_CTX_set_cert_verify_callback") && FIND(verify, "X509_verify_cert")
      && FIND(error, "X509_STORE_CTX_get_error") && FIND(certificate, "X509_STORE_CTX_get_current_cert")
      && FIND(not_before, "X509_get0_notBefore") && FIND(not_after, "X509_get0_notAfter")
      && FIND(time, "ASN1_TIME_to_tm") && FIND(watch, "SSL_CTX_set_msg_callback") && FIND(control, "SSL_CTX_ctrl")
      && FIND(index, "CRYPTO_get_ex_new_index") && FIND(keep, "SSL_set_ex_data") && FIND(kept, "SSL_get_ex_data")
      && FIND(shut, "SSL_set_shutdown")
      && (tls_taken = tls.index(0 /* CRYPTO_EX_INDEX_SSL */, 0, NULL, NULL, NULL, NULL)) >= 0;
}

// The latest notes of this thread. Older notes are overwritten, which only loses a date in an error message.
enum { most_notes = 16 };
static _Thread_local struct chime_tls_note notes[most_notes];
static _Thread_local unsigned next_note;

static int64_t seconds(const void *asn1) {
  struct tm time;
  return asn1 != NULL && tls.time(asn1, &time) == 1 ? (int64_t)timegm(&time) : INT64_MIN;
}

/// Verifies as OpenSSL does without a callback, and notes the failure. The argument is only a number, because a
/// connection may call this long after the request that opened it has ended.
static int verify(void *store, void *number) {
  if (tls.verify(store) > 0) return 1;
  void *certificate = tls.certificate(store);
  if (certificate != NULL) {
    notes[next_note++ % most_notes] = (struct chime_tls_note){
        .number = (uintptr_t)number, .error = tls.error(store), .not_before = seconds(tls.not_before(certificate)),
        .not_after = seconds(tls.not_after(certificate))};
  }
  return 0;
}

/// Counts the bytes of handshake messages, including later ones such as tickets and key updates. OpenSSL skips some
/// messages, such as renegotiation requests, as long as more arrive, and meanwhile libcurl serves no other connection
/// of the thread. Each message counts as at least 1 KiB, because the smallest cost the most for their size.
static void count_message(
    int is_sent, int version, int kind, const void *bytes, size_t length, void *connection, void *number) {
  enum { handshake = 22, received_shutdown = 2 };
  (void)version, (void)bytes;
  if (is_sent || kind != handshake) return;
  uintptr_t before = (uintptr_t)tls.kept(connection, tls_taken);
  uintptr_t taken = before + (length > 1024 ? length : 1024);
  tls.keep(connection, tls_taken, (void *)taken);
  if (taken <= CHIME_TLS_MOST) return;
  // OpenSSL reads nothing more, as if the peer had closed the connection.
  tls.shut(connection, received_shutdown);
  if (before <= CHIME_TLS_MOST) {
    notes[next_note++ % most_notes] = (struct chime_tls_note){.number = (uintptr_t)number, .is_endless = 1};
  }
}

static CURLcode begin_tls(CURL *handle, void *context, void *number) {
  (void)handle;
  tls.set(context, verify, number);
  tls.watch(context, count_message);
  tls.control(context, 16 /* SSL_CTRL_SET_MSG_CALLBACK_ARG */, 0, number);
  return CURLE_OK;
}

CURLcode chime_curl_watch_tls(CURL *handle) {
  pthread_once(&tls_once, find_tls);
  return tls_found ? curl.easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, begin_tls) : CURLE_NOT_BUILT_IN;
}

int chime_curl_tls_note(uintptr_t number, struct chime_tls_note *note) {
  for (int i = 0; i < most_notes; i++) {
    if (number != 0 && notes[i].number == number) {
      *note = notes[i];
      return 1;
    }
  }
  return 0;
}
