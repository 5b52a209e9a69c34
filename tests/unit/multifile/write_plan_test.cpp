// The plan that task 0 makes of all requests: no request is lost, each task gets its own share, and invalid requests
// are refused before any file is touched.
#include "multifile/write_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/endian.hpp"
#include "multifile/write/create_files.hpp"
#include "support/campaign/random.hpp"

namespace thalweg::test {
namespace {

Gathered gathered(const std::vector<WriteRequest>& requests) {
  Gathered all;
  for (std::size_t task = 0; task < requests.size(); ++task) {
    const Bytes bytes = encode(requests[task], task, requests.size());
    all.begin.push_back(all.data.size());
    all.data.insert(all.data.end(), bytes.begin(), bytes.end());
  }
  all.begin.push_back(all.data.size());
  return all;
}

WritePlanInput input_of(const WriteRequests& requests, std::uint64_t free_bytes = std::uint64_t{1} << 50) {
  StorageInfo storage;
  storage.free_bytes = free_bytes;
  return {requests, {}, {}, storage};
}

Status plan_on(std::uint64_t free_bytes, std::uint64_t n_logical, std::uint64_t served) {
  WriteRequest request;
  request.n_logical = n_logical;
  request.ranges = {{0, served}};
  const WriteRequests requests = WriteRequests::decode(gathered({request})).value();
  return plan_create(input_of(requests, free_bytes)).status();
}

constexpr std::uint64_t kMany = std::uint64_t{1} << 40;

TEST(WritePlan, AnIndexThatTheFreeSpaceCannotHoldIsRefused) {
  EXPECT_TRUE(plan_on(40'000, 1000, 1000).ok()) << plan_on(40'000, 1000, 1000).message();
  EXPECT_TRUE(plan_on(48, 1000, 1).ok()) << "of what nobody serves nothing is stored";
  const Status refused = plan_on(39'999, 1000, 1000);
  EXPECT_EQ(refused.code(), Code::no_space);
  for (const char* told : {"1000 logical files", "40000 bytes", "39999 bytes free"})
    EXPECT_NE(refused.message().find(told), std::string::npos) << refused.message();
  EXPECT_EQ(plan_on(kMany, kMany, kMany).code(), Code::no_space);
  EXPECT_EQ(plan_on(kMany, kMany, 1).code(), Code::ok);
}

struct Chosen {
  std::uint32_t files;
  std::string why;
};
// Plans a multifile of `nodes` nodes with `tasks` tasks each; the first `n_logical` tasks have a logical file each.
Chosen choose(std::int64_t nodes, std::int64_t tasks, std::uint64_t n_logical, const std::string& kind, bool is_network,
              StripeLayout stripes = {}) {
  std::vector<WriteRequest> all(static_cast<std::size_t>(nodes * tasks));
  for (std::size_t task = 0; task < all.size(); ++task) {
    all[task].n_logical = n_logical;
    all[task].process = static_cast<std::int64_t>(task);
    all[task].node = static_cast<std::int64_t>(task) / tasks;
    if (task < n_logical) all[task].ranges = {{task, 1}};
  }
  const WriteRequests requests = WriteRequests::decode(gathered(all)).value();
  WritePlanInput input = input_of(requests);
  input.storage.kind = kind;
  input.storage.is_network = is_network;
  input.storage.stripes = std::move(stripes);
  const WritePlan plan = plan_create(input).value();
  EXPECT_EQ(plan.common.header.n_physical, 1u) << "the others are made when they are needed";
  return {plan.common.header.n_later + 1, plan.common.strategy.substr(0, plan.common.strategy.find(';'))};
}

TEST(WritePlan, FewPhysicalFilesAreTheDefault) {
  const struct {
    std::int64_t nodes, tasks;
    std::uint64_t n_logical;
    std::uint32_t local, network;
    const char *why_local, *why_network;
  } cases[] = {{1, 1, 1, 1, 1, "(one writer)", "(one writer)"},
               {1, 3, 3, 3, 1, "(one per task)", "(1 per node on nfs, 1 node)"},
               {1, 8, 2, 2, 1, "(one per logical file)", "(1 per node on nfs, 1 node)"},
               {1, 64, 64, 4, 1, "(4 per node on ext4, 1 node)", "(1 per node on nfs, 1 node)"},
               {64, 128, 8192, 256, 64, "(4 per node on ext4, 64 nodes)", "(1 per node on nfs, 64 nodes)"},
               {8, 1, 8, 8, 8, "(one per task)", "(one per task)"},
               {5000, 2, 10000, 4096, 4096, "(at most 4096)", "(at most 4096)"}};
  for (const auto& one : cases) {
    const Chosen local = choose(one.nodes, one.tasks, one.n_logical, "ext4", false);
    const Chosen network = choose(one.nodes, one.tasks, one.n_logical, "nfs", true);
    EXPECT_EQ(local.files, one.local) << one.nodes;
    EXPECT_EQ(network.files, one.network) << one.nodes;
    EXPECT_NE(local.why.find(one.why_local), std::string::npos) << local.why;
    EXPECT_NE(network.why.find(one.why_network), std::string::npos) << network.why;
  }
}

TEST(WritePlan, EachNodeHasATarget) {
  const struct {
    std::int64_t nodes;
    std::uint32_t targets, files;
    const char* why;
  } cases[] = {{64, 1, 64, "(1 per node on lustre, 64 nodes)"},
               {64, 12, 6, "(each over 12 targets, 64 nodes)"},
               {8, 12, 1, "(each over 12 targets, 8 nodes)"},
               {9, 4, 3, "(each over 4 targets, 9 nodes)"}};
  for (const auto& one : cases) {
    const Chosen chosen =
        choose(one.nodes, 16, static_cast<std::uint64_t>(one.nodes) * 16, "lustre", true, {1 << 20, one.targets});
    EXPECT_EQ(chosen.files, one.files) << one.nodes << " nodes, " << one.targets << " targets";
    EXPECT_NE(chosen.why.find(one.why), std::string::npos) << chosen.why;
  }
}

// Domains of a later physical file, by process.
using LaterDomains = std::map<std::pair<std::uint32_t, std::int64_t>, format::SlabLayout>;

// Each task has space in one physical file beside the first one, or in none; each process in a row of its own.
void expect_later(const WritePlan& plan, const WriteRequest& request, const WriteShare& share, LaterDomains& all) {
  if (!share.later) return;
  const format::SessionPage& session = plan.files[0].session;
  EXPECT_GE(share.later->physical, 1u);
  EXPECT_LE(share.later->physical, plan.common.header.n_later);
  EXPECT_EQ(share.later->session, session.session);
  const format::SlabLayout& layout = share.later->layout;
  EXPECT_EQ(layout.data_start, session.later_start);
  EXPECT_EQ(layout.domain_bytes, session.later_bytes);
  EXPECT_EQ(layout.round_bytes, session.later_bytes * session.later_domains);
  EXPECT_LE(layout.domain_prefix + layout.domain_bytes, layout.round_bytes);
  const auto [own, fresh] = all.try_emplace({share.later->physical, request.process}, layout);
  EXPECT_EQ(own->second.domain_prefix, layout.domain_prefix) << "the tasks of a process share a domain";
}

void expect_apart(const LaterDomains& all) {
  std::set<std::pair<std::uint32_t, std::uint64_t>> taken;
  for (const auto& [key, layout] : all)
    EXPECT_TRUE(taken.emplace(key.first, layout.domain_prefix).second) << "two processes have one slab";
}

// Every task is a process and serves one logical file.
std::vector<WriteRequest> alike(std::size_t tasks) {
  std::vector<WriteRequest> all(tasks);
  for (std::size_t task = 0; task < tasks; ++task) {
    all[task].n_logical = tasks;
    all[task].process = static_cast<std::int64_t>(task);
    all[task].node = static_cast<std::int64_t>(task / 4);
    all[task].ranges = {{task, 1}};
  }
  return all;
}

TEST(WritePlan, BlocksAreReservedOnExt4) {
  for (const char* kind : {"ext4", "xfs", "tmpfs", "nfs"}) {
    const WriteRequests requests = WriteRequests::decode(gathered(alike(2))).value();
    WritePlanInput input = input_of(requests);
    input.storage.kind = kind;
    const WritePlan plan = plan_create(input).value();
    const bool is_ext4 = input.storage.kind == "ext4";
    EXPECT_EQ(plan.common.reserves, is_ext4) << kind;
    EXPECT_EQ(plan.common.strategy.find("buffered writes into reserved blocks (ext4);") != std::string::npos, is_ext4);
  }
}

// Eight ranks of 300 KB each in one physical file once showed 88 MB in `ls -l`.
TEST(WritePlan, LittleDataMakeASmallFile) {
  std::vector<WriteRequest> all = alike(8);
  const auto round_bytes = [&] {
    const WriteRequests requests = WriteRequests::decode(gathered(all)).value();
    WritePlanInput input = input_of(requests);
    input.options.physical_files = 1;
    return plan_create(input).value().files[0].session.round_bytes;
  };
  EXPECT_LE(round_bytes(), 8 * std::uint64_t{656 << 10});
  all[0].chunk_bytes = 8 << 20;
  EXPECT_GE(round_bytes(), 8 * std::uint64_t{8 << 20}) << "the slabs of all are alike, as a round has one of each";
  for (WriteRequest& request : all) request.chunk_bytes = 8 << 20;
  EXPECT_GE(round_bytes(), 8 * std::uint64_t{8 << 20}) << "what was asked for lies in one piece";
}

// Bytes of the slabs of round 0, which begin on stripes; 0: they do not.
std::uint64_t slab_of(const WritePlan& plan, std::uint64_t stripe) {
  const format::SessionPage& session = plan.files[0].session;
  const std::uint64_t bytes = plan.domains[0].bytes;
  const bool later = session.later_bytes % stripe == 0 && session.later_start % stripe == 0;
  return session.data_start % stripe == 0 && bytes % stripe == 0 && later ? bytes : 0;
}

TEST(WritePlan, SlabsAreWholeStripes) {
  const WriteRequests requests = WriteRequests::decode(gathered(alike(8))).value();
  WritePlanInput input = input_of(requests);
  input.storage.kind = "lustre";
  const struct {
    StripeLayout stripes;
    const char* hints;
    std::uint64_t stripe, slab;
  } cases[] = {{{1 << 20, 4}, "", 1 << 20, 1 << 20},
               {{1 << 18, 12}, "", 1 << 18, 5 << 18},  // 3 and 4 stripes would lie on 4 and 3 of the 12 targets
               {{1 << 18, 8}, "", 1 << 18, 3 << 18},
               {{1 << 18, 0}, "", 1 << 18, 7 << 18},
               {{3 << 20, 2}, "", 3 << 20, 3 << 20},  // no power of two
               {{1 << 20, 4}, "striping_unit=4MiB", 4 << 20, 4 << 20},
               {{}, "striping_unit=512KiB,striping_factor=4", 1 << 19, 3 << 19}};
  for (const auto& one : cases) {
    input.storage.stripes = one.stripes;
    input.options.storage_hints = one.hints;
    const WritePlan plan = plan_create(input).value();
    EXPECT_EQ(slab_of(plan, one.stripe), one.slab) << one.stripe << " '" << one.hints << "'";
    EXPECT_EQ(plan.common.header.alignment, 4096u);
  }
}

TEST(WritePlan, SlabsAreNotWholeStripesWhereThatTakesTooMuch) {
  const WriteRequests requests = WriteRequests::decode(gathered(alike(8192))).value();
  WritePlanInput input = input_of(requests);
  input.options.physical_files = 1;
  input.storage.stripes = {64 << 20, 4};
  EXPECT_EQ(plan_create(input).value().domains[0].bytes, std::uint64_t{656} << 10);
  input.storage.stripes = {128 << 20, 4};  // the format has no such gap in front of the slabs
  EXPECT_EQ(plan_create(input).value().common.header.alignment, 4096u);
  input.storage.stripes = {1 << 20, 4};
  input.options.alignment_bytes = 2 << 20;
  EXPECT_EQ(plan_create(input).value().common.header.alignment, 2u << 20) << "as asked for";
}

// Threads of processes on nodes of any size; the ranks are dealt in pieces to any task, and some are served by none.
std::vector<WriteRequest> unlike(std::uint64_t seed) {
  Random random(seed);
  std::vector<WriteRequest> all(1 + random() % 40);
  const bool in_order = random() % 3 == 0;
  const std::uint64_t n_logical = random() % 1000;
  for (std::size_t task = 0; task < all.size(); ++task) {
    WriteRequest& request = all[task];
    request.arguments = 0xFFFFFFFF;
    request.n_logical = n_logical;
    request.chunk_bytes = random() % 2 == 0 ? kAuto : random() % (64 << 20);
    request.process = task == 0 ? 0 : all[task - 1].process + static_cast<std::int64_t>(random() % 3 == 0);
    request.node = request.process / 2;
  }
  for (std::uint64_t rank = 0; rank < n_logical;) {
    const std::uint64_t count = std::min(n_logical - rank, 1 + random() % 50);
    const std::size_t task = in_order ? rank * all.size() / n_logical : random() % all.size();
    if (random() % 5 > 0) all[task].ranges.push_back({rank, count});
    rank += count;
  }
  for (WriteRequest& request : all)
    if (random() % 2 == 0) std::reverse(request.ranges.begin(), request.ranges.end());
  return all;
}

void expect_same_ranges(std::span<const RankRange> got, const std::vector<RankRange>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].first, wanted[i].first);
    EXPECT_EQ(got[i].count, wanted[i].count);
  }
}

TEST(WritePlan, TaskZeroHearsWhatEachTaskAsksFor) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<WriteRequest> told = unlike(seed);
    const WriteRequests heard = WriteRequests::decode(gathered(told)).value();

    ASSERT_EQ(heard.tasks(), told.size());
    EXPECT_EQ(heard.n_logical(), told[0].n_logical);
    std::int64_t last_node = 0;
    std::size_t task = 0;
    heard.for_each([&](std::size_t number, const WriteRequest& asked) {
      EXPECT_EQ(number, task);
      EXPECT_EQ(asked.process, told[task].process);
      EXPECT_EQ(asked.chunk_bytes, told[task].chunk_bytes);
      expect_same_ranges(asked.ranges, told[task].ranges);
      last_node = told[task++].node;
    });
    EXPECT_EQ(task, told.size());
    EXPECT_EQ(heard.nodes(), last_node + 1);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// Slab bytes of the domains as recorded in the physical file.
std::vector<std::uint64_t> domain_table(const WritePlan& plan, const PlannedFile& part) {
  const std::vector<std::byte> front = encode_session_front(plan, part);
  const std::vector<std::byte> table =
      format::parse_section(ByteView(front).subspan(format::kPageBytes), format::SectionKind::domains,
                            part.session.n_domains, 8, part.header.id, part.session.domains_offset)
          .value();
  std::vector<std::uint64_t> bytes;
  for (std::uint64_t i = 0; i < part.session.n_domains; ++i)
    bytes.push_back(load_le<std::uint64_t>(ByteView(table).subspan(i * 8)));
  return bytes;
}

// Domains of each process in each physical file, computed from the shares of its tasks.
using Owned = std::map<std::pair<std::uint32_t, std::int64_t>, format::SlabLayout>;

void expect_placed_ranges(const WritePlan& plan, const WriteRequest& request, const WriteShare& share) {
  std::vector<PlacedRange> wanted;
  for (const RankRange& range : request.ranges)
    plan.ranks.for_each_placed(range, [&](const PlacedRange& s) { wanted.push_back(s); });
  ASSERT_EQ(share.ranges.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(share.ranges[i].first, wanted[i].first);
    EXPECT_EQ(share.ranges[i].count, wanted[i].count);
    EXPECT_EQ(share.ranges[i].local, wanted[i].local);
    EXPECT_EQ(share.ranges[i].physical, wanted[i].physical);
  }
}

void note_domains(const WritePlan& plan, std::int64_t process, const WriteShare& share, Owned& owned) {
  std::set<std::uint64_t> physical;
  for (const PlacedRange& s : share.ranges) physical.insert(s.physical);
  if (physical.empty()) physical.insert(share.home);  // a task that serves nothing may add logical files
  EXPECT_EQ(physical.count(share.home), 1u);
  ASSERT_EQ(share.domains.size(), physical.size());
  for (const DomainShare& domain : share.domains) {
    EXPECT_EQ(physical.count(domain.physical), 1u);
    const format::SessionPage& session = plan.files[domain.physical].session;
    EXPECT_EQ(domain.session, session.session);
    EXPECT_EQ(domain.layout.data_start, session.data_start);
    EXPECT_EQ(domain.layout.round_bytes, session.round_bytes);
    EXPECT_EQ(domain.layout.rounds_per_doubling, session.rounds_per_doubling);
    EXPECT_EQ(domain.layout.most_doublings, session.most_doublings);
    const auto [entry, first] = owned.try_emplace({domain.physical, process}, domain.layout);
    EXPECT_EQ(entry->second.domain_prefix, domain.layout.domain_prefix);
    EXPECT_EQ(entry->second.domain_bytes, domain.layout.domain_bytes);
  }
}

// The domains are in order of processes, adjacent, and equal to the table in the file; task 0's process is among them.
void expect_domains(const WritePlan& plan, const Owned& owned) {
  for (const PlannedFile& part : plan.files) {
    const std::uint32_t k = part.header.id.physical;
    const std::vector<std::uint64_t> table = domain_table(plan, part);
    std::set<std::pair<std::uint64_t, std::uint64_t>> places;  // prefix and bytes from the table
    std::uint64_t end = 0;
    for (const std::uint64_t bytes : table) {
      places.emplace(end, bytes);
      end += bytes;
    }
    EXPECT_EQ(part.session.round_bytes, end);
    std::size_t here = 0;
    std::uint64_t last_end = 0;
    for (const auto& [key, layout] : owned) {
      if (key.first != k) continue;
      ++here;
      EXPECT_EQ(places.count({layout.domain_prefix, layout.domain_bytes}), 1u);
      EXPECT_GE(layout.domain_prefix, last_end);
      last_end = layout.domain_prefix + layout.domain_bytes;
    }
    EXPECT_TRUE(table.size() == here || (table.size() == here + 1 && owned.count({k, 0}) == 0));
    EXPECT_TRUE(table.size() == 1 || domain_share(plan, k, 0).has_value());
  }
}

void expect_right_shares(const std::vector<WriteRequest>& told, const WritePlanInput& input) {
  const WritePlan plan = plan_create(input).value();
  const Gathered shares = encode_shares(plan, input.requests);
  ASSERT_EQ(shares.parts(), told.size());
  WireWriter message;
  put_common(message, plan.common);
  WireReader in(message.bytes());
  const WriteCommon common = get_common(in);
  Owned owned;
  LaterDomains later;
  for (std::size_t task = 0; task < told.size(); ++task) {
    const WriteShare share = decode_share(shares.part(task), common, told[task].ranges, task, told.size());
    expect_placed_ranges(plan, told[task], share);
    expect_later(plan, told[task], share, later);
    note_domains(plan, told[task].process, share, owned);
  }
  expect_domains(plan, owned);
  expect_apart(later);
}

// 64 threads of one process, and 64 nodes of 128 ranks: all files are used, by as many tasks each.
TEST(WritePlan, TasksAreDealtEvenlyToTheLaterFiles) {
  const struct {
    std::int64_t nodes, ranks, threads;
    std::uint32_t files;
    std::uint64_t first_bytes;  // of a task
  } cases[] = {{1, 1, 64, 4, (4 << 20) / 64}, {64, 128, 1, 256, (4 << 20) / 128}, {2, 2, 3, 8, (4 << 20) / 6}};
  for (const auto& one : cases) {
    std::vector<WriteRequest> told(static_cast<std::size_t>(one.nodes * one.ranks * one.threads));
    for (std::size_t task = 0; task < told.size(); ++task) {
      told[task].n_logical = told.size();
      told[task].process = static_cast<std::int64_t>(task) / one.threads;
      told[task].node = told[task].process / one.ranks;
      told[task].ranges = {{task, 1}};
    }
    const WriteRequests requests = WriteRequests::decode(gathered(told)).value();
    const WritePlanInput input = input_of(requests);
    const WritePlan plan = plan_create(input).value();
    ASSERT_EQ(plan.common.header.n_later + 1, one.files);
    EXPECT_EQ(plan.common.first_bytes, one.first_bytes);
    expect_right_shares(told, input);
    const Gathered shares = encode_shares(plan, requests);
    std::map<std::uint32_t, std::size_t> tasks;  // by physical file
    for (std::size_t task = 0; task < told.size(); ++task) {
      const WriteShare share = decode_share(shares.part(task), plan.common, told[task].ranges, task, told.size());
      ++tasks[share.later ? share.later->physical : 0];
    }
    ASSERT_EQ(tasks.size(), one.files);
    for (const auto& [physical, n] : tasks) {
      EXPECT_GE(n, told.size() / one.files) << physical;
      EXPECT_LE(n, told.size() / one.files + 1) << physical;
    }
    EXPECT_LE(plan.files[0].session.later_domains, told.size() / one.files + 1);
  }
}

TEST(WritePlan, EachTaskHearsOfItsOwnPlaces) {
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<WriteRequest> told = seed < 40 ? alike(seed + 1) : unlike(seed);
    const WriteRequests requests = WriteRequests::decode(gathered(told)).value();
    WritePlanInput input = input_of(requests);
    if (seed % 2 == 0) input.options.physical_files = static_cast<std::uint32_t>(1 + seed % 9);
    if (seed % 8 == 0) {
      input.mapping = [](std::int64_t rank, std::int64_t, std::int32_t n) {
        return static_cast<std::int32_t>(rank / 3 % n);
      };
    }
    expect_right_shares(told, input);
  }
}

TEST(WritePlan, TheFirstTaskThatIsWrongIsNamed) {
  const auto refused = [](const std::vector<WriteRequest>& told) {
    return WriteRequests::decode(gathered(told)).status();
  };
  std::vector<WriteRequest> told = alike(9);
  told[7].n_logical = 10;
  EXPECT_EQ(refused(told).message().substr(0, 26), "task 7 gave another path, ") << refused(told).message();
  told[5].arguments = 1;
  EXPECT_EQ(refused(told).message().substr(0, 26), "task 5 gave another path, ") << refused(told).message();
  told[3].status = Status::failed_call(Code::out_of_range, 27, "that is too much");
  EXPECT_EQ(refused(told).message(), "task 3: that is too much");
  EXPECT_EQ(refused(told).code(), Code::out_of_range);
  EXPECT_EQ(refused(told).os_errno(), 27);

  told = alike(9);
  told[2].ranges = {{1, 2}};
  told[8].ranges = {{0, 1}};
  EXPECT_NE(refused(told).message().find("logical file 0 would be written by two tasks"), std::string::npos);
  told = alike(9);
  told[4].ranges = {{4, 6}};
  told[5].ranges = told[6].ranges = told[7].ranges = told[8].ranges = {};
  EXPECT_NE(refused(told).message().find("logical files 4 .. 9 are asked for"), std::string::npos);
}

TEST(WritePlan, ATaskWithoutMemoryIsNamed) {
  Gathered all = gathered(alike(3));
  all.data.resize(all.begin[1]);
  all.begin[2] = all.begin[3] = all.begin[1];
  EXPECT_EQ(WriteRequests::decode(std::move(all)).status().code(), Code::no_memory);
}

// Numbers of any size are preserved.
TEST(WritePlan, ShortNumbersKeepTheirValue) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0}, kHalf = std::uint64_t{1} << 63;
  const std::vector<std::uint64_t> values = {0, 1, 63, 64, 127, 128, 16383, 16384, kHalf - 1, kHalf, kHalf + 1, kMost};
  for (const std::uint64_t value : values) {
    for (const std::uint64_t expected : values) {
      WireWriter out;
      out.put_short(value);
      out.put_near(value, expected);
      WireReader in(out.bytes());
      EXPECT_EQ(in.get_short(), value);
      EXPECT_EQ(in.get_near(expected), value);
      EXPECT_TRUE(in.rest().empty());
    }
  }
  WireWriter out;
  out.put_near(1'000'063, 1'000'000);
  EXPECT_EQ(out.bytes().size(), 1u);
}

}  // namespace
}  // namespace thalweg::test
