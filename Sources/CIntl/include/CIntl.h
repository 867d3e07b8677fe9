// gettext, which is part of glibc (gettext(3), bindtextdomain(3)).
#pragma once
#include <libintl.h>
#include <locale.h>
#include <langinfo.h>
