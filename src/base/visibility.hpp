// TW_SHARED: symbols of libthalweg that libthalweg_mpi uses. Not part of the API: both libraries have one version.
#pragma once

#if defined(__GNUC__)
#define TW_SHARED __attribute__((visibility("default")))
#else
#define TW_SHARED
#endif
