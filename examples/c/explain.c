/* How 8 processes would write interleaved blocks of 4 KiB to a file here, and why: what the library knows of this
 * storage, and the plan that its cost model chooses. Nothing is written.
 *     example_c_explain field.dat */
#include <stdio.h>
#include <thalweg/thalweg.h>

#include "check.h"

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "field.dat";
  tw_access_pattern access = {.struct_size = sizeof access, .direction = TW_ACCESS_WRITE, .tasks = 8, .processes = 8};
  access.extents = 1024; /* of each task */
  access.length = 4096;
  access.stride = 8 * access.length;
  char text[4096];
  check(tw_storage_explain(path, NULL, &access, text, sizeof text));
  puts(text);
  return 0;
}
