// gettext and the texts of locales, both part of glibc (gettext(3), nl_langinfo(3)).
#pragma once
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>

// Items of chime_locale_text. Swift does not import the items of nl_langinfo_l, which are macros and enumerators.
enum chime_locale_item {
  CHIME_LOCALE_POINT,      // decimal separator
  CHIME_LOCALE_THOUSANDS,  // separator of groups of three digits
  CHIME_LOCALE_DATE,       // date format for strftime(3)
  CHIME_LOCALE_DAY,        // + 0 … 6: short names of the weekdays, from Sunday
  CHIME_LOCALE_MONTH = CHIME_LOCALE_DAY + 7,           // + 0 … 11: standalone names of the months
  CHIME_LOCALE_SHORT_MONTH = CHIME_LOCALE_MONTH + 12,  // + 0 … 11: short names of the months
};

// Returns the text of an item in a locale; never null.
const char *chime_locale_text(locale_t locale, int item);
