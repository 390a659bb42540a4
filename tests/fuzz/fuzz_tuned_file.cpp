// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/errors.hpp"
#include "bench/tune/tuned_file.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// A file of tuned launches. One that is taken is written as a file that is the same and is written as the same text.
namespace league::bench {
namespace {

const DeviceInfo h200{.device = {DeviceKind::gpu, 0, 1}, .name = "NVIDIA H200"};
const DeviceInfo host{.device = {DeviceKind::host, 0, 16}, .name = "Intel Xeon"};

const tests::TemporaryFolder& folder() {
  static const tests::TemporaryFolder made;
  return made;
}
TunedFile read(const std::string& text, const DeviceInfo& device) {
  return TunedFile::read(folder().write(tuned_file_name(device), text), device);
}

void feed_of(const DeviceInfo& device, const std::string& text) {
  TunedFile first;
  try {
    first = read(text, device);
  } catch (const BadInput&) {
    return;
  }
  const TunedFile again = read(first.text(), device);
  fuzz::require(again.text() == first.text(), "what it writes is written otherwise:\n" + first.text());
  fuzz::require(again.entries().size() == first.entries().size(), "an entry is lost:\n" + first.text());
  const std::filesystem::path file = folder().path() / tuned_file_name(device);
  TunedFile::update(file, device, {.id = "search", .facts = {{"driver", "13.0"}}}, first.entries());
  const TunedFile updated = TunedFile::read(file, device);
  fuzz::require(updated.entries().size() == first.entries().size(), "a search's own entries are added twice");
  for (const TunedEntry& entry : updated.entries())
    fuzz::require(entry.search == "search", "an entry of an old search");
}

void feed(const std::string& text) {
  for (const DeviceInfo* device : {&h200, &host}) feed_of(*device, text);
}

std::vector<std::string> seeds() {
  const std::string head = "device = \"NVIDIA H200\"\n", tuned = "[[tuned]]\nsearch = \"1\"\n";
  const std::string variant = "algorithm = \"knn\"\nmethod = \"fused\"\nmodel = \"kokkos\"\ndtype = \"f32\"\n";
  const std::string times = "automatic = { team = 128 }\nautomatic_s = 1e-3\nbest = \"auto\"\nbest_s = 1\n";
  const std::string search = head + "[searches.\"1\"]\ndriver = \"13.0\"\n";
  return {head,
          search + tuned + variant + times +
              "sizes = { train = 3, test = 4 }\nparameters = { k = 3, votes = \"eps\" }\n"
              "devices = 2\ncommunicator = \"nccl\"\ngain = 1.3\ncandidates = 7\nrefused = 1\nfailed = 2\n",
          search + tuned + variant + "sizes = {}\nexecution = \"graph\"\nskipped = \"needs 16 GB\"\n",
          search + tuned +
              "algorithm = \"linear_regression\"\nmethod = \"graph\"\nmodel = \"cuda\"\ndtype = \"f32\"\n" + times +
              "sizes = { n = 1 }\n",
          "device = \"NVIDIA H100\"\n",
          "device = \"Intel Xeon, 16 threads\"\n",
          head + "colour = 1\n",
          search + "[[tuned]]\nsearch = \"2\"\n" + variant + times + "sizes = { n = 1 }\n",
          search + tuned + variant + times + "sizes = { n = 1 }\n" + tuned + variant + times + "sizes = { n = 1 }\n",
          search + tuned + variant + times + "sizes = { n = 1 }\ncolour = 1\n",
          search + tuned + times};
}

std::vector<std::string> words() {
  return {"device",    "searches",    "[[tuned]]",    "algorithm", "method",     "execution",  "model",
          "dtype",     "devices",     "communicator", "sizes",     "parameters", "search",     "skipped",
          "automatic", "automatic_s", "best",         "best_s",    "gain",       "candidates", "refused",
          "failed",    "league",      "team",         "vector",    "tile",       "auto"};
}

const fuzz::RegisterTarget registered{
    "tuned_file",
    {feed, seeds, {"bench/study/toml_text.cpp", "bench/tune/tuned_file.cpp", "bench/tune/tuned_text.cpp"}, words}};

}  // namespace
}  // namespace league::bench
