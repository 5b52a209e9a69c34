#include "store/format/fill_slot.hpp"

#include "store/format/field_list.hpp"

namespace thalweg::format {

namespace {

constexpr std::uint32_t kSynced = 1;
constexpr std::uint32_t kUpdating = 2;

template <class Io, class Slot>
void list_fill(Io& io, Slot& slot, std::uint32_t& flags) {
  move_fields(io, slot.bytes, slot.count, slot.tail_seal, flags, slot.table_seal);
}

}  // namespace

std::array<std::byte, kFillSlotBytes> encode_fill(const FillSlot& slot, const FileIdentity& id, std::uint64_t offset) {
  std::array<std::byte, kFillSlotBytes> bytes{};
  FieldWriter out(bytes);
  std::uint32_t flags = (slot.synced ? kSynced : 0) | (slot.updating ? kUpdating : 0);
  list_fill(out, slot, flags);
  seal(bytes, id, offset);
  return bytes;
}

std::optional<FillSlot> parse_fill(ByteView bytes, const FileIdentity& id, std::uint64_t offset,
                                   std::uint64_t capacity) {
  if (bytes.size() != kFillSlotBytes || !is_sealed(bytes, id, offset)) return std::nullopt;
  FieldReader in(bytes);
  FillSlot slot;
  std::uint32_t flags = 0;
  list_fill(in, slot, flags);
  slot.synced = (flags & kSynced) != 0;
  slot.updating = (flags & kUpdating) != 0;
  if (slot.bytes > capacity || slot.count == 0) return std::nullopt;
  return slot;
}

}  // namespace thalweg::format
