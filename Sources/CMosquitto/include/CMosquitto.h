#pragma once
// libmosquitto, loaded at first use like libcurl: most daemons use no broker, and everything else works without the
// library. Types and constants come from its header.
#include <mosquitto.h>
#include <stddef.h>
#include <stdint.h>

/// File name of libmosquitto on Linux since 2011.
#define CHIME_MOSQUITTO_LIBRARY "libmosquitto.so.1"

/// Loads libmosquitto if necessary. Thread-safe. A loaded library stays until the process ends. A missing one is looked
/// up again by the next call.
///
/// `library` is CHIME_MOSQUITTO_LIBRARY, except in tests. Returns 1, or 0 with the dynamic linker's error in `why`.
int chime_mosquitto_load(const char *library, char *why, size_t size);

// Call all other functions only after chime_mosquitto_load has returned 1. A client belongs to one thread.

/// Callbacks while a client is driven. All codes are reason codes of MQTT 5.
struct chime_mosquitto_events {
  /// CONNACK; 0 means accepted.
  void (*connected)(void *context, int code);
  /// PUBACK of a publication.
  void (*published)(void *context, int number, int code);
  /// SUBACK: the granted QoS, or a reason code of at least 128.
  void (*subscribed)(void *context, int code);
  void (*came)(void *context, const char *topic, const void *payload, int size, int is_retained);
  /// DISCONNECT by the broker.
  void (*ended)(void *context, int code);
};

/// TLS settings. The certificate is checked against the host, never against the dialed address.
struct chime_mosquitto_tls {
  const char *host;
  int is_address;
  /// PEM authorities, trusted exclusively; NULL for the system's.
  const char *authorities;
  /// File of authorities trusted in addition to the system's; NULL for none.
  const char *file;
};

struct chime_mosquitto;

/// Creates an MQTT 5 client; NULL if memory runs out.
///
/// Only chime_mosquitto_write sends output, acknowledgements included. libmosquitto queues an acknowledgement before it
/// reports the message, and the output waits until the message is recorded.
struct chime_mosquitto *chime_mosquitto_new(
    const char *id, int is_clean, void *context, struct chime_mosquitto_events events);
void chime_mosquitto_free(struct chime_mosquitto *client);
int chime_mosquitto_login(struct chime_mosquitto *client, const char *user, const char *password);
int chime_mosquitto_will(struct chime_mosquitto *client, const char *topic, const char *text);
/// Returns 1, or 0 if the authorities are unreadable or OpenSSL is out of memory.
int chime_mosquitto_tls(struct chime_mosquitto *client, struct chime_mosquitto_tls tls);
/// Starts to connect to a numeric address and returns at once.
///
/// `keepalive` and `session` are in seconds; `session` is how long the broker keeps the session after a disconnect.
int chime_mosquitto_connect(
    struct chime_mosquitto *client, const char *address, int port, int keepalive, uint32_t session);
int chime_mosquitto_socket(struct chime_mosquitto *client);
int chime_mosquitto_wants_write(struct chime_mosquitto *client);
int chime_mosquitto_read(struct chime_mosquitto *client);
int chime_mosquitto_write(struct chime_mosquitto *client);
/// Sends a ping if one is due.
int chime_mosquitto_tend(struct chime_mosquitto *client);
/// Publishes at QoS 1. `number` is the packet id that `published` reports.
int chime_mosquitto_publish(
    struct chime_mosquitto *client, int *number, const char *topic, const void *payload, int size, int is_retained);
/// Subscribes at QoS 1, without retained messages.
int chime_mosquitto_subscribe(struct chime_mosquitto *client, const char *topic);
/// Sends DISCONNECT. With `ends_session` the broker deletes the session.
int chime_mosquitto_disconnect(struct chime_mosquitto *client, int ends_session);
const char *chime_mosquitto_strerror(int code);
const char *chime_mosquitto_reason(int code);
/// Returns why the broker's certificate was refused, as an X509_V_ERR of OpenSSL; 0 if it was not.
int chime_mosquitto_verification(struct chime_mosquitto *client);
/// Returns libmosquitto's text on the latest error; empty if there is none.
const char *chime_mosquitto_complaint(struct chime_mosquitto *client);
/// Returns and clears the error of a connection attempt (SO_ERROR).
int chime_socket_error(int socket);
