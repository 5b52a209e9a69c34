// Which collective call of the library this task makes on a group, or on what is open with one: said before anything
// else of the call, so that tasks which make different ones are told apart.
#pragma once

#include "async/last_words.hpp"
#include "capi/file_handle.hpp"
#include "capi/handles.hpp"
#include "capi/vpfile_handle.hpp"

namespace thalweg {

inline Group& calling(Group& group, Call call) {
  group.set_call(call);
  call_of_thread = {call, group.size() > 1};
  if (group.checks_calls())
    if (Status differ = run(group.compare_calls(call)); !differ.ok()) group.end(std::move(differ));
  return group;
}
// Names a nonblocking call, which does not mark the group: its operations run on duplicates.
inline const Group& starting(const Group& group, Call call) {
  call_of_thread = {call, group.size() > 1};
  return group;
}
inline Group& calling(tw_group& group, Call call) { return calling(*group.impl, call); }

inline PlainFile& calling(tw_file& file, Call call) {
  calling(file.impl->group(), call);
  return *file.impl;
}

inline VpFile& calling(tw_vpfile& vpfile, Call call) {
  calling(vpfile.impl->group(), call);
  return *vpfile.impl;
}

}  // namespace thalweg
