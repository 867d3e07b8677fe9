#define _GNU_SOURCE
#include "CIntl.h"

const char *chime_locale_text(locale_t locale, int item) {
  if (item >= CHIME_LOCALE_SHORT_MONTH) return nl_langinfo_l(ABMON_1 + item - CHIME_LOCALE_SHORT_MONTH, locale);
  if (item >= CHIME_LOCALE_MONTH) return nl_langinfo_l(ALTMON_1 + item - CHIME_LOCALE_MONTH, locale);
  if (item >= CHIME_LOCALE_DAY) return nl_langinfo_l(ABDAY_1 + item - CHIME_LOCALE_DAY, locale);
  if (item == CHIME_LOCALE_DATE) return nl_langinfo_l(D_FMT, locale);
  if (item == CHIME_LOCALE_THOUSANDS) return nl_langinfo_l(THOUSEP, locale);
  return nl_langinfo_l(RADIXCHAR, locale);
}
