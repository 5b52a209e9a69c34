/* Views: which bytes of a shared file a task sees, and in which order. C11 and C++.
 *
 *     tw_view *element, *mine;   // this task is `rank` of py * px tasks
 *     const tw_distributed_dim dimensions[2] = {{ny, py, 64, TW_CYCLIC}, {nx, px, 64, TW_CYCLIC}};
 *     tw_view_contiguous(8, NULL, &element);                                    // a double
 *     tw_view_distributed(2, dimensions, rank, TW_ROW_MAJOR, element, &mine);   // block-cyclic, as in ScaLAPACK
 *     tw_file_set_view(file, 0, mine);                                          // by every task, its own
 *     tw_view_free(&mine);
 *     tw_view_free(&element);
 *     tw_file_write_view_all(file, memory, nbytes);                             // one call, all blocks
 *
 * For one block of an array of each task tw_file_write_array() of file.h needs no view.
 *
 * A view is a description, made of other views. It is never expanded: a view of 10^9 pieces takes no more memory than
 * its numbers, and an access takes memory only for the pieces that it touches itself. A view has `size` bytes, one
 * position after the other, and an `extent`: copies of it are laid so many bytes apart (which has nothing to do with
 * the tw_extent of file.h). Sizes, extents and all offsets are bytes, and below 2^63.
 *
 * `element` is what a view is made of; NULL stands for a byte. Counts, lengths, blocks and indices are numbers of
 * elements; strides, displacements and extents are bytes. (docs/design/views.md has the MPI datatype for each. Unlike
 * in MPI, an extent begins at 0, not at the first byte that is seen.)
 *
 * Order: a view is in file order when offsets rise with positions. Others are allowed, say for transposing while
 * reading. A view that has some byte twice can be made, and read through, but is no view of a file that is open for
 * writing: tw_file_set_view() returns TW_ERR_INVALID where the library finds it out. It does where that is cheap (equal
 * or overlapping blocks, more bytes than room), not where pieces interleave. A byte that is written twice all the same,
 * or by repeating a view with an extent that is too small, gets its value from either place.
 *
 * Unless a call says otherwise:
 *   Call       independent.
 *   Blocking   no.
 *   Threads    any number at once, also on the same views; a view is freed when no other call uses it.
 *   Ownership  arrays that are passed in are copied. A view that others are made of, or that files use, may be freed as
 *              soon as the call has returned that took it.
 *   view       [out] set only on success; freed by tw_view_free().
 *   Returns    TW_OK, TW_ERR_INVALID (`view` or an array is NULL, negative numbers, and what is said below),
 *              TW_ERR_RANGE (a size, extent or offset of 2^63 or more), TW_ERR_NO_MEMORY.
 *   Since      0.2. */
#ifndef THALWEG_VIEW_H
#define THALWEG_VIEW_H

#include <stdint.h>

#include "export.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_view tw_view; /* never changes; freed by tw_view_free() */

/* Makes a view of `count` elements, one behind the other. Its extent is count times that of the element. */
TW_API_STATUS tw_status tw_view_contiguous(int64_t count, const tw_view* element, tw_view** view);

/* Makes a view of `count` blocks of `block` elements; blocks begin `stride` bytes apart, >= 0. Its extent is
 * (count - 1) * stride + block * (extent of the element); 0 if it has no element. */
TW_API_STATUS tw_status tw_view_strided(int64_t count, int64_t block, int64_t stride, const tw_view* element,
                                        tw_view** view);

/* Makes a view of n blocks: block i has lengths[i] elements and begins at byte displacements[i], >= 0. It takes 16
 * bytes of memory for each block. Its extent is the highest end of a block that has elements, which is
 * displacements[i] + lengths[i] * (extent of the element); 0 if there is none. */
TW_API_STATUS tw_status tw_view_indexed(int64_t n, const int64_t* displacements, const int64_t* lengths,
                                        const tw_view* element, tw_view** view);

/* Makes a view of n blocks of different elements: block i has lengths[i] copies of elements[i] and begins at byte
 * displacements[i], >= 0. Positions follow the blocks as they are listed, in any order of displacements. Neighbours in
 * the list with one element, and those that are runs of bytes, take 16 bytes of memory for each block; others take some
 * 300 bytes. Its extent is the highest end of a block that has elements, which is displacements[i] + lengths[i] *
 * (extent of elements[i]); 0 if there is none.
 * elements   [in]  n of them; NULL only if n is 0. One that is NULL stands for a byte. */
TW_API_STATUS tw_status tw_view_struct(int64_t n, const int64_t* displacements, const int64_t* lengths,
                                       const tw_view* const* elements, tw_view** view);

typedef int32_t tw_array_order;
enum {
  TW_ROW_MAJOR = 0,   /* the last index changes fastest: C */
  TW_COLUMN_MAJOR = 1 /* the first index changes fastest: Fortran */
};

/* One dimension of a block of an array. */
typedef struct tw_slice {
  int64_t size;   /* number of indices of the array */
  int64_t start;  /* first index of the block */
  int64_t length; /* number of indices of the block */
} tw_slice;

/* Makes a view of a block of an array. Its extent is that of the whole array.
 * n          [in]  dimensions, 1 .. 1024.
 * slices     [in]  one for each dimension. TW_ROW_MAJOR: from the slowest to the fastest index. TW_COLUMN_MAJOR: from
 *            the fastest to the slowest, so that slices[0] is the fastest. TW_ERR_INVALID: the block is not inside of
 *            the array. */
TW_API_STATUS tw_status tw_view_subarray(int32_t n, const tw_slice* slices, tw_array_order order,
                                         const tw_view* element, tw_view** view);

typedef int32_t tw_distribution;
enum {
  TW_NOT_DISTRIBUTED = 0, /* every task has all indices; parts other than 1 are TW_ERR_INVALID */
  TW_BLOCK = 1,           /* one block each */
  TW_CYCLIC = 2           /* blocks are dealt in turn */
};

/* One dimension of an array that is dealt to a grid of tasks. */
typedef struct tw_distributed_dim {
  int64_t size;  /* number of indices of the array */
  int64_t parts; /* number of tasks that the grid has in this dimension, >= 1 */
  int64_t block; /* number of indices in a block; 0: TW_BLOCK as few as suffice, TW_CYCLIC 1 */
  tw_distribution distribution;
} tw_distributed_dim;

/* Makes a view of what task `rank` has of an array that is distributed to a grid of tasks as in High Performance
 * Fortran. Its extent is that of the whole array.
 * n           [in]  dimensions, 1 .. 1024.
 * dimensions  [in]  n of them, in the order of the slices of tw_view_subarray(). TW_ERR_INVALID: for TW_BLOCK, `parts`
 *             blocks of `block` indices are fewer than `size`.
 * rank        [in]  number in the grid, whose last dimension changes fastest whatever `order` the array has.
 *             TW_ERR_INVALID: the grid does not have it. */
TW_API_STATUS tw_status tw_view_distributed(int32_t n, const tw_distributed_dim* dimensions, int64_t rank,
                                            tw_array_order order, const tw_view* element, tw_view** view);

/* Makes a view of the bytes of another one, with another extent.
 * of         [in]  not NULL.
 * extent     [in]  >= 0. */
TW_API_STATUS tw_status tw_view_resized(const tw_view* of, int64_t extent, tw_view** view);

/* Frees the view and sets *view to NULL. NULL and the address of NULL do nothing. */
TW_API void tw_view_free(tw_view** view);
/* Bytes that are seen. 0 for NULL. */
TW_API int64_t tw_view_size(const tw_view* view);
/* How far apart copies are laid, in bytes. 0 for NULL. */
TW_API int64_t tw_view_extent(const tw_view* view);

#ifdef __cplusplus
}
#endif
#endif
