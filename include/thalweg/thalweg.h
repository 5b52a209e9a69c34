/* Thalweg: parallel I/O for programs made of many tasks. Umbrella of the C headers; C11 and C++.
 *
 * Groups (group.h) say who takes part: one task, the threads of a team, MPI ranks (group_mpi.h), all threads of all
 * ranks. One shared file (file.h) is written and read by all of them together, also nonblocking (request.h) and through
 * views (view.h). The multifile (multifile.h) gives each task its own logical file inside few physical files. Every
 * call returns a tw_status (status.h); tw_last_error() says in words what went wrong. C++ programs may prefer
 * thalweg.hpp, which wraps the same calls in types that clean up. */
#ifndef THALWEG_THALWEG_H
#define THALWEG_THALWEG_H

#include "export.h"
#include "file.h"
#include "group.h"
#include "multifile.h"
#include "open.h"
#include "request.h"
#include "status.h"
#include "storage.h"
#include "version.h"
#include "view.h"
#include "vpfile.h"

#endif
