// The page and the table of golden records, byte for byte. TW_RECORD=1 in the environment rewrites the golden pages:
// check the difference before committing.
#include "methods/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "made_results.hpp"
#include "methods/assets.hpp"
#include "methods/cards.hpp"
#include "methods/method_table.hpp"
#include "methods/table.hpp"

namespace tool {
namespace {

// Golden pages omit style, script and Chart.js, and show only what depends on records.
constexpr PageAssets kMarkers = {"/* page.css */\n", "/* page.js */\n", "/* Chart.js </script> */\n"};
constexpr PageAssets kNoPlots = {"/* page.css */\n", "/* page.js */\n", ""};

std::string golden_path(const std::string& name) { return std::string(TW_REPORT_GOLDEN) + "/" + name; }

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("TW_RECORD") != nullptr) std::ofstream(golden_path(name), std::ios::binary) << text;
  const std::string wanted = content(golden_path(name));
  EXPECT_TRUE(text == wanted) << name << " differs from what was recorded, from here on: '"
                              << text.substr(
                                     static_cast<size_t>(std::ranges::mismatch(text, wanted).in1 - text.begin()), 200)
                              << "'. TW_RECORD=1 records it anew.";
}

std::vector<ValidationPoint> points_of(const Results& results) {
  std::vector<ValidationPoint> points;
  for (const ResultRow& row : result_rows(results)) {
    if (row.phase == "write")
      points.push_back(
          {row.method, row.cell, row.phase, row.seconds.median * 1.2, row.seconds.median, row.cell.ranks == 2});
  }
  return points;
}

TEST(Page, SaysThatTheConclusionsAreOurs) {
  const Results results = load_results(golden_path("scaling.jsonl"));
  const std::string page = html_page(results, points_of(results), kMarkers);

  EXPECT_NE(page.find("Five conclusions, checked with this run"), std::string::npos);
  EXPECT_NE(page.find("They are not quoted from the study that raised the question (M. Haefele"), std::string::npos);
}

TEST(Page, IsTheRecordedOne) {
  for (const std::string name : {"scaling", "hostile"}) {
    const Results results = load_results(golden_path(name + ".jsonl"));
    expect_golden(name + ".html", html_page(results, points_of(results), kMarkers));
    expect_golden(name + ".txt", methods_table(results, 100));
  }
}

TEST(Page, WithoutChartJsHasItsTablesAndNoScript) {
  const Results results = load_results(golden_path("scaling.jsonl"));
  const std::string page = html_page(results, points_of(results), kNoPlots);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<canvas"), std::string::npos);
  EXPECT_NE(page.find("No plots: this program was built without Chart.js"), std::string::npos);
  EXPECT_NE(page.find("<table>"), std::string::npos);
}

TEST(Page, OfNothingIsAPage) {
  const std::string page = html_page(Results(), {}, kMarkers);
  EXPECT_NE(page.find("No measurements"), std::string::npos);
  EXPECT_NE(page.find("The run is incomplete"), std::string::npos);
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_NE(methods_table(Results(), 80).find("nothing was measured"), std::string::npos);
}

// Only the scripts of the page itself, no attribute that runs code, no markup from records.
TEST(Page, TextOfRecordsStaysText) {
  const Results results = load_results(golden_path("hostile.jsonl"));
  const std::string page = html_page(results, points_of(results), kMarkers);
  const auto count = [&](const std::string& what) {
    size_t found = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<script"), 3U);
  EXPECT_EQ(count("</script"), 3U);
  EXPECT_EQ(count("<img"), 0U);
  EXPECT_FALSE(std::regex_search(page, std::regex("<[^>\"]*(\"[^\"]*\"[^>\"]*)*\\son[a-z]+=")));
  EXPECT_EQ(page.find('\0'), std::string::npos);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);  // reverses the direction of text
  const size_t begin = page.find("id=\"data\">") + 10, end = page.find("</script", begin);
  const Json data = Json::parse(page.substr(begin, end - begin));
  EXPECT_EQ(data["methods"].size(), 3U);
  EXPECT_EQ(data["points"].size(), result_rows(results).size() - 1);  // all except overlap
}

TEST(Page, ItsAssetsAreThere) {
  const PageAssets assets = page_assets();
  EXPECT_NE(assets.style.find("prefers-color-scheme"), std::string_view::npos);
  EXPECT_NE(assets.script.find("use strict"), std::string_view::npos);
  EXPECT_TRUE(asset("is not there").empty());
}

TEST(Table, HasNoLineThatIsTooWide) {
  Results results;
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    add_times(results, "hdf5-contiguous-independent", made_cell(ranks, 40'000), 0.001 * ranks);
    add_times(results, "gather", made_cell(ranks, 40'000), 0.0001, "write", 3);
  }
  for (const int columns : {0, 80, 100, 120}) {
    std::istringstream lines(methods_table(results, columns));
    std::string line;
    while (std::getline(lines, line)) {
      const auto width = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
      EXPECT_LE(width, std::max(columns, 80)) << line;
    }
  }
}

TEST(Cards, ThereIsOneForEveryMethodWithItsCode) {
  ASSERT_EQ(cards().size(), methods::method_table().size());
  for (size_t i = 0; i < cards().size(); ++i) {
    const Card& card = cards()[i];
    EXPECT_EQ(card.id, methods::method_table()[i].id);
    EXPECT_FALSE(card.afterwards.empty() || card.memory.empty() || card.use.empty()) << card.id;
    EXPECT_GE(code_lines(snippet(card.id)), 5) << card.id;
    EXPECT_EQ(find_card(card.id), &card);
  }
  EXPECT_EQ(find_card("none"), nullptr);
}

TEST(Cards, LinesOfCodeAreCounted) {
  EXPECT_EQ(code_lines(""), 0);
  EXPECT_EQ(code_lines("#include <mpi.h>\n/* what */\nint f() {\n\n  return 1; /* why */\n}\n"), 2);
  EXPECT_EQ(code_lines("a;\nb;"), 2);
}

}  // namespace
}  // namespace tool
