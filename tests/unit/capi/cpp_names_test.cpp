// C++ types of the public headers and types inside the library have different linker names, as a static library puts
// both into one program.
#include <gtest/gtest.h>

#include <typeinfo>

#include "access/view.hpp"
#include "group/group.hpp"
#include "multifile/multifile.hpp"

namespace {
using GroupInside = thalweg::Group;
using MultifileInside = thalweg::Multifile;
using ViewInside = thalweg::View;
}  // namespace

#include <thalweg/thalweg.hpp>

namespace {

TEST(CppNames, AreNotThoseOfTheTypesInside) {
  EXPECT_STRNE(typeid(GroupInside).name(), typeid(thalweg::v1::Group).name());
  EXPECT_STRNE(typeid(MultifileInside).name(), typeid(thalweg::v1::Multifile).name());
  EXPECT_STRNE(typeid(ViewInside).name(), typeid(thalweg::v1::View).name());
}

}  // namespace
