// Writes numbers into a multifile from C++ and reads them back.
#include <thalweg/thalweg.hpp>

#include <iostream>
#include <numeric>
#include <vector>

int main() {
  std::cout << "thalweg " << tw_version_string() << " from C++\n";
  std::vector<double> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.5);

  try {
    thalweg::Multifile out("consumer_cxx.tw", TW_CREATE | TW_TRUNCATE);
    out.write(numbers);
    out.close();

    std::vector<double> back(numbers.size());
    thalweg::Multifile in("consumer_cxx.tw", TW_READ);
    const std::size_t count = in.read(back);
    in.close();
    std::cout << count << " numbers, " << (back == numbers ? "the same" : "different") << '\n';
    return back == numbers ? 0 : 1;
  } catch (const thalweg::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
