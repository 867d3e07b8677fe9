#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define FUNCTIONS(each)                                                                                        \
  each(conninfoParse) each(conninfoFree) each(freemem) each(connectStartParams) each(connectPoll) each(finish) \
  each(status) each(transactionStatus) each(socket) each(serverVersion) each(backendPID)                       \
  each(parameterStatus) each(errorMessage) each(host) each(port) each(setErrorVerbosity)                       \
  each(setNoticeProcessor) each(exec) each(prepare) each(execPrepared) each(enterPipelineMode)                 \
  each(exitPipelineMode) each(sendQueryPrepared) each(pipelineSync) each(getResult) each(resultStatus)         \
  each(resultErrorField) each(clear) each(ntuples) each(getisnull) each(getlength) each(getvalue)              \
  each(cmdTuples) each(connectionNeedsPassword) each(consumeInput) each(notifies)

// Types come from the header's declarations, so that calls match libpq's functions.
#define MEMBER(name) __typeof__(PQ##name) *name;
struct functions {
  FUNCTIONS(MEMBER)
};

// Written once, under the lock. Threads read it without the lock, but only after chime_pq_load returned 1 to them.
static struct functions pq;
static void *loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void complain(char *why, size_t size) {
  const char *reason = dlerror();
  snprintf(why, size, "%s", reason != NULL ? reason : "the dynamic linker does not say why");
}

static int resolve(void *library, struct functions *found) {
#define RESOLVE(name) \
  if ((found->name = (__typeof__(found->name))dlsym(library, "PQ" #name)) == NULL) return 0;
  FUNCTIONS(RESOLVE)
  return 1;
}

int chime_pq_load(const char *library, char *why, size_t size) {
  struct functions found;
  pthread_mutex_lock(&lock);
  // RTLD_LOCAL hides the symbols of the library and its dependencies from the rest of the process.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int done = handle != NULL && resolve(handle, &found);
  if (!done) complain(why, size);
  if (done && loaded == NULL) {
    pq = found;
    loaded = handle;
  } else if (handle != NULL) {
    dlclose(handle); // releases this reference; the loaded library keeps its first one
  }
  pthread_mutex_unlock(&lock);
  return done;
}

static void drop(void *nobody, const char *message) {
  (void)nobody;
  (void)message;
}

PQconninfoOption *chime_pq_parse(const char *text, char **error) { return pq.conninfoParse(text, error); }
void chime_pq_free_options(PQconninfoOption *options) { pq.conninfoFree(options); }
void chime_pq_free(void *memory) { pq.freemem(memory); }

PGconn *chime_pq_connect_start(const char *const *keywords, const char *const *values) {
  return pq.connectStartParams(keywords, values, 0);
}
PostgresPollingStatusType chime_pq_connect_poll(PGconn *connection) { return pq.connectPoll(connection); }
void chime_pq_finish(PGconn *connection) { pq.finish(connection); }
ConnStatusType chime_pq_status(const PGconn *connection) { return pq.status(connection); }
PGTransactionStatusType chime_pq_transaction_status(const PGconn *connection) {
  return pq.transactionStatus(connection);
}
int chime_pq_socket(const PGconn *connection) { return pq.socket(connection); }
int chime_pq_server_version(const PGconn *connection) { return pq.serverVersion(connection); }
int chime_pq_backend_pid(const PGconn *connection) { return pq.backendPID(connection); }
const char *chime_pq_parameter_status(const PGconn *connection, const char *name) {
  return pq.parameterStatus(connection, name);
}
const char *chime_pq_error_message(const PGconn *connection) { return pq.errorMessage(connection); }
const char *chime_pq_host(const PGconn *connection) { return pq.host(connection); }
const char *chime_pq_port(const PGconn *connection) { return pq.port(connection); }
void chime_pq_be_verbose(PGconn *connection) { pq.setErrorVerbosity(connection, PQERRORS_VERBOSE); }
void chime_pq_be_quiet(PGconn *connection) { pq.setNoticeProcessor(connection, drop, NULL); }

PGresult *chime_pq_exec(PGconn *connection, const char *sql) { return pq.exec(connection, sql); }
PGresult *chime_pq_prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types) {
  return pq.prepare(connection, name, sql, count, types);
}
PGresult *chime_pq_exec_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
  const int *formats) {
  return pq.execPrepared(connection, name, count, values, lengths, formats, 1);
}

int chime_pq_consume_input(PGconn *connection) { return pq.consumeInput(connection); }
PGnotify *chime_pq_notifies(PGconn *connection) { return pq.notifies(connection); }

int chime_pq_enter_pipeline(PGconn *connection) { return pq.enterPipelineMode(connection); }
int chime_pq_exit_pipeline(PGconn *connection) { return pq.exitPipelineMode(connection); }
int chime_pq_send_prepared(
  PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
  const int *formats) {
  return pq.sendQueryPrepared(connection, name, count, values, lengths, formats, 1);
}
int chime_pq_sync(PGconn *connection) { return pq.pipelineSync(connection); }
PGresult *chime_pq_get_result(PGconn *connection) { return pq.getResult(connection); }

ExecStatusType chime_pq_result_status(const PGresult *result) { return pq.resultStatus(result); }
const char *chime_pq_result_field(const PGresult *result, int field) { return pq.resultErrorField(result, field); }
void chime_pq_clear(PGresult *result) { pq.clear(result); }
int chime_pq_rows(const PGresult *result) { return pq.ntuples(result); }
int chime_pq_is_null(const PGresult *result, int row, int column) { return pq.getisnull(result, row, column); }
int chime_pq_length(const PGresult *result, int row, int column) { return pq.getlength(result, row, column); }
const char *chime_pq_value(const PGresult *result, int row, int column) { return pq.getvalue(result, row, column); }
const char *chime_pq_changed(PGresult *result) { return pq.cmdTuples(result); }
int chime_pq_needs_password(const PGconn *connection) { return pq.connectionNeedsPassword(connection); }
