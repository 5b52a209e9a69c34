// The program without MPI: it predicts and checks, and measures nothing.
#include "measuring.hpp"

namespace probe {

int measure(int /*argc*/, char** /*argv*/) {
  throw std::runtime_error(
      "this program was built without MPI and measures nothing; --predict predicts, and a thalweg-probe that was built "
      "with the MPI of your programs measures");
}

int on_ranks(const std::function<int(const thalweg::Group&)>& use) { return use(thalweg::Group::self()); }

}  // namespace probe
