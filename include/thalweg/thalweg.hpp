// Thalweg for C++17 and later: the C interface in types that clean up after themselves. Header only; includes neither
// mpi.h nor omp.h.
//
//     auto group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);       // collective
//     thalweg::Multifile file(group, "dump.tw", TW_CREATE);                  // collective
//     file.write(values);                                                    // independent; std::span, vector, array
//     file.close();                                                          // collective
//
// What each call means is said once, at the C call of the same name in group.h, multifile.h, file.h, view.h,
// request.h and vpfile.h; here stands what C++ adds. A failed call throws thalweg::Error. Collective calls fail alike
// on all tasks, so all of them throw.
//
// Threads: as for the C handles, one call at a time per object; objects of different tasks are independent. An
// exception must be caught inside the thread, or OpenMP region, that threw it.
#ifndef THALWEG_THALWEG_HPP
#define THALWEG_THALWEG_HPP

#include "base.hpp"
#include "file.hpp"
#include "multifile.hpp"
#include "open.hpp"
#include "request.hpp"
#include "thalweg.h"
#include "view.hpp"
#include "vpfile.hpp"

#endif
