/* TW_API: marks what the library exports. C11 and C++. */
#ifndef THALWEG_EXPORT_H
#define THALWEG_EXPORT_H

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#endif
