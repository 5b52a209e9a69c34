// A program in C++17 that uses the C++ types. It is compiled, not run.
#include <array>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

static_assert(__cplusplus < 202002L, "this file is compiled as C++17");

void use_multifile(const std::string& path, std::vector<double>& values);
void use_file(const std::string& path, std::vector<double>& values);
void use_vpfile(const std::string& path, std::vector<float>& values);

void use_multifile(const std::string& path, std::vector<double>& values) {
  const std::array<std::int64_t, 2> ranks = {0, 1};
  thalweg::Multifile file(path, "w", thalweg::Options().hint("chunk_bytes", "1MiB").ranks(2, ranks));
  file.write(values);
  file.write(std::string_view("text"));
  file.write_value(values.size());
  thalweg::Request request = file.isync();
  request.wait();
  file.close();
  thalweg::Multifile again(path, "r");
  (void)again.read(values);
  char text[4];
  (void)again.read(text);
  (void)again.read_value<std::size_t>();
}

void use_file(const std::string& path, std::vector<double>& values) {
  thalweg::File file(path, "w+");
  const tw_dim dims[] = {{10, 0, 5, 1, 1}};
  file.write_array(values, dims);
  file.set_view(0, thalweg::View::strided(3, 1, 16, thalweg::View::of<double>()));
  std::vector<thalweg::Request> requests;
  requests.push_back(file.iwrite_view_all(values));
  (void)thalweg::Request::waitall(requests);
  (void)file.read_at(values, 0);
}

void use_vpfile(const std::string& path, std::vector<float>& values) {
  thalweg::vp::File file(path, "w+", {4, 3});
  file.write_all(values, 1);
  file.write_all(values, 1, [](std::int64_t local) { return local % 2 == 0; });
  file.write_all(values, std::vector<int>(12, 1), std::vector<bool>(12, true));
  file.write_all(thalweg::vp::Strided<float>(values.data(), {4, 3}, {3, 1}));
  (void)file.read_all(values, 1);
  file.for_each([](thalweg::vp::Stream stream) { stream.printf("%d", 5); });
}
