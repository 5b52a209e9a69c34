/* Error handling of the examples: prints tw_last_error() and exits. */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <thalweg/status.h>

static inline void check(tw_status status) {
  if (status == TW_OK) return;
  fprintf(stderr, "%s: %s\n", tw_status_name(status), tw_last_error());
  exit(1);
}

#endif
