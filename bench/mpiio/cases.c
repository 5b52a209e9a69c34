/* Cases of MPI-IO, as programs write them: only mpi.h, so that one binary runs on the MPI's own MPI-IO and on
 * libthalweg_mpiio. Every byte is verified, outside of the times.
 *
 * Usage: cases CASE FILE EDGE REPETITIONS
 *   EDGE          of the array of coll_perf: EDGE^3 ints; all other sizes follow from it
 * With bench_delay.so of bench/collective preloaded the folder of FILE is slow storage: 1 GB/s for all ranks together, and
 * 100 microseconds for each call. Prints a line "NAME SECONDS" for each measured part and repetition, where SECONDS is the time of the slowest rank. The
 * repetitions write into one file; the first is not printed. Exit status: 0, or 1 where bytes are wrong. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <libgen.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "timing.h"

static int wrong;
static const char* path;
static int edge, repetitions;

static void must(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Processor time of this process, of all its threads. */
static double cpu_time(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static MPI_File open_file(int amode) {
  MPI_File file;
  must(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), "open");
  return file;
}

/* Values that differ by rank, place and repetition. */
static void fill(int* data, size_t n, int repetition) {
  for (size_t i = 0; i < n; ++i) data[i] = (int)(i * 2654435761u) ^ (rank * 40503 + repetition);
}

static void check(const int* data, size_t n, int repetition, const char* what) {
  for (size_t i = 0; i < n; ++i)
    if (data[i] != ((int)(i * 2654435761u) ^ (rank * 40503 + repetition))) {
      fprintf(stderr, "rank %d: %s: wrong at item %zu\n", rank, what, i);
      wrong = 1;
      return;
    }
}

static int* room(size_t n) {
  int* data = malloc(n * sizeof(int));
  if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(data, 0, n * sizeof(int));
  return data;
}

/* The block of a rank in an array of edge^3 ints that is distributed by blocks in three dimensions. */
static MPI_Datatype block_of_rank(size_t* n) {
  int grid[3] = {0, 0, 0}, sizes[3] = {edge, edge, edge};
  int kinds[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  int arguments[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type;
  MPI_Dims_create(ranks, 3, grid);
  MPI_Type_create_darray(ranks, rank, 3, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  *n = (size_t)bytes / sizeof(int);
  return type;
}

/* Every ranks-th block of `block` ints. */
static MPI_Datatype interleaved(int block, int count) {
  MPI_Datatype vector, type;
  MPI_Type_vector(count, block, block * ranks, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * block * ranks * count, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&vector);
  return type;
}

static void write_and_read_all(MPI_Datatype type, MPI_Offset displacement, size_t n) {
  int *data = room(n), *back = room(n);
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    fill(data, n, repetition);
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    must(MPI_File_set_view(file, displacement, MPI_INT, type, "native", MPI_INFO_NULL), "view");
    double began = begin();
    must(MPI_File_write_all(file, data, (int)n, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    end(began, "write", repetition);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    began = begin();
    must(MPI_File_read_all(file, back, (int)n, MPI_INT, MPI_STATUS_IGNORE), "read_all");
    end(began, "read", repetition);
    check(back, n, repetition, "read_all");
    MPI_File_close(&file);
  }
  free(data);
  free(back);
}

static void coll_perf(void) {
  size_t n = 0;
  MPI_Datatype type = block_of_rank(&n);
  write_and_read_all(type, 0, n);
  MPI_Type_free(&type);
}

static size_t share(void) { return (size_t)edge * edge * edge / (size_t)ranks / 1024 * 1024; }

static void interleaved_all(void) {
  const size_t n = share();
  MPI_Datatype type = interleaved(1024, (int)(n / 1024));
  write_and_read_all(type, (MPI_Offset)sizeof(int) * 1024 * rank, n);
  MPI_Type_free(&type);
}

static void contiguous(void) {
  const size_t n = share(), step = n < 262144 ? n : 262144;
  const MPI_Offset base = (MPI_Offset)(n * sizeof(int)) * rank;
  int *data = room(n), *back = room(n);
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    fill(data, n, repetition);
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    double began = begin();
    for (size_t i = 0; i < n; i += step)
      must(MPI_File_write_at(file, base + (MPI_Offset)(i * sizeof(int)), data + i, (int)(n - i < step ? n - i : step),
                             MPI_INT, MPI_STATUS_IGNORE),
           "write_at");
    end(began, "write", repetition);
    began = begin();
    for (size_t i = 0; i < n; i += step)
      must(MPI_File_read_at(file, base + (MPI_Offset)(i * sizeof(int)), back + i, (int)(n - i < step ? n - i : step),
                            MPI_INT, MPI_STATUS_IGNORE),
           "read_at");
    end(began, "read", repetition);
    check(back, n, repetition, "read_at");
    MPI_File_close(&file);
  }
  free(data);
  free(back);
}

/* Each rank alone reads every ranks-th row of 256 bytes. */
static void strided_reads(void) {
  const int block = 64;
  const size_t n = share();
  int *data = room(n), *back = room(n);
  MPI_Datatype type = interleaved(block, (int)(n / block));
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    fill(data, n, repetition);
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    must(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * block * rank, MPI_INT, type, "native", MPI_INFO_NULL),
         "view");
    must(MPI_File_write_all(file, data, (int)n, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    double began = begin();
    must(MPI_File_read_at(file, 0, back, (int)n, MPI_INT, MPI_STATUS_IGNORE), "read_at");
    end(began, "read", repetition);
    check(back, n, repetition, "strided read");
    MPI_File_close(&file);
  }
  MPI_Type_free(&type);
  free(data);
  free(back);
}

static void open_close(void) {
  const int each = 50;
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    double began = begin();
    for (int i = 0; i < each; ++i) {
      MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
      MPI_File_close(&file);
    }
    end(began, "open_close", repetition);
  }
}

/* Records of 64 bytes, by the shared pointer; each must be in the file whole. */
static void check_records(int n, int first_word) {
  int* all = room((size_t)n * ranks * 16);
  char* seen = calloc((size_t)n * ranks, 1);
  MPI_File file = open_file(MPI_MODE_RDONLY);
  must(MPI_File_read_at(file, 0, all, n * ranks * 16, MPI_INT, MPI_STATUS_IGNORE), "read_at");
  MPI_File_close(&file);
  for (int i = 0; i < n * ranks; ++i) {
    const int number = all[i * 16] - first_word;
    if (number < 0 || number >= n * ranks || seen[number] || all[i * 16 + 15] != all[i * 16]) {
      fprintf(stderr, "rank %d: record %d is wrong\n", rank, i);
      wrong = 1;
      break;
    }
    seen[number] = 1;
  }
  free(all);
  free(seen);
}

static void shared(int ordered) {
  const int n = ordered ? 200 : 2000;
  int record[16] = {0};
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_size(file, 0);
    double began = begin();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < 16; ++k) record[k] = repetition * 1000000 + rank * n + i;
      if (ordered)
        must(MPI_File_write_ordered(file, record, 16, MPI_INT, MPI_STATUS_IGNORE), "write_ordered");
      else
        must(MPI_File_write_shared(file, record, 16, MPI_INT, MPI_STATUS_IGNORE), "write_shared");
    }
    end(began, ordered ? "write_ordered" : "write_shared", repetition);
    MPI_File_close(&file);
    check_records(n, repetition * 1000000);
  }
}

/* Computes for about `seconds`, without a call of MPI. */
static double compute(double seconds) {
  double sum = 0;
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until)
    for (int i = 0; i < 10000; ++i) sum += 1.0 / (i + 1.5);
  return sum;
}

/* A nonblocking collective access alone, and while the program computes for as long. The processor time of the access
 * alone is what computing on all cores cannot hide. */
static void overlap(int strided) {
  size_t n = share();
  MPI_Datatype type = MPI_INT;
  if (strided) type = block_of_rank(&n);
  const MPI_Offset first = strided ? 0 : (MPI_Offset)(n * sizeof(int)) * rank;
  int *data = room(n), *back = room(n);
  double alone[2] = {0, 0}, sum = 0;
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    fill(data, n, repetition);
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    must(MPI_File_set_view(file, first, MPI_INT, type, "native", MPI_INFO_NULL), "view");
    for (int reads = 0; reads < 2; ++reads)
      for (int computes = 0; computes < 2; ++computes) {
        MPI_Request request;
        double began = begin(), used = cpu_time();
        must(reads ? MPI_File_iread_at_all(file, 0, back, (int)n, MPI_INT, &request)
                   : MPI_File_iwrite_at_all(file, 0, data, (int)n, MPI_INT, &request),
             "start");
        if (computes) sum += compute(alone[reads]);
        must(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
        if (!computes) {
          used = cpu_time() - used;
          MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &used, &used, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
          if (rank == 0 && repetition > 0) printf("%s %.9f\n", reads ? "read_cpu" : "write_cpu", used);
          alone[reads] = MPI_Wtime() - began;
          MPI_Bcast(&alone[reads], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
        end(began, reads ? (computes ? "read_both" : "read_alone") : (computes ? "write_both" : "write_alone"),
            repetition);
      }
    check(back, n, repetition, "iread_at_all");
    MPI_File_close(&file);
  }
  if (sum < 0) printf("%f\n", sum);
  if (strided) MPI_Type_free(&type);
  free(data);
  free(back);
}

/* 16 strided accesses of each rank alone, one after the other and outstanding together. */
static void outstanding(void) {
  enum { kMost = 16 };
  const int block = 1024;
  const size_t n = share() / kMost / (size_t)block * (size_t)block;
  int *data = room(n * kMost), *back = room(n * kMost);
  MPI_Datatype type = interleaved(block, (int)(n / (size_t)block) * kMost);
  MPI_Request requests[kMost];
  MPI_Status statuses[kMost];
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    fill(data, n * kMost, repetition);
    MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    must(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * block * rank, MPI_INT, type, "native", MPI_INFO_NULL),
         "view");
    for (int reads = 0; reads < 2; ++reads) {
      int* memory = reads ? back : data;
      double began = begin();
      for (int i = 0; i < kMost; ++i)
        must(reads ? MPI_File_read_at(file, (MPI_Offset)(n * i), memory + n * i, (int)n, MPI_INT, MPI_STATUS_IGNORE)
                   : MPI_File_write_at(file, (MPI_Offset)(n * i), memory + n * i, (int)n, MPI_INT, MPI_STATUS_IGNORE),
             "blocking");
      end(began, reads ? "read_blocking" : "write_blocking", repetition);
      if (reads) check(back, n * kMost, repetition, "read_at");
      began = begin();
      for (int i = 0; i < kMost; ++i)
        must(reads ? MPI_File_iread_at(file, (MPI_Offset)(n * i), memory + n * i, (int)n, MPI_INT, &requests[i])
                   : MPI_File_iwrite_at(file, (MPI_Offset)(n * i), memory + n * i, (int)n, MPI_INT, &requests[i]),
             "outstanding");
      must(MPI_Waitall(kMost, requests, statuses), "waitall");
      end(began, reads ? "read_outstanding" : "write_outstanding", repetition);
    }
    check(back, n * kMost, repetition, "outstanding");
    MPI_File_close(&file);
  }
  MPI_Type_free(&type);
  free(data);
  free(back);
}

/* Turns the emulator of slow storage on where it is loaded (bench/collective/delay.hpp). */
static void slow_down(const char* file) {
  const int64_t storage[2] = {1000000000, 100000}; /* bytes per second, nanoseconds */
  int (*slow)(const char*, const int64_t*) = NULL;
  void (*turn)(int) = NULL;
  *(void**)&slow = dlsym(RTLD_DEFAULT, "tw_bench_delay_begin");
  *(void**)&turn = dlsym(RTLD_DEFAULT, "tw_bench_delay_switch");
  char* folder = strdup(file);
  char* whole = realpath(dirname(folder), NULL);
  if (slow != NULL && turn != NULL && whole != NULL) {
    if (slow(whole, storage) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    turn(1);
  }
  free(whole);
  free(folder);
}

static void overlap_strided(void) { overlap(1); }
static void overlap_contiguous(void) { overlap(0); }
static void shared_records(void) { shared(0); }
static void ordered_records(void) { shared(1); }

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"coll_perf", coll_perf},         {"interleaved", interleaved_all}, {"contiguous", contiguous},
      {"strided_reads", strided_reads}, {"open_close", open_close},       {"shared", shared_records},
      {"ordered", ordered_records},     {"overlap", overlap_strided},     {"overlap_contiguous", overlap_contiguous},
      {"outstanding", outstanding}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) {
    if (rank == 0) fprintf(stderr, "usage: cases CASE FILE EDGE REPETITIONS\n");
    MPI_Finalize();
    return 2;
  }
  path = argv[2];
  slow_down(path);
  edge = atoi(argv[3]);
  repetitions = atoi(argv[4]);
  int known = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (strcmp(cases[i].name, argv[1]) == 0) {
      known = 1;
      cases[i].run();
    }
  int any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Finalize();
  return !known ? 2 : any;
}
