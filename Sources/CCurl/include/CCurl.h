#pragma once
// libcurl, loaded when it is first needed instead of at the start: it brings 27 libraries of its own (Kerberos, LDAP …),
// 4.0 MB resident in a daemon that may never send a webhook. Types and constants are those of its header.
#ifdef __swift__
// What both have is Swift's Glibc's, whichever of the two a compilation meets first: timeval, for one.
#pragma clang module import SwiftGlibc
#endif
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

/// What libcurl has been called on Linux since 2006.
#define CHIME_CURL_LIBRARY "libcurl.so.4"

/// Loads libcurl unless it is loaded already. From any thread; what is loaded stays until the process ends, and what
/// could not be loaded is looked for again by the next call, as it may have been installed meanwhile.
///
/// `library` is CHIME_CURL_LIBRARY, except in tests. Returns 1; or 0 with what the dynamic linker says in `why`.
int chime_curl_load(const char *library, char *why, size_t size);

// The functions of libcurl by their own names, each to be called only after chime_curl_load has returned 1.

CURLcode chime_curl_global_init(long flags);
void chime_curl_free(void *memory);

CURL *chime_curl_easy_init(void);
void chime_curl_easy_cleanup(CURL *handle);
const char *chime_curl_easy_strerror(CURLcode code);

// libcurl's option setters are variadic, which Swift cannot call; one typed face for each kind of argument.
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

/// A socket as libcurl would open one for the address, but not inherited by programs that are run.
curl_socket_t chime_curl_socket(const struct curl_sockaddr *address);

/// How many bytes have come over a TCP connection (tcp(7), TCP_INFO), whatever they were; -1 where the kernel does not say.
int64_t chime_socket_received(int socket);
/// The socket's own port, 0 before it has one; -1 when it is no socket of the Internet's, or is closed.
int chime_socket_port(int socket);
/// Whether the socket is connected to that address, as inet_ntop(3) writes it, and port.
int chime_socket_leads(int socket, const char *peer, int port);

/// How much of handshakes may come over a connection while it lasts, in bytes. A chain of certificates has 100 KB at most.
#define CHIME_TLS_MOST (256 << 10)

/// Why a certificate was refused, and when it is valid: an X509_V_ERR of OpenSSL, and seconds since the epoch, INT64_MIN
/// where the certificate does not say. Or that more came of a handshake than may.
struct chime_tls_note {
  uintptr_t number;
  int error;
  int64_t not_before, not_after;
  int is_endless;
};

/// Has refused certificates noted by the thread that drives the handle, under the number that CURLOPT_SSL_CTX_DATA is
/// set to, and connections ended, and noted, over which more comes of handshakes than CHIME_TLS_MOST. Verification itself
/// stays OpenSSL's. Fails where libcurl uses another library for TLS.
CURLcode chime_curl_watch_tls(CURL *handle);
/// Returns 1 with what this thread has noted under a number that is not 0; 0 when there is nothing.
int chime_curl_tls_note(uintptr_t number, struct chime_tls_note *note);
/// Whether libcurl has a file of its own with all authorities that the system trusts.
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
