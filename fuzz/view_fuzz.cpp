// Views drawn from the input, and one placed through another, compared byte by byte with naive views.
#include "fuzz_support.hpp"
#include "support/models/view_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  fuzz::Input input(data, size);
  const model::Draw draw = [&input](std::uint64_t limit) { return input.number<std::uint16_t>() % limit; };
  const model::BothViews both = model::draw_view(draw, static_cast<int>(draw(7)));
  std::string problem = model::difference(both, draw);
  if (problem.empty() && !both.naive.offsets.empty()) {
    const model::BothViews repeated = model::repeated(both, draw);
    problem = model::difference(repeated.view, repeated.naive, draw);
  }
  if (problem.empty())
    problem = model::placed_difference(both, model::draw_view(draw, static_cast<int>(draw(4))), draw);
  if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
  FUZZ_REQUIRE(problem.empty());
  return 0;
}
