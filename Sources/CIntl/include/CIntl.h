// gettext and the locale's own words, both part of glibc (gettext(3), nl_langinfo(3)).
#pragma once
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>

// What is asked of nl_langinfo_l; its items are macros and parts of enumerations that Swift does not see as numbers.
enum chime_locale_item {
  CHIME_LOCALE_POINT,      // between the whole and the parts of a number
  CHIME_LOCALE_THOUSANDS,  // between groups of three digits
  CHIME_LOCALE_DATE,       // a date, as for strftime(3)
  CHIME_LOCALE_DAY,        // + 0 … 6: the short names of the weekdays, from Sunday on
  CHIME_LOCALE_MONTH = CHIME_LOCALE_DAY + 7,           // + 0 … 11: the months' names, as they stand by themselves
  CHIME_LOCALE_SHORT_MONTH = CHIME_LOCALE_MONTH + 12,  // + 0 … 11
};

// The text of an item in the locale; never null.
const char *chime_locale_text(locale_t locale, int item);
