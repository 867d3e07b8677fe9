#include "CIntl.h"
