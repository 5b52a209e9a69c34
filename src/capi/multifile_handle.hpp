// What the opaque handles of multifile.h are.
#pragma once

#include <memory>
#include <string>

#include "file/multifile.hpp"
#include "group/group.hpp"

struct tw_multifile_config {
  thalweg::Config config;
};

struct tw_multifile {
  std::shared_ptr<thalweg::Group> group;  // null: this task alone
  std::unique_ptr<thalweg::Multifile> file;
};
