/* TW_API: marks what the library exports. TW_API_STATUS: what it exports and whose status must be looked at; a call
 * whose status does not matter is written tw_status_ignore(call), in status.h. C11 and C++. */
#ifndef THALWEG_EXPORT_H
#define THALWEG_EXPORT_H

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#if defined(__cplusplus)
#define TW_MUST_CHECK [[nodiscard]]
#elif defined(__GNUC__)
#define TW_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TW_MUST_CHECK
#endif
#define TW_API_STATUS TW_MUST_CHECK TW_API

#endif
