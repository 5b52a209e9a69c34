// Restart on any number of tasks: each one reads the parts of its strip from the logical files that contain them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

#include "model.hpp"

namespace grayscott {

// Content of a checkpoint file, determined before cells are read.
struct Catalogue {
  std::int64_t size = 0;   // columns, and rows, of the square
  std::int64_t step = -1;  // the newest complete step of all logical files; -1: none
  std::vector<Box> boxes;  // by logical file
};

// Reads the headers: each rank those of the logical files that its handle serves. Collective over `ranks`, the
// communicator of the open.
Catalogue read_catalogue(MPI_Comm ranks, thalweg::Multifile& file);

// Fills `strip` of the fields from all logical files that overlap it. Collective over the group.
void read_strip(const thalweg::Group& group, const std::string& path, const Catalogue& catalogue, const Box& strip,
                Fields& fields);

}  // namespace grayscott
