#define _GNU_SOURCE
#include "CMosquitto.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mqtt_protocol.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FUNCTIONS(each)                                                                                              \
  each(lib_init) each(new) each(destroy) each(username_pw_set) each(will_set) each(int_option) each(void_option)     \
  each(threaded_set) each(connect_bind_v5) each(connect_async) each(socket) each(want_write) each(loop_read)         \
  each(loop_write) each(loop_misc) each(publish_v5) each(subscribe_v5) each(disconnect_v5) each(strerror)            \
  each(reason_string) each(property_add_int32) each(property_free_all) each(connect_v5_callback_set)                 \
  each(publish_v5_callback_set) each(subscribe_v5_callback_set) each(message_v5_callback_set)                        \
  each(disconnect_v5_callback_set) each(log_callback_set)

// Types come from the header's declarations, so that calls match libmosquitto's functions.
#define MEMBER(name) __typeof__(mosquitto_##name) *name;
struct functions {
  FUNCTIONS(MEMBER)
};

// Functions of the OpenSSL that libmosquitto is linked with, found through it. Only these can create objects for it.
struct tls_functions {
  void *(*new_context)(const void *method);
  const void *(*method)(void);
  void (*free_context)(void *context);
  long (*control)(void *context, int command, long number, void *argument);
  long (*connection_control)(void *connection, int command, long number, void *argument);
  void (*set_verify)(void *context, int mode, void *callback);
  void (*verify_by)(void *context, int (*verify)(void *, void *), void *argument);
  int (*verify)(void *store);
  int (*error)(void *store);
  void *(*parameters)(void *context);
  int (*set_host)(void *parameters, const char *name, size_t length);
  int (*set_address)(void *parameters, const char *address);
  int (*default_paths)(void *context);
  int (*load)(void *context, const char *file, const char *path);
  void *(*store)(const void *context);
  int (*add)(void *store, void *certificate);
  void *(*read_certificate)(void *bio, void **certificate, void *password, void *argument);
  void (*free_certificate)(void *certificate);
  void *(*memory)(const void *bytes, int length);
  int (*free_bio)(void *bio);
  void (*clear_errors)(void);
  void (*watch)(void *context, void (*message)(int, int, int, const void *, size_t, void *, void *));
  void (*shut)(void *connection, int mode);
  void (*inform)(void *context, void (*told)(const void *, int, int));
  int (*index)(int kind, long number, void *argument, void *made, void *copied, void *freed);
  int (*keep)(void *context, int index, void *value);
  void *(*kept)(const void *context, int index);
  void *(*context_of)(const void *connection);
};

// Written once, under the lock. Threads read it without the lock, but only after chime_mosquitto_load returned 1 to
// them.
static struct functions mosquitto;
static struct tls_functions ssl;
static void *loaded;
/// Index of the client in an SSL_CTX.
static int client_index;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int resolve(void *library, struct functions *found, struct tls_functions *tls) {
#define RESOLVE(name) \
  if ((found->name = (__typeof__(found->name))dlsym(library, "mosquitto_" #name)) == NULL) return 0;
  FUNCTIONS(RESOLVE)
#define FIND(member, symbol) \
  if ((tls->member = (__typeof__(tls->member))dlsym(library, symbol)) == NULL) return 0;
  FIND(new_context, "SSL_CTX_new")
  FIND(method, "TLS_client_method")
  FIND(free_context, "SSL_CTX_free")
  FIND(control, "SSL_CTX_ctrl")
  FIND(connection_control, "SSL_ctrl")
  FIND(set_verify, "SSL_CTX_set_verify")
  FIND(verify_by, "SSL_CTX_set_cert_verify_callback")
  FIND(verify, "X509_verify_cert")
  FIND(error, "X509_STORE_CTX_get_error")
  FIND(parameters, "SSL_CTX_get0_param")
  FIND(set_host, "X509_VERIFY_PARAM_set1_host")
  FIND(set_address, "X509_VERIFY_PARAM_set1_ip_asc")
  FIND(default_paths, "SSL_CTX_set_default_verify_paths")
  FIND(load, "SSL_CTX_load_verify_locations")
  FIND(store, "SSL_CTX_get_cert_store")
  FIND(add, "X509_STORE_add_cert")
  FIND(read_certificate, "PEM_read_bio_X509")
  FIND(free_certificate, "X509_free")
  FIND(memory, "BIO_new_mem_buf")
  FIND(free_bio, "BIO_free")
  FIND(clear_errors, "ERR_clear_error")
  FIND(watch, "SSL_CTX_set_msg_callback")
  FIND(shut, "SSL_set_shutdown")
  FIND(inform, "SSL_CTX_set_info_callback")
  FIND(index, "CRYPTO_get_ex_new_index")
  FIND(keep, "SSL_CTX_set_ex_data")
  FIND(kept, "SSL_CTX_get_ex_data")
  FIND(context_of, "SSL_get_SSL_CTX")
  return 1;
}

int chime_mosquitto_load(const char *library, char *why, size_t size) {
  struct functions found;
  struct tls_functions tls;
  pthread_mutex_lock(&lock);
  // RTLD_LOCAL hides the symbols of the library and its dependencies from the rest of the process.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int done = handle != NULL && resolve(handle, &found, &tls);
  if (!done) {
    const char *reason = dlerror();
    snprintf(why, size, "%s", reason != NULL ? reason : "the dynamic linker does not say why");
  }
  if (done && loaded == NULL && found.lib_init() != MOSQ_ERR_SUCCESS) {
    snprintf(why, size, "libmosquitto cannot be started");
    done = 0;
  }
  if (done && loaded == NULL) {
    mosquitto = found;
    ssl = tls;
    client_index = ssl.index(1 /* CRYPTO_EX_INDEX_SSL_CTX */, 0, NULL, NULL, NULL, NULL);
    loaded = handle;
  } else if (handle != NULL) {
    dlclose(handle); // releases this reference; the loaded library keeps its first one
  }
  pthread_mutex_unlock(&lock);
  return done;
}

struct chime_mosquitto {
  struct mosquitto *client;
  void *context;
  struct chime_mosquitto_events events;
  /// Name for SNI, since libmosquitto would send the dialed address. NULL for a numeric address, which SNI excludes.
  char *host;
  int verification;
  size_t handshake;
  char complaint[256];
};

static void connected(struct mosquitto *client, void *this, int code, int flags, const mosquitto_property *properties) {
  struct chime_mosquitto *mine = this;
  (void)client, (void)flags, (void)properties;
  mine->events.connected(mine->context, code);
}

static void published(struct mosquitto *client, void *this, int number, int code, const mosquitto_property *properties) {
  struct chime_mosquitto *mine = this;
  (void)client, (void)properties;
  mine->events.published(mine->context, number, code);
}

static void subscribed(
    struct mosquitto *client, void *this, int number, int count, const int *granted, const mosquitto_property *properties) {
  struct chime_mosquitto *mine = this;
  (void)client, (void)number, (void)properties;
  mine->events.subscribed(mine->context, count == 1 ? granted[0] : 128);
}

static void came(
    struct mosquitto *client, void *this, const struct mosquitto_message *message, const mosquitto_property *properties) {
  struct chime_mosquitto *mine = this;
  (void)client, (void)properties;
  mine->events.came(mine->context, message->topic, message->payload, message->payloadlen, message->retain);
}

static void ended(struct mosquitto *client, void *this, int code, const mosquitto_property *properties) {
  struct chime_mosquitto *mine = this;
  (void)client, (void)properties;
  mine->events.ended(mine->context, code);
}

static void logged(struct mosquitto *client, void *this, int level, const char *text) {
  struct chime_mosquitto *mine = this;
  (void)client;
  if (level == MOSQ_LOG_ERR) snprintf(mine->complaint, sizeof mine->complaint, "%s", text);
}

struct chime_mosquitto *chime_mosquitto_new(
    const char *id, int is_clean, void *context, struct chime_mosquitto_events events) {
  struct chime_mosquitto *mine = calloc(1, sizeof *mine);
  if (mine == NULL) return NULL;
  mine->context = context;
  mine->events = events;
  mine->client = mosquitto.new(id, is_clean != 0, mine);
  if (mine->client == NULL) {
    free(mine);
    return NULL;
  }
  mosquitto.int_option(mine->client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  mosquitto.int_option(mine->client, MOSQ_OPT_TCP_NODELAY, 1);
  // Threaded mode queues output for chime_mosquitto_write instead of writing it at once.
  mosquitto.threaded_set(mine->client, true);
  mosquitto.connect_v5_callback_set(mine->client, connected);
  mosquitto.publish_v5_callback_set(mine->client, published);
  mosquitto.subscribe_v5_callback_set(mine->client, subscribed);
  mosquitto.message_v5_callback_set(mine->client, came);
  mosquitto.disconnect_v5_callback_set(mine->client, ended);
  mosquitto.log_callback_set(mine->client, logged);
  return mine;
}

void chime_mosquitto_free(struct chime_mosquitto *client) {
  if (client == NULL) return;
  mosquitto.destroy(client->client);
  free(client->host);
  free(client);
}

int chime_mosquitto_login(struct chime_mosquitto *client, const char *user, const char *password) {
  return mosquitto.username_pw_set(client->client, user, password);
}

int chime_mosquitto_will(struct chime_mosquitto *client, const char *topic, const char *text) {
  return mosquitto.will_set(client->client, topic, (int)strlen(text), text, 1, true);
}

/// Verifies as OpenSSL does without a callback, and notes the error.
static int verify(void *store, void *this) {
  struct chime_mosquitto *mine = this;
  if (ssl.verify(store) > 0) return 1;
  mine->verification = ssl.error(store);
  return 0;
}

/// Limits the bytes of handshake messages. OpenSSL skips some messages as long as more arrive, and meanwhile no other
/// connection of the thread is served.
static void count_message(
    int is_sent, int version, int kind, const void *bytes, size_t length, void *connection, void *this) {
  enum { handshake = 22, received_shutdown = 2, most = 256 << 10 };
  struct chime_mosquitto *mine = this;
  (void)version, (void)bytes;
  if (is_sent || kind != handshake) return;
  mine->handshake += length > 1024 ? length : 1024;
  if (mine->handshake > most) ssl.shut(connection, received_shutdown);
}

/// Sets the SNI name before the first handshake message is written.
static void name_broker(const void *connection, int where, int result) {
  enum { handshake_begins = 0x10, set_name = 55 };
  (void)result;
  if (where != handshake_begins) return;
  struct chime_mosquitto *mine = ssl.kept(ssl.context_of(connection), client_index);
  if (mine != NULL) ssl.connection_control((void *)connection, set_name, 0, mine->host);
}

static int trust(void *context, const char *authorities) {
  void *bio = ssl.memory(authorities, -1);
  void *store = ssl.store(context);
  int count = 0;
  if (bio == NULL || store == NULL) return 0;
  for (void *certificate; (certificate = ssl.read_certificate(bio, NULL, NULL, NULL)) != NULL; count++) {
    ssl.add(store, certificate);
    ssl.free_certificate(certificate);
  }
  ssl.free_bio(bio);
  // Reaching the end of the text is an error to OpenSSL.
  ssl.clear_errors();
  return count > 0;
}

int chime_mosquitto_tls(struct chime_mosquitto *client, struct chime_mosquitto_tls tls) {
  enum { verify_peer = 1, set_min_version = 123, tls1_2 = 0x0303, set_callback_argument = 16 };
  void *context = ssl.new_context(ssl.method());
  if (context == NULL) return 0;
  if (!tls.is_address) client->host = strdup(tls.host);
  ssl.set_verify(context, verify_peer, NULL);
  ssl.verify_by(context, verify, client);
  ssl.watch(context, count_message);
  ssl.control(context, set_callback_argument, 0, client);
  ssl.inform(context, name_broker);
  int done = ssl.keep(context, client_index, client) == 1
      && ssl.control(context, set_min_version, tls1_2, NULL) == 1;
  void *parameters = ssl.parameters(context);
  done = done
      && (tls.is_address ? ssl.set_address(parameters, tls.host) : ssl.set_host(parameters, tls.host, 0)) == 1;
  if (tls.authorities != NULL) {
    done = done && trust(context, tls.authorities);
  } else {
    done = done && ssl.default_paths(context) == 1;
    if (tls.file != NULL) done = done && ssl.load(context, tls.file, NULL) == 1;
  }
  // libmosquitto takes a reference of its own and leaves a given context unchanged.
  mosquitto.int_option(client->client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
  if (done) done = mosquitto.void_option(client->client, MOSQ_OPT_SSL_CTX, context) == MOSQ_ERR_SUCCESS;
  ssl.free_context(context);
  ssl.clear_errors();
  return done;
}

static void close_on_exec(int socket) {
  if (socket >= 0) fcntl(socket, F_SETFD, FD_CLOEXEC);
}

int chime_mosquitto_connect(
    struct chime_mosquitto *client, const char *address, int port, int keepalive, uint32_t session) {
  mosquitto_property *properties = NULL;
  if (session > 0) {
    int code = mosquitto.property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, session);
    if (code != MOSQ_ERR_SUCCESS) return code;
    // connect_bind_v5 takes properties but blocks, possibly for minutes. It stores the properties before it validates
    // the keepalive, and refuses a keepalive of one second without dialing. The next call then uses the stored
    // properties. A test checks that the broker keeps the session.
    mosquitto.connect_bind_v5(client->client, address, port, 1, NULL, properties);
    mosquitto.property_free_all(&properties);
  }
  int code = mosquitto.connect_async(client->client, address, port, keepalive);
  close_on_exec(mosquitto.socket(client->client));
  return code;
}

int chime_mosquitto_socket(struct chime_mosquitto *client) { return mosquitto.socket(client->client); }
int chime_mosquitto_wants_write(struct chime_mosquitto *client) { return mosquitto.want_write(client->client); }
int chime_mosquitto_read(struct chime_mosquitto *client) { return mosquitto.loop_read(client->client, 1); }
int chime_mosquitto_write(struct chime_mosquitto *client) { return mosquitto.loop_write(client->client, 1); }
int chime_mosquitto_tend(struct chime_mosquitto *client) { return mosquitto.loop_misc(client->client); }

int chime_mosquitto_publish(
    struct chime_mosquitto *client, int *number, const char *topic, const void *payload, int size, int is_retained) {
  return mosquitto.publish_v5(client->client, number, topic, size, payload, 1, is_retained != 0, NULL);
}

int chime_mosquitto_subscribe(struct chime_mosquitto *client, const char *topic) {
  return mosquitto.subscribe_v5(client->client, NULL, topic, 1, MQTT_SUB_OPT_SEND_RETAIN_NEVER, NULL);
}

int chime_mosquitto_disconnect(struct chime_mosquitto *client, int ends_session) {
  mosquitto_property *properties = NULL;
  if (ends_session) mosquitto.property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, 0);
  int code = mosquitto.disconnect_v5(client->client, 0, properties);
  mosquitto.property_free_all(&properties);
  return code;
}

const char *chime_mosquitto_strerror(int code) { return mosquitto.strerror(code); }
const char *chime_mosquitto_reason(int code) { return mosquitto.reason_string(code); }
int chime_mosquitto_verification(struct chime_mosquitto *client) { return client->verification; }
const char *chime_mosquitto_complaint(struct chime_mosquitto *client) { return client->complaint; }

int chime_socket_error(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : 0;
}
