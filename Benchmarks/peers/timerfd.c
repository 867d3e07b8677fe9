// timerfd START COUNT: measures the lateness of a bare timerfd at COUNT consecutive seconds from START (microseconds
// since the epoch), in microseconds, one line each.
#include "peer.h"

int main(int count, char **arguments) {
  need(count == 3, "timerfd START COUNT");
  int64_t start = atoll(arguments[1]);
  int times = atoi(arguments[2]);
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  need(timer >= 0, "timerfd_create");
  for (int i = 0; i < times; i++) {
    int64_t due = start + i * 1000000LL;
    wait_until(timer, due);
    printf("%lld\n", (long long)(microseconds(CLOCK_REALTIME) - due));
  }
  return 0;
}
