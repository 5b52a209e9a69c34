// Coroutine frames kept for reuse: blocks of the requested size, whichever thread freed them, and no block left after a
// thread ends (the leak check of the nightly run sees that). Builds without kept frames pass, too.
#include "async/kept_frames.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "async/frame_memory.hpp"

namespace thalweg {
namespace {

TEST(KeptFrames, AreGivenOutOnceEach) {
  std::vector<void*> frames;
  for (int i = 0; i < 20; ++i) frames.push_back(take_frame_memory(300));
  for (void* frame : frames) std::memset(frame, 1, 300);
  for (void* frame : frames) free_frame_memory(frame);
  std::vector<void*> again;
  for (int i = 0; i < 20; ++i) again.push_back(take_frame_memory(300));
  for (std::size_t i = 0; i < again.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(again[i], again[j]);
  }
  for (void* frame : again) free_frame_memory(frame);
}

TEST(KeptFrames, OfOneSizeServeThatSizeOnly) {
  const std::size_t size = kept_size(1000);
  EXPECT_GE(size, 1000u);
  EXPECT_EQ(kept_size(size), size);
  void* frame = ::operator new(size);
  if (!keep_frame(frame, size)) return ::operator delete(frame);
  EXPECT_NE(take_kept_frame(2 * size), frame);
  EXPECT_EQ(take_kept_frame(size), frame);
  ::operator delete(frame);
}

TEST(KeptFrames, LargeOnesAreNotKept) {
  const std::size_t size = kept_size(std::size_t{1} << 20);
  void* frame = ::operator new(size);
  EXPECT_FALSE(keep_frame(frame, size));
  ::operator delete(frame);
  EXPECT_EQ(take_kept_frame(size), nullptr);
}

TEST(KeptFrames, AreFreedOnOtherThreadsAndWhenThreadsEnd) {
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> frames;
    std::thread taker([&] {
      for (int i = 0; i < 40; ++i) frames.push_back(take_frame_memory(static_cast<std::size_t>(100 * (i % 8))));
      free_frame_memory(frames.back());
      frames.pop_back();
    });
    taker.join();
    std::thread([&] {
      for (void* frame : frames) free_frame_memory(frame);
    }).join();
  }
}

// A thread-local object destroyed after the kept frames frees more of them.
struct Late {
  void* frame = nullptr;
  ~Late() { free_frame_memory(frame); }
};

TEST(KeptFrames, MayBeFreedWhileTheThreadEnds) {
  std::thread([] {
    thread_local Late late;  // constructed before the first frame, so destroyed after the frames
    late.frame = nullptr;
    void* first = take_frame_memory(200);
    late.frame = take_frame_memory(200);
    free_frame_memory(first);
  }).join();
}

}  // namespace
}  // namespace thalweg
