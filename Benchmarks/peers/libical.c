// libical: measures libical's time for the next occurrence of a rule, in nanoseconds, one line each:
//   NAME next N     one call of the iterator, from one occurrence to the next
//   NAME cold N     parsing the rule, creating an iterator, and its first occurrence
//   NAME decade N   creating an iterator at the start, and the first occurrence ten years later
#include "peer.h"
#include <libical/ical.h>

static int64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

enum { samples = 101 };

static void report(const char *name, const char *what, double *values) {
  qsort(values, samples, sizeof *values, by_value);
  printf("%s %s %.1f\n", name, what, values[samples / 2]);
}

static void measure(const char *name, const char *rule, const char *start_text, const char *decade_text) {
  icaltimezone *zone = icaltimezone_get_builtin_timezone("America/New_York");
  need(zone != NULL, "libical's America/New_York");
  struct icaltimetype start = icaltime_from_string(start_text), decade = icaltime_from_string(decade_text);
  start.zone = decade.zone = zone;
  double values[samples];
  volatile time_t sink = 0;

  struct icalrecurrencetype recurrence = icalrecurrencetype_from_string(rule);
  icalrecur_iterator *iterator = icalrecur_iterator_new(recurrence, start);
  for (int sample = 0; sample < samples; sample++) {
    int64_t begin = nanoseconds();
    for (int i = 0; i < 20; i++) sink += icaltime_as_timet_with_zone(icalrecur_iterator_next(iterator), zone);
    values[sample] = (nanoseconds() - begin) / 20.0;
    if (sample % 8 == 7) {
      icalrecur_iterator_free(iterator);
      iterator = icalrecur_iterator_new(recurrence, start);
    }
  }
  icalrecur_iterator_free(iterator);
  report(name, "next", values);

  for (int sample = 0; sample < samples; sample++) {
    int64_t begin = nanoseconds();
    for (int i = 0; i < 10; i++) {
      struct icalrecurrencetype parsed = icalrecurrencetype_from_string(rule);
      icalrecur_iterator *fresh = icalrecur_iterator_new(parsed, start);
      sink += icaltime_as_timet_with_zone(icalrecur_iterator_next(fresh), zone);
      icalrecur_iterator_free(fresh);
    }
    values[sample] = (nanoseconds() - begin) / 10.0;
  }
  report(name, "cold", values);

  for (int sample = 0; sample < samples; sample++) {
    int64_t begin = nanoseconds();
    icalrecur_iterator *fresh = icalrecur_iterator_new(recurrence, start);
    icalrecur_iterator_set_start(fresh, decade);
    sink += icaltime_as_timet_with_zone(icalrecur_iterator_next(fresh), zone);
    icalrecur_iterator_free(fresh);
    values[sample] = nanoseconds() - begin;
  }
  report(name, "decade", values);
}

int main(void) {
  measure("rrule-weekly", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "20260105T083000", "20360105T083000");
  measure("rrule-yearly", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "20261126T083000", "20361126T083000");
  return 0;
}
