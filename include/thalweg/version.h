/* Version of the headers and of the library. C11 and C++. */
#ifndef THALWEG_VERSION_H
#define THALWEG_VERSION_H

#include "export.h"

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 2
#define TW_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library linked at run time, as "0.2.0". Static text.
 * Call:     independent.
 * Threads:  any. */
TW_API const char* tw_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
