#pragma once
// libcurl, loaded at first use instead of at the start. It brings 27 libraries (Kerberos, LDAP …), 4.0 MB resident, and
// many daemons never send a webhook. Types and constants come from its header.
#ifdef __swift__
// Import SwiftGlibc first, so that types that both define, such as timeval, always come from that module.
#pragma clang module import SwiftGlibc
#endif
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

/// File name of libcurl on Linux since 2006.
#define CHIME_CURL_LIBRARY "libcurl.so.4"

/// Loads libcurl if necessary. Thread-safe. A loaded library stays until the process ends. A missing one is looked up
/// again by the next call, since it may have been installed.
///
/// `library` is CHIME_CURL_LIBRARY, except in tests. Returns 1, or 0 with the dynamic linker's error in `why`.
int chime_curl_load(const char *library, char *why, size_t size);

// Wrappers with the names of libcurl's functions. Call them only after chime_curl_load has returned 1.

CURLcode chime_curl_global_init(long flags);
void chime_curl_free(void *memory);

CURL *chime_curl_easy_init(void);
void chime_curl_easy_cleanup(CURL *handle);
const char *chime_curl_easy_strerror(CURLcode code);

// Typed option setters. libcurl's are variadic, which Swift cannot call.
CURLcode chime_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode chime_curl_set_string(CURL *handle, CURLoption option, const char *value);
CURLcode chime_curl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode chime_curl_set_write(CURL *handle, size_t (*function)(char *, size_t, size_t, void *));
CURLcode chime_curl_set_read(CURL *handle, size_t (*function)(char *, size_t, size_t, void *));
CURLcode chime_curl_set_header(CURL *handle, size_t (*function)(char *, size_t, size_t, void *));
CURLcode chime_curl_set_open_socket(CURL *handle, curl_opensocket_callback function);
CURLcode chime_curl_set_before_request(CURL *handle, curl_prereq_callback function);
CURLcode chime_curl_set_progress(CURL *handle, curl_xferinfo_callback function);
CURLcode chime_curl_get_long(CURL *handle, CURLINFO info, long *value);
CURLcode chime_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value);
CURLcode chime_curl_get_string(CURL *handle, CURLINFO info, const char **value);

/// Opens a socket as libcurl would, but close-on-exec.
curl_socket_t chime_curl_socket(const struct curl_sockaddr *address);

/// Returns the bytes received over a TCP connection (tcp(7), TCP_INFO), with all framing; -1 if the kernel does not
/// say.
int64_t chime_socket_received(int socket);
/// Returns the socket's local port; 0 before it has one, -1 if it is no Internet socket or is closed.
int chime_socket_port(int socket);
/// Returns whether the socket is connected to the port and the address, as inet_ntop(3) writes it.
int chime_socket_leads(int socket, const char *peer, int port);

/// Maximum handshake bytes of a connection. A certificate chain has at most 100 KB.
#define CHIME_TLS_MOST (256 << 10)

/// A refused certificate or an endless handshake: OpenSSL's X509_V_ERR and the validity in seconds since the epoch
/// (INT64_MIN if unknown), or `is_endless`.
struct chime_tls_note {
  uintptr_t number;
  int error;
  int64_t not_before, not_after;
  int is_endless;
};

/// Watches TLS on a handle: notes refused certificates of this thread, under the number in CURLOPT_SSL_CTX_DATA, and
/// ends and notes connections that exceed CHIME_TLS_MOST. OpenSSL still does the verification. Fails if libcurl uses
/// another TLS library.
CURLcode chime_curl_watch_tls(CURL *handle);
/// Returns 1 and this thread's note for a number other than 0; 0 if there is none.
int chime_curl_tls_note(uintptr_t number, struct chime_tls_note *note);
/// Returns whether libcurl has a file with all authorities that the system trusts.
int chime_curl_has_certificate_file(void);

CURLM *chime_curl_multi_init(void);
CURLMcode chime_curl_multi_cleanup(CURLM *multi);
CURLMcode chime_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode chime_curl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode chime_curl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode chime_curl_multi_perform(CURLM *multi, int *running);
CURLMcode chime_curl_multi_poll(CURLM *multi, struct curl_waitfd *extra, unsigned int count, int timeout, int *ready);
CURLMsg *chime_curl_multi_info_read(CURLM *multi, int *left);

struct curl_slist *chime_curl_slist_append(struct curl_slist *list, const char *line);
void chime_curl_slist_free_all(struct curl_slist *list);

CURLU *chime_curl_url(void);
void chime_curl_url_cleanup(CURLU *url);
CURLUcode chime_curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
CURLUcode chime_curl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);
