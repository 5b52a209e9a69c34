// Which collective call of the library this task makes on a group, or on what is open with one: said before anything
// else of the call, so that tasks which make different ones are told apart.
#pragma once

#include "capi/file_handle.hpp"
#include "capi/handles.hpp"
#include "capi/vpfile_handle.hpp"
#include "group/call.hpp"

namespace thalweg {

inline Group& calling(tw_group& group, Call call) {
  group.impl->set_call(call);
  return *group.impl;
}

inline PlainFile& calling(tw_file& file, Call call) {
  file.impl->group().set_call(call);
  return *file.impl;
}

inline VpFile& calling(tw_vpfile& vpfile, Call call) {
  vpfile.impl->group().set_call(call);
  return *vpfile.impl;
}

}  // namespace thalweg
