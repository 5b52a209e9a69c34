// Sleeping barriers, a common start, and comparisons led by rank 0.
#include "collective/ranks.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "collective/storage.hpp"
#include "support/scratch.hpp"

namespace bench {

namespace {

// MPI's own wait spins.
void wait_asleep(MPI_Request& request) {
  for (int done = 0; done == 0;) {
    must_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) usleep(200);
  }
}

constexpr double kTimeToGather = 3e-3;  // by then the last rank has received the broadcast

// /proc/net/dev: eight numbers of what was received, then those of what was sent.
Traffic sent_by_node() {
  std::ifstream devices("/proc/self/net/dev");
  for (std::string word; devices >> word;) {
    if (word != "eth0:") continue;
    std::array<double, 10> numbers{};
    for (double& number : numbers) devices >> number;
    return {numbers[8], numbers[9]};
  }
  return {};
}

}  // namespace

void must_mpi(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  give_up(std::string(what) + ": " + text.data());
}

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all = text.data();
  const std::size_t digits = all.find_first_of("0123456789");
  const std::string version = all.substr(digits, all.find_first_not_of("0123456789.abrc", digits) - digits);
  if (all.rfind("MPICH", 0) == 0) return "MPICH " + version;
  if (all.rfind("Open MPI", 0) != 0) return all.substr(0, all.find('\n'));
  const char* io = std::getenv("OMPI_MCA_io");
  const bool romio = io != nullptr && std::string(io).rfind("romio", 0) == 0;
  return "Open MPI " + version + (romio ? " (ROMIO)" : " (OMPIO)");
}

Ranks::Ranks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  must_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int here = 0;
  MPI_Comm_rank(node, &here);
  leads_node_ = here == 0;
  const int leads = leads_node_ ? 1 : 0;
  must_mpi(MPI_Allreduce(&leads, &nodes_, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  MPI_Comm_free(&node);
}

void Ranks::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  wait_asleep(request);
}

double Ranks::largest(double value) const {
  double most = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Iallreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request), "MPI_Iallreduce");
  wait_asleep(request);
  return most;
}

double Ranks::told(double value) const {
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
  wait_asleep(request);
  return value;
}

std::string Ranks::told(const std::string& text) const {
  std::array<char, 4096> bytes{};
  if (text.size() >= bytes.size()) give_up("the text is too long for a broadcast");
  text.copy(bytes.data(), text.size());
  MPI_Request request = MPI_REQUEST_NULL;
  must_mpi(MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD, &request),
           "MPI_Ibcast");
  wait_asleep(request);
  return bytes.data();
}

std::vector<Traffic> Ranks::take_traffic() const {
  std::vector<Traffic> all = std::move(traffic_);
  traffic_.clear();
  if (!all.empty())
    must_mpi(
        MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(2 * all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
        "MPI_Allreduce");
  return all;
}

double Ranks::agreed_start() const {
  meet();
  const double start = told(now() + kTimeToGather);
  if (nodes_ > 1) before_ = sent_by_node();
  storage_is_slow(true);
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(start))));
  return start;
}

// Storage stays slow until the last rank is done, as other ranks may still transfer for it.
double Ranks::finished(double start) const {
  const double mine = now();
  if (nodes_ > 1) {
    const Traffic after = sent_by_node();
    traffic_.push_back(leads_node_ ? Traffic{after.bytes - before_.bytes, after.packets - before_.packets} : Traffic{});
  }
  const double end = largest(mine);
  storage_is_slow(false);
  return end - start;
}

Together::Together(const Ranks& ranks, const std::string& name, Amount amount, std::vector<std::string> phases)
    : ranks_(ranks), comparison_(name, std::move(amount), std::move(phases)) {}

void Together::add(const std::string& variant, const Comparison::Run& run) {
  const auto number = static_cast<double>(runs_.size());
  runs_.push_back(run);
  comparison_.add(variant, [this, number, run](int repetition) {
    ranks_.told(number);
    ranks_.told(repetition);
    return run(repetition);
  });
}

void Together::run(const Plan& plan) {
  constexpr double kEnd = -1;
  if (ranks_.first()) {
    comparison_.run(plan);
    ranks_.told(kEnd);
    return;
  }
  for (double number = ranks_.told(0.0); number != kEnd; number = ranks_.told(0.0))
    runs_.at(static_cast<std::size_t>(number))(static_cast<int>(ranks_.told(0.0)));
}

}  // namespace bench
