#pragma once
// libmosquitto, loaded when it is first needed as libcurl is: most daemons speak to no broker, and a machine without it runs all
// the rest. Types and constants are those of its header.
#include <mosquitto.h>
#include <stddef.h>
#include <stdint.h>

/// What libmosquitto has been called on Linux since 2011.
#define CHIME_MOSQUITTO_LIBRARY "libmosquitto.so.1"

/// Loads libmosquitto unless it is loaded already. From any thread; what is loaded stays until the process ends, and what could
/// not be loaded is looked for again by the next call.
///
/// `library` is CHIME_MOSQUITTO_LIBRARY, except in tests. Returns 1; or 0 with what the dynamic linker says in `why`.
int chime_mosquitto_load(const char *library, char *why, size_t size);

// The rest only after chime_mosquitto_load has returned 1. A client belongs to one thread.

/// What is told while a client is driven.
struct chime_mosquitto_events {
  /// The broker's answer to CONNECT: a reason code of MQTT 5, 0 for yes.
  void (*connected)(void *context, int code);
  /// What became of a publication: a reason code of MQTT 5.
  void (*published)(void *context, int number, int code);
  /// The broker's answer to a subscription: the QoS that it grants, or a reason code from 128 on.
  void (*subscribed)(void *context, int code);
  void (*came)(void *context, const char *topic, const void *payload, int size, int is_retained);
  /// The broker has said why it ends the connection: a reason code of MQTT 5.
  void (*ended)(void *context, int code);
};

/// How TLS is done; the name is verified, never the address that is dialled.
struct chime_mosquitto_tls {
  const char *host;
  int is_address;
  /// Authorities in PEM that are trusted and no others; NULL for the system's.
  const char *authorities;
  /// A file of authorities that are trusted beside the system's; NULL for none.
  const char *file;
};

struct chime_mosquitto;

/// A client of MQTT 5. NULL when there is no memory for it.
///
/// What is written leaves by chime_mosquitto_write and by nothing else, the acknowledgements of what came among it: libmosquitto
/// makes them before it tells of a message, and here they wait until the message has been dealt with.
struct chime_mosquitto *chime_mosquitto_new(
    const char *id, int is_clean, void *context, struct chime_mosquitto_events events);
void chime_mosquitto_free(struct chime_mosquitto *client);
int chime_mosquitto_login(struct chime_mosquitto *client, const char *user, const char *password);
int chime_mosquitto_will(struct chime_mosquitto *client, const char *topic, const char *text);
/// Returns 1; 0 when the authorities cannot be read, or OpenSSL has no memory.
int chime_mosquitto_tls(struct chime_mosquitto *client, struct chime_mosquitto_tls tls);
/// Begins to connect to an address in figures, and returns at once.
///
/// `keepalive` is in seconds; `session` is how many seconds the broker keeps what it has for the client after it has gone.
int chime_mosquitto_connect(
    struct chime_mosquitto *client, const char *address, int port, int keepalive, uint32_t session);
int chime_mosquitto_socket(struct chime_mosquitto *client);
int chime_mosquitto_wants_write(struct chime_mosquitto *client);
int chime_mosquitto_read(struct chime_mosquitto *client);
int chime_mosquitto_write(struct chime_mosquitto *client);
/// Sends a sign of life where one is due.
int chime_mosquitto_tend(struct chime_mosquitto *client);
/// At QoS 1; `number` is what `published` is told with.
int chime_mosquitto_publish(
    struct chime_mosquitto *client, int *number, const char *topic, const void *payload, int size, int is_retained);
/// At QoS 1, without what the broker has retained.
int chime_mosquitto_subscribe(struct chime_mosquitto *client, const char *topic);
/// Says goodbye. With `ends_session` the broker forgets what it keeps for the client.
int chime_mosquitto_disconnect(struct chime_mosquitto *client, int ends_session);
const char *chime_mosquitto_strerror(int code);
const char *chime_mosquitto_reason(int code);
/// Why the broker's certificate was refused: an X509_V_ERR of OpenSSL; 0 when it was not.
int chime_mosquitto_verification(struct chime_mosquitto *client);
/// What libmosquitto has said of the latest fault; empty when nothing.
const char *chime_mosquitto_complaint(struct chime_mosquitto *client);
/// Why a connection could not be made (SO_ERROR), which is then forgotten.
int chime_socket_error(int socket);
