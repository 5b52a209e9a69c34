#include "store/overlay.hpp"

#include <iterator>

namespace thalweg {

void put_over(Overlay& shown, const PieceSpan& span) {
  auto at = shown.lower_bound(span.begin);
  if (at != shown.begin()) {
    PieceSpan& before = std::prev(at)->second;
    if (before.end > span.end) shown.emplace(span.end, PieceSpan{span.end, before.end, before.piece});
    if (before.end > span.begin) before.end = span.begin;
  }
  for (at = shown.lower_bound(span.begin); at != shown.end() && at->first < span.end;) {
    const PieceSpan hidden = at->second;
    at = shown.erase(at);
    if (hidden.end > span.end) shown.emplace(span.end, PieceSpan{span.end, hidden.end, hidden.piece});
  }
  shown.emplace(span.begin, span);
}

}  // namespace thalweg
