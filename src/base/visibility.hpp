// TW_SHARED: what libthalweg_mpi uses of libthalweg. No part of the API: both are always of one version.
#pragma once

#if defined(__GNUC__)
#define TW_SHARED __attribute__((visibility("default")))
#else
#define TW_SHARED
#endif
