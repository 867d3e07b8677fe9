// webhooks PORT COUNT CONCURRENCY: sends COUNT webhooks to a receiver on a port of 127.0.0.1 through one libcurl multi
// loop, CONCURRENCY at a time over persistent connections, with bodies and headers as long as chimed's. Prints how many
// arrived and the seconds. Signs and records nothing, and checks only the status.
#include "peer.h"
#include <curl/curl.h>

struct transfer {
  CURL *handle;
  struct curl_slist *headers;
  char body[512];
};

static const char *url;
static long started;

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static void start(CURLM *multi, struct transfer *transfer, int64_t second) {
  snprintf(
    transfer->body, sizeof transfer->body,
    "{\"data\":{\"body\":null,\"channel\":\"bench\",\"firedAt\":\"2026-03-30T08:30:00.120Z\",\"late\":null,"
    "\"latenessMs\":120,\"occurrence\":\"bm2k3k4k@1774859400\",\"reminder\":\"bm2k3k4k\",\"round\":1,"
    "\"scheduledAt\":\"2026-03-30T08:30:00Z\",\"tags\":[],\"title\":\"peer %lld %ld\",\"urgency\":\"normal\","
    "\"url\":null},\"timestamp\":\"2026-03-30T08:30:00.120Z\",\"type\":\"reminder.fired\"}",
    (long long)second, started++);
  curl_easy_setopt(transfer->handle, CURLOPT_POSTFIELDSIZE, (long)strlen(transfer->body));
  need(curl_multi_add_handle(multi, transfer->handle) == CURLM_OK, "curl_multi_add_handle");
}

int main(int count, char **arguments) {
  need(count == 4, "webhooks PORT COUNT CONCURRENCY");
  long wanted = atol(arguments[2]), concurrency = atol(arguments[3]), arrived = 0;
  char address[64];
  snprintf(address, sizeof address, "http://127.0.0.1:%s/", arguments[1]);
  url = address;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURLM *multi = curl_multi_init();
  struct transfer *transfers = calloc(concurrency, sizeof *transfers);
  int64_t begin = microseconds(CLOCK_MONOTONIC), second = microseconds(CLOCK_REALTIME) / 1000000;
  for (long i = 0; i < concurrency; i++) {
    struct transfer *transfer = &transfers[i];
    CURL *handle = transfer->handle = curl_easy_init();
    static const char *lines[] = {
      "content-type: application/json", "expect:", "webhook-id: msg_01kc8z3v7q2m5n8p1r4t6w9y0a", "webhook-timestamp: 1774859400",
      "webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="};
    for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) {
      transfer->headers = curl_slist_append(transfer->headers, lines[line]);
    }
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "Chime/peer");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, transfer->body);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, 15000L);
    if (started < wanted) start(multi, transfer, second);
  }
  for (int running = 1; arrived < wanted;) {
    need(curl_multi_perform(multi, &running) == CURLM_OK, "curl_multi_perform");
    int left, again = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      struct transfer *transfer;
      long status;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
      curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
      need(message->data.result == CURLE_OK && status == 204, "a webhook");
      curl_multi_remove_handle(multi, transfer->handle);
      arrived += 1;
      if (started < wanted) start(multi, transfer, second), again = 1;
    }
    if (!again && arrived < wanted) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  printf("%ld %.6f\n", arrived, (microseconds(CLOCK_MONOTONIC) - begin) / 1e6);
  return 0;
}
