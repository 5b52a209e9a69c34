#include "async/last_words.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <new>

#include "os/end_program.hpp"

namespace thalweg {

constinit thread_local CallOfThread call_of_thread;

void end_in_call(const char* what) noexcept {
  std::array<char, 64> where{};
  const char* const call = name_of(call_of_thread.call);
  if (*call != '\0') (void)std::snprintf(where.data(), where.size(), "in %s", call);
  end_program(what, where.data());
}

void end_on_exception() noexcept {
  std::array<char, 256> what{};
  try {
    throw;
  } catch (const std::bad_alloc&) {
    end_in_call("out of memory");
  } catch (const std::exception& defect) {
    (void)std::snprintf(what.data(), what.size(), "a defect of the library (%s)", defect.what());
  } catch (...) {
    (void)std::snprintf(what.data(), what.size(), "a defect of the library (an exception of no known kind)");
  }
  end_in_call(what.data());
}

}  // namespace thalweg
