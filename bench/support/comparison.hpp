// Variants of one task, run in turns, each once in a repetition and in another order each time (A B C, C A B, ...), so
// that drifting clocks, other load and what the variant before left behind affect all alike. Results are medians, and
// ratios within one repetition.
#ifndef BENCH_SUPPORT_COMPARISON_HPP
#define BENCH_SUPPORT_COMPARISON_HPP

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

// Median, smallest and largest value.
struct Spread {
  double median = 0, low = 0, high = 0;
};
Spread spread_of(std::vector<double> values);

// Number of repetitions: until `repetitions` or, after `least` of them, until `seconds` have passed. On a very busy
// machine fewer than `least` are made, and a note says so.
struct Plan {
  int repetitions = 3;
  double seconds = 1e9;
  bool warm_up = false;  // one repetition before, not counted
  int least = 1;
  double most_seconds = 1e9;
};

// Amount per run, to print rates: "byte" gives GB/s, any other name the time per unit.
struct Amount {
  double count = 1;
  std::string unit = "byte";
};

class Comparison {
 public:
  // Seconds of each phase, in the order of the phases.
  using Run = std::function<std::vector<double>(int repetition)>;

  Comparison(std::string name, Amount amount, std::vector<std::string> phases);

  // `run` prepares its data, times its phases, verifies bytes and cleans up. Repetition -1 is the warm-up.
  void add(const std::string& variant, Run run);
  void run(const Plan& plan);

  const std::string& name() const { return name_; }
  const Amount& amount() const { return amount_; }
  const std::vector<std::string>& phases() const { return phases_; }
  std::vector<std::string> variants() const;
  const std::vector<double>& samples(const std::string& variant, const std::string& phase) const;

  Spread seconds(const std::string& variant, const std::string& phase) const;
  // Speed-up of `variant` over `peer`.
  Spread speed(const std::string& variant, const std::string& peer, const std::string& phase) const;
  // The candidate with the smallest median; missing ones are ignored.
  std::string fastest(const std::vector<std::string>& candidates, const std::string& phase) const;
  // Adds a note to the results.
  void note(const std::string& key, const std::string& text) { notes_[key] = text; }
  const std::map<std::string, std::string>& notes() const { return notes_; }

 private:
  struct Entry {
    std::string name;
    Run run;
    std::map<std::string, std::vector<double>> seconds;
  };
  const Entry& find(const std::string& variant) const;

  std::string name_;
  Amount amount_;
  std::vector<std::string> phases_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> notes_;
};

}  // namespace bench

#endif
