// Hints that do not belong to the file: of another kind of file, of another library, misspelt.
#include <cstring>
#include <set>
#include <span>

#include "support/files/shared_files.hpp"

namespace thalweg::test {
namespace {

struct Kind {
  const char* scope;  // as in tw_hint
  const char* files;  // name in messages
  const char* call;
  std::set<std::string> takes;  // accepted scopes
};
const char* const kBoth = "multifile or vpfile";
const char* const kShared = "file or multifile";
const Kind kKinds[] = {{"multifile", "multifiles", "tw_multifile_open", {"multifile", kBoth, kShared}},
                       {"file", "shared files", "tw_file_open", {"file", kShared}},
                       {"vpfile", "vpfiles", "tw_vpfile_open", {"vpfile", "file", kBoth, kShared}}};

std::vector<const tw_hint*> all_hints() {
  std::vector<const tw_hint*> all;
  while (const tw_hint* hint = tw_hint_info(static_cast<std::int64_t>(all.size()))) all.push_back(hint);
  return all;
}

class Hints : public SharedFiles {
 protected:
  // The library's message for a hint of a file of this kind; "" when the hint is valid.
  std::string said(const Kind& kind, const std::string& name, const std::string& value = "nonsense") const {
    const tw_status status = give(kind, name, value);
    if (status == TW_OK) return "";
    EXPECT_TRUE(status == TW_ERR_UNKNOWN_HINT || status == TW_ERR_INVALID || status == TW_ERR_NOT_FOUND /* a folder */)
        << name << ": " << tw_last_error();
    return tw_last_error();
  }

 private:
  tw_status give(const Kind& kind, const std::string& name, const std::string& value) const {
    OpenWith options;
    options.hints(name + "=" + value);
    tw_status status = TW_OK;
    if (std::strcmp(kind.scope, "multifile") == 0) {
      tw_multifile* file = nullptr;
      status = tw_multifile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, options, &file);
      EXPECT_EQ(file, nullptr);
    } else if (std::strcmp(kind.scope, "file") == 0) {
      tw_file* file = nullptr;
      status = tw_file_open(nullptr, path().c_str(), kNew, options, &file);
      EXPECT_EQ(file, nullptr);
    } else {
      tw_vpfile* file = nullptr;
      status = tw_vpfile_open(nullptr, path().c_str(), TW_CREATE | TW_TRUNCATE, options.shape({3}), &file);
      EXPECT_EQ(file, nullptr);
    }
    return status;
  }
};

TEST_F(Hints, OfAnotherKindOfFileAreToldAsSuch) {
  for (const Kind& kind : kKinds) {
    for (const tw_hint* hint : all_hints()) {
      const std::string text = said(kind, hint->name);
      if (kind.takes.count(hint->scope) != 0) {
        EXPECT_EQ(text.find("is a hint of"), std::string::npos) << text;
        continue;
      }
      if (std::strcmp(hint->scope, kBoth) == 0) {
        EXPECT_NE(text.find("is a hint of multifiles and vpfiles"), std::string::npos) << text;
        continue;
      }
      const Kind& other = *std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const Kind& k) { return std::strcmp(k.scope, hint->scope) == 0; });
      const std::string wanted =
          std::string("'") + hint->name + "' is a hint of " + other.files + " (" + other.call + "); ";
      EXPECT_NE(text.find(wanted), std::string::npos) << kind.scope << ": " << text;
    }
  }
}

TEST_F(Hints, TheNamesThatAFileHasAreListed) {
  EXPECT_NE(said(kKinds[0], "aggregators").find("a multifile has chunk_bytes, physical_files, "), std::string::npos)
      << tw_last_error();
  EXPECT_NE(said(kKinds[1], "chunk_bytes").find("a shared file has io, method, "), std::string::npos)
      << tw_last_error();
  const std::string of_vpfile = said(kKinds[2], "chunk_bytes");
  EXPECT_NE(of_vpfile.find("a vpfile has "), std::string::npos) << of_vpfile;
  EXPECT_NE(of_vpfile.find(", block_bytes, "), std::string::npos) << of_vpfile;
  EXPECT_NE(of_vpfile.find(", queue_depth, "), std::string::npos) << of_vpfile;
}

TEST_F(Hints, OfOtherLibrariesGetAProposal) {
  struct Known {
    const char* name;
    std::array<const char*, 3> proposed;  // by kind, as in kKinds
  };
  const char* const chunk = "'chunk_bytes'";
  const Known known[] = {
      // SIONlib
      {"chunksize", {chunk, chunk, chunk}},
      {"chunk_size", {chunk, chunk, chunk}},
      {"num_files", {"'physical_files'", "'physical_files'", "'physical_files'"}},
      {"nfiles", {"'physical_files'", "'physical_files'", "'physical_files'"}},
      {"numfiles", {"'physical_files'", "'physical_files'", "'physical_files'"}},
      {"fsblksize", {"'alignment_bytes'", "'alignment_bytes'", "'alignment_bytes'"}},
      // ROMIO, OMPIO
      {"cb_nodes", {"'aggregators'", "'aggregators'", "'aggregators'"}},
      {"num_aggregators", {"'aggregators'", "'aggregators'", "'aggregators'"}},
      {"cb_config_list", {"'aggregators'", "'aggregators'", "'aggregators'"}},
      {"collective_buffering", {"'method'", "'method'", "'method'"}},
      {"romio_no_indep_rw", {"'method'", "'method'", "'method'"}},
      {"cb_buffer_size", {"'aggregator_bytes'", "'aggregator_bytes'", "'aggregator_bytes'"}},
      {"romio_cb_write", {"'method'", "'method'", "'method'"}},
      {"romio_cb_read", {"'method'", "'method'", "'method'"}},
      {"romio_ds_write", {"'sieve_writes'", "'sieve_writes'", "'sieve_writes'"}},
      {"ind_wr_buffer_size", {"'staging_bytes'", "'staging_bytes'", "'staging_bytes'"}},
      {"ind_rd_buffer_size", {"'staging_bytes'", "'staging_bytes'", "'staging_bytes'"}},
      {"romio_ds_read", {"'staging_bytes'", "'staging_bytes'", "'staging_bytes'"}},
      {"direct_write", {"'io'", "'io'", "'io'"}},
      {"direct_read", {"'io'", "'io'", "'io'"}},
      {"direct_io", {"'io'", "'io'", "'io'"}},
      // the MPI standard, Lustre
      {"stripe_count", {"'striping_factor'", "'striping_factor'", "'striping_factor'"}},
      {"stripe_size", {"'striping_unit'", "'striping_unit'", "'striping_unit'"}},
      // HDF5
      {"alignment", {"'alignment_bytes'", "'alignment_bytes'", "'alignment_bytes'"}},
      {"deflate", {"'compression'", "'compression'", "'compression'"}},
      {"gzip", {"'compression'", "'compression'", "'compression'"}},
      {"fletcher32", {"'checksum'", "'checksum'", "'checksum'"}},
      {"sieve_buf_size", {"'staging_bytes'", "'staging_bytes'", "'staging_bytes'"}},
      // a size whose hints here are in bytes
      {"buffer_size", {"'buffer_bytes'", nullptr, nullptr}},
      {"staging_size", {nullptr, "'staging_bytes'", "'staging_bytes'"}},
      {"block_size", {nullptr, nullptr, "'block_bytes'"}},
      {"Chunk_Bytes", {chunk, nullptr, nullptr}},
  };
  for (const Known& one : known) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      if (one.proposed[kind] == nullptr) continue;
      const std::string text = said(kKinds[kind], one.name);
      EXPECT_NE(text.find(std::string("did you mean ") + one.proposed[kind]), std::string::npos)
          << kKinds[kind].scope << ": " << text;
    }
  }
  EXPECT_NE(said(kKinds[0], "cb_nodes").find("'aggregators', a hint of shared files (tw_file_open)?"),
            std::string::npos)
      << tw_last_error();
}

TEST_F(Hints, OfAVpfileAreProposedFromBothOfItsTables) {
  EXPECT_NE(said(kKinds[2], "queue_dept").find("did you mean 'queue_depth'?"), std::string::npos) << tw_last_error();
  EXPECT_NE(said(kKinds[2], "block_byte").find("did you mean 'block_bytes'?"), std::string::npos) << tw_last_error();
}

TEST_F(Hints, ThatAreLikeNothingGetNoProposal) {
  for (const Kind& kind : kKinds) {
    const std::string text = said(kind, "colour");
    EXPECT_NE(text.find("unknown hint 'colour'; `thalweg hints` lists all"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace thalweg::test
