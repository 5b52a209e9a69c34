/* Views: which bytes of a shared file a task sees, and in which order. C11 and C++.
 *
 *     tw_view *element, *block;
 *     tw_view_contiguous(8, NULL, &element);                        // a double
 *     tw_view_subarray(3, slices, TW_ROW_MAJOR, element, &block);   // my block of the array
 *     tw_file_set_view(file, 0, block);                             // by every task, its own
 *     tw_file_write_view_all(file, mine, nbytes);                        // one call, all rows
 *
 * A view is a description, made of other views; it is never expanded, so that one of 10^9 pieces takes no more memory
 * than its numbers, and an access takes memory only for the pieces that it touches itself. A view has `size` bytes, one
 * position after the other, and an `extent`: copies of it are laid so many bytes apart. Sizes, extents and all offsets
 * are below 2^63.
 *
 * `element` is what a view is made of; NULL stands for a byte. The makers of arrays and lists count in elements, but
 * strides and displacements are bytes. (docs/design/views.md has the MPI datatype for each. Unlike in MPI, an extent
 * begins at 0, not at the first byte that is seen.)
 *
 * Order: a view is in file order when offsets rise with positions. Others are allowed, say for transposing while
 * reading. A view that has some byte twice can be made, and read through, but is no view of a file that is open for
 * writing; this is found out where it is cheap (equal or overlapping blocks, more bytes than room), not where pieces
 * interleave. What is written twice all the same, or by repeating a view with an extent that is too small, is there
 * once, from either place.
 *
 * All makers: Call: independent. Blocking: no. Threads: any number at once, also on the same views. What is given is
 * copied; views that others are made of, or files use, may be freed at once.
 * view [out] set only on success; freed by tw_view_free().
 * Return TW_OK, TW_ERR_INVALID (NULL, negative numbers, what is said below), TW_ERR_RANGE (a size, extent or offset of
 * 2^63 or more), TW_ERR_NO_MEMORY. All since 0.2. */
#ifndef THALWEG_VIEW_H
#define THALWEG_VIEW_H

#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_view tw_view; /* never changes; freed by tw_view_free() */

/* `count` elements, one behind the other. */
TW_API tw_status tw_view_contiguous(int64_t count, const tw_view* element, tw_view** view);

/* `count` blocks of `block` elements; blocks begin `stride` bytes apart, >= 0. */
TW_API tw_status tw_view_strided(int64_t count, int64_t block, int64_t stride, const tw_view* element, tw_view** view);

/* n blocks: block i has lengths[i] elements and begins at byte displacements[i], >= 0. Memory: 16 bytes for each. */
TW_API tw_status tw_view_indexed(int64_t n, const int64_t* displacements, const int64_t* lengths,
                                 const tw_view* element, tw_view** view);

typedef int32_t tw_array_order;
enum {
  TW_ROW_MAJOR = 0,   /* the last index changes fastest: C */
  TW_COLUMN_MAJOR = 1 /* the first index changes fastest: Fortran */
};

/* One dimension of a block of an array. */
typedef struct tw_slice {
  int64_t size;   /* indices of the array */
  int64_t start;  /* first one of the block */
  int64_t length; /* so many are in the block */
} tw_slice;

/* A block of an array of n >= 1 dimensions, from the slowest to the fastest in TW_ROW_MAJOR order. The extent is that
 * of the whole array. TW_ERR_INVALID: a block that is not inside of the array. */
TW_API tw_status tw_view_subarray(int32_t n, const tw_slice* slices, tw_array_order order, const tw_view* element,
                                  tw_view** view);

typedef int32_t tw_distribution;
enum {
  TW_NOT_DISTRIBUTED = 0, /* every task has all indices; parts is 1 */
  TW_BLOCK = 1,           /* one block each */
  TW_CYCLIC = 2           /* blocks are dealt in turn */
};

/* One dimension of an array that is dealt to a grid of tasks. */
typedef struct tw_dimension {
  int64_t size;  /* indices of the array */
  int64_t parts; /* of the grid, >= 1 */
  int64_t block; /* indices in a block; 0: TW_BLOCK as few as suffice, TW_CYCLIC 1 */
  tw_distribution distribution;
} tw_dimension;

/* What task `rank` has of an array of n >= 1 dimensions that is distributed to a grid of tasks as in High Performance
 * Fortran. In the grid the last dimension changes fastest, whatever `order` the array has. The extent is that of the
 * whole array. TW_ERR_INVALID: a rank that the grid does not have, blocks that do not suffice for TW_BLOCK. */
TW_API tw_status tw_view_distributed(int32_t n, const tw_dimension* dimensions, int64_t rank, tw_array_order order,
                                     const tw_view* element, tw_view** view);

/* The same bytes with another extent, >= 0. `of`: not NULL. */
TW_API tw_status tw_view_resized(const tw_view* of, int64_t extent, tw_view** view);

/* NULL does nothing. */
TW_API void tw_view_free(tw_view* view);
/* Bytes that are seen; how far apart copies are laid. 0 for NULL. */
TW_API int64_t tw_view_size(const tw_view* view);
TW_API int64_t tw_view_extent(const tw_view* view);

#ifdef __cplusplus
}
#endif
#endif
