#include "multifile/read/reader_cache.hpp"

#include <algorithm>
#include <utility>

namespace thalweg {

namespace {

// About what a reader will need when it is used: window, pieces, checksums of a chunk.
std::uint64_t bytes_of(const LogicalReader& reader, std::uint64_t window_bytes) {
  constexpr std::uint64_t kOfAPiece = sizeof(format::PieceEntry) + 3 * sizeof(std::uint64_t);
  return sizeof(LogicalReader) + std::min(window_bytes, reader.size()) + reader.pieces().size() * kOfAPiece +
         reader.size() / (16 * 1024);
}

}  // namespace

LogicalReader* ReaderCache::find(std::uint64_t rank) const {
  const auto found = places_.find(rank);
  return found == places_.end() ? nullptr : entries_[found->second].reader.get();
}

LogicalReader* ReaderCache::put(std::uint64_t rank, std::unique_ptr<LogicalReader> reader, std::uint64_t window_bytes,
                                const LogicalReader* current) {
  const std::uint64_t bytes = bytes_of(*reader, window_bytes);
  const auto before = places_.find(std::exchange(last_but_one_, std::exchange(last_, rank)));
  if (entries_.size() >= kSurelyKept && before != places_.end()) {
    const LogicalReader& reader_before = *entries_[before->second].reader;
    if (&reader_before != current && reader_before.position() >= reader_before.size()) drop(before->second);
  }
  while (entries_.size() >= kSurelyKept && (reads_once_ || bytes_ + bytes > kMostBytes)) drop_one(current);
  if (const auto parked = positions_.find(rank); parked != positions_.end()) {
    reader->seek(parked->second);
    positions_.erase(parked);
  }
  if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 1);
  places_[rank] = entries_.size();  // may throw, and then nothing has changed
  entries_.push_back({rank, bytes, std::move(reader)});
  bytes_ += bytes;
  return entries_.back().reader.get();
}

void ReaderCache::drop_one(const LogicalReader* current) {
  std::size_t place = lot_() % entries_.size();
  if (entries_[place].reader.get() == current) place = (place + 1) % entries_.size();
  drop(place);
}

void ReaderCache::drop(std::size_t place) {
  Entry& gone = entries_[place];
  if (!reads_once_ && gone.reader->position() != 0) positions_[gone.rank] = gone.reader->position();
  places_.erase(gone.rank);
  bytes_ -= gone.bytes;
  if (place + 1 < entries_.size()) {
    gone = std::move(entries_.back());
    places_[gone.rank] = place;
  }
  entries_.pop_back();
}

}  // namespace thalweg
