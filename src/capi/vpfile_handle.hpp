// Defines the opaque handle of vpfile.h.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "capi/cookie_stream.hpp"
#include "capi/open_handle.hpp"
#include "thalweg/vpfile.h"
#include "vpfile/vpfile.hpp"

struct tw_vpfile : thalweg::OpenHandle {
  static constexpr const char* kName = "vpfile";
  tw_vpfile() : OpenHandle(true) {}

  thalweg::Status store_own() override;
  const void* written() const override;
  std::int64_t tasks() const override;
  void end_unclosed(bool by_all) override;
  std::string path() const override;
  bool is_first() const override;
  bool needs_transport() const override;
  thalweg::Status begin_to_leave() override;

  std::unique_ptr<thalweg::VpFile> impl;          // never null
  std::vector<tw_vpfile_transition> transitions;  // of the last tw_vpfile_summarize()
  thalweg::CookieStreams streams;                 // of tw_vpfile_fopen()
};

namespace thalweg {

// A collective call on an open vpfile. Where a FILE* cannot be written, flush, sync and close fail on all tasks.
inline VpFile& calling(tw_vpfile& vpfile, Call call) {
  calling(vpfile.impl->group(), call);
  (void)vpfile.streams.settle_all().ok();
  return *vpfile.impl;
}

// Calls read(stream) with the stream of one VP as a FILE*. `read` must not throw.
Status read_as_stdio(tw_vpfile& vpfile, std::uint64_t local, const std::function<void(FILE* stream)>& read);

// The local number of a VP of this task.
Result<std::uint64_t> local_of(tw_vpfile& vpfile, std::int64_t vp);

}  // namespace thalweg
