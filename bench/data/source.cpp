// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

enum : std::size_t { mnist, fashion_mnist, cifar10 };
const std::array<Source, 3>& sources() {
  static const std::array<Source, 3> all{
      Source{.name = "MNIST",
             .folders = {"mnist", "MNIST/raw"},
             .installed = {},
             .advice = {},
             .parts = {{"train", {5, 0, 4, 1, 9, 2, 1, 3, 1, 4}}, {"t10k", {7, 2, 1, 0, 4, 1, 4, 9, 5, 9}}}},
      Source{.name = "Fashion-MNIST",
             .folders = {"fashion-mnist", "fashion_mnist", "FashionMNIST/raw"},
             .installed = "/usr/share/datasets/fashion-mnist",
             .advice = ", or install the Debian package dataset-fashion-mnist (bench/setup --fashion-mnist), which is "
                       "looked for without --data",
             .parts = {{"train", {9, 0, 0, 3, 0, 2, 7, 2, 5, 5}}, {"t10k", {9, 2, 1, 1, 6, 1, 4, 6, 5, 7}}}},
      Source{.name = "CIFAR-10",
             .format = Source::Format::cifar,
             .folders = {"cifar-10-batches-bin", "cifar10", "cifar-10"},
             .installed = {},
             .advice = " (the binary version, of no package: https://www.cs.toronto.edu/~kriz/cifar.html)",
             .parts = {{"data_batch_1"},
                       {"data_batch_2"},
                       {"data_batch_3"},
                       {"data_batch_4"},
                       {"data_batch_5"},
                       {"test_batch"}}}};
  return all;
}

/// Whether the last part of its path, as given or with links resolved, contains "fashion" in any case.
bool is_named_fashion(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& path :
       {fs::absolute(folder, ignored).lexically_normal(), fs::weakly_canonical(folder, ignored)}) {
    std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    if (name.find("fashion") != std::string::npos) return true;
  }
  return false;
}

/// Candidate folders of the files below a folder that the user gives.
std::vector<fs::path> places_in(const fs::path& folder, const Source& source) {
  std::vector<fs::path> places;
  const bool is_fashion = &source == &sources()[fashion_mnist], is_idx = source.format == Source::Format::idx;
  if (!is_idx || is_named_fashion(folder) == is_fashion) places.push_back(folder);
  for (const std::string& name : source.folders) places.push_back(folder / name);
  return places;
}

/// Candidate folders of the files, in the order of search.
std::vector<fs::path> places(const Source& source, const fs::path& folder) {
  if (!folder.empty()) return places_in(folder, source);
  std::vector<fs::path> all;
  if (const char* variable = std::getenv("LEAGUE_DATA")) all = places_in(variable, source);
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path project = executable.parent_path().parent_path().parent_path();  // of build/<preset>/league
  for (const fs::path& base : {fs::current_path(ignored), project})
    for (const std::string& name : source.folders) all.push_back(base / "data" / name);
  if (!source.installed.empty()) all.push_back(source.installed);
  return all;
}

/// Only its letters and digits.
std::string letters_of(const std::string& name) {
  std::string letters;
  std::ranges::copy_if(name, std::back_inserter(letters), [](unsigned char sign) { return std::isalnum(sign) != 0; });
  return letters;
}

/// A sentence for a file in the folder whose name differs in other signs only, as train-images.idx3-ubyte.
std::string similar_file(const fs::path& folder, const std::string& name) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (letters_of(entry.path().filename().string()).starts_with(letters_of(name)))
      return " There is " + entry.path().string() + ": rename it.";
  return {};
}

bool begins_as(std::span<const std::uint8_t> labels, const std::vector<std::uint8_t>& first) {
  return labels.size() >= first.size() && std::ranges::equal(labels.first(first.size()), first);
}

}  // namespace

const Source& source_of(const std::string& dataset) {
  if (dataset == "cifar10") return sources()[cifar10];
  return sources()[dataset == "fashion_mnist" ? fashion_mnist : mnist];
}

fs::path find_file(const Source& source, const fs::path& folder, const std::string& name) {
  std::string tried, similar;
  for (const fs::path& place : places(source, folder)) {
    for (const std::string& file : {name + ".gz", name})
      if (fs::is_regular_file(place / file)) return place / file;
    if (similar.empty()) similar = similar_file(place, name);
    const std::string line = "\n  " + place.lexically_normal().string();
    if ((tried + "\n").find(line + "\n") == std::string::npos)
      tried += line;  // the project may be the working directory
  }
  const std::string naming =
      source.format == Source::Format::idx
          ? " Files that lie in DIR itself are Fashion-MNIST's if its name has 'fashion' in it, else MNIST's."
          : "";
  throw BadInput("no file '" + name + "' of " + source.name +
                 ", gzipped or plain. Give its folder with --data DIR or LEAGUE_DATA" + source.advice + "." + similar +
                 naming + " Looked in:" + tried);
}

void require_labels_of(const Source& source, const std::string& part, std::span<const std::uint8_t> labels,
                       const fs::path& file) {
  for (const Source& other : sources())
    for (const SourcePart& theirs : other.parts)
      if (&other != &source && theirs.name == part && begins_as(labels, theirs.first_labels))
        throw BadInput(file.string() + ": at byte 8: these are the labels of " + other.name + ", not of " +
                       source.name + ": name the other `dataset` or the other folder");
}

}  // namespace league::bench
