// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/dataset.hpp"

#include <algorithm>
#include <cstring>

#include "bench/data/cifar.hpp"
#include "bench/data/generated.hpp"
#include "bench/data/idx.hpp"
#include "bench/data/shuffle.hpp"
#include "bench/data/source.hpp"
#include "bench/errors.hpp"
#include "bench/files.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

/// The parts of its source that a dataset has.
std::vector<std::string> parts_of(const std::string& dataset) {
  if (dataset == "mnist_t10k") return {"t10k"};
  std::vector<std::string> names;
  for (const SourcePart& part : source_of(dataset).parts) names.push_back(part.name);
  return names;
}

/// Images of one size with their labels, and the files that they were read from.
struct Part {
  std::vector<fs::path> files;
  std::vector<std::int64_t> shape;  ///< of an image
  std::vector<std::uint8_t> images, labels;
};
Part read_cifar_part(const Source& source, const fs::path& folder, const std::string& part) {
  const fs::path file = find_file(source, folder, part + ".bin");
  Cifar read = read_cifar(file);
  return {{file}, {3, Cifar::side, Cifar::side}, std::move(read.images), std::move(read.labels)};
}
Part read_idx_part(const Source& source, const fs::path& folder, const std::string& part) {
  const fs::path image_file = find_file(source, folder, part + "-images-idx3-ubyte");
  const fs::path label_file = find_file(source, folder, part + "-labels-idx1-ubyte");
  Idx images = read_idx(image_file, 3), labels = read_idx(label_file, 1);
  if (images.values.empty()) throw BadInput(image_file.string() + ": at byte 4: holds no images");
  if (images.extents[0] != labels.extents[0])
    throw BadInput(image_file.string() + ": at byte 4: holds " + std::to_string(images.extents[0]) + " images, but " +
                   label_file.string() + " holds " + std::to_string(labels.extents[0]) + " labels");
  require_labels_of(source, part, labels.values, label_file);
  return {{image_file, label_file},
          {images.extents[1], images.extents[2]},
          std::move(images.values),
          std::move(labels.values)};
}
/// A part as the dataset has it.
Part read_part(const std::string& dataset, const fs::path& folder, const std::string& part) {
  const Source& source = source_of(dataset);
  if (source.format == Source::Format::cifar) return read_cifar_part(source, folder, part);
  Part read = read_idx_part(source, folder, part);
  if (dataset != "mnist_rgb") return read;
  if (read.shape != std::vector<std::int64_t>{28, 28})
    throw BadInput(read.files.front().string() + ": at byte 8: images of " + std::to_string(read.shape[0]) + " x " +
                   std::to_string(read.shape[1]) + " pixels: mnist_rgb takes 28 x 28");
  read.images = as_colour(read.images);
  read.shape = {3, Cifar::side, Cifar::side};
  return read;
}

HostArray pick_rows(const HostArray& all, const std::vector<std::int64_t>& rows, std::int64_t count,
                    std::pmr::memory_resource& memory) {
  std::vector<std::int64_t> shape = all.shape();
  shape[0] = count;
  HostArray picked(memory, all.dtype(), shape);
  const std::size_t row_bytes = static_cast<std::size_t>(all.row_size()) * size_bytes(all.dtype());
  for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row)
    std::memcpy(picked.bytes().data() + row * row_bytes,
                all.bytes().data() + static_cast<std::size_t>(rows[row]) * row_bytes, row_bytes);
  return picked;
}

std::int64_t fill_in(std::int64_t wanted, std::int64_t there, const std::string& size, const std::string& dataset) {
  if (wanted > there)
    throw BadInput("asks for " + std::to_string(wanted) + " " + size + ", but " + dataset + " has " +
                   std::to_string(there));
  return wanted == 0 ? there : wanted;
}

/// (pixel / 255 - mean) / deviation, with the mean and the standard deviation of MNIST.
HostArray normalized(const HostArray& pixels, std::pmr::memory_resource& memory) {
  constexpr float mean = 0.1307F, deviation = 0.3081F;
  HostArray numbers(memory, Dtype::f32, pixels.shape());
  std::ranges::transform(pixels.values<const std::uint8_t>(), numbers.values<float>().begin(),
                         [](std::uint8_t pixel) { return (static_cast<float>(pixel) / 255 - mean) / deviation; });
  return numbers;
}

/// @throws BadInput for labels from which nothing can be learned, once for all cases
void require_classes(const std::vector<std::uint8_t>& labels, const fs::path& file) {
  if (labels.size() > 1 && std::ranges::all_of(labels, [&](std::uint8_t label) { return label == labels.front(); }))
    throw BadInput(file.string() + ": all of its " + std::to_string(labels.size()) + " labels are " +
                   std::to_string(labels.front()) + ": classes differ in labels, take the file from its source again");
}

}  // namespace

void Datasets::load(const Selection& selection) {
  if (!selection.is_generated() && reads_files_) labelled(selection.dataset);
}

Selection Datasets::resolve(Selection selection) {
  if (selection.is_generated()) {
    if (selection.train == 0 || selection.test == 0 || selection.features == 0)
      throw BadInput("must give train, test and features for generated data");
    return selection;
  }
  if (!reads_files_) {
    for (std::int64_t* size : {&selection.train, &selection.test, &selection.features})
      *size = std::max<std::int64_t>(*size, 1);
    return selection;
  }
  const HostArray& images = labelled(selection.dataset).images;
  const std::int64_t test = test_rows(selection);
  selection.train = fill_in(selection.train, images.rows() - test, "training rows", selection.dataset);
  selection.test = fill_in(selection.test, test, "test rows", selection.dataset);
  if (selection.features != 0 && selection.features != images.row_size())
    throw BadInput("asks for " + std::to_string(selection.features) + " features, but " + selection.dataset + " has " +
                   std::to_string(images.row_size()));
  selection.features = images.row_size();
  return selection;
}

const Dataset& Datasets::rows(const Selection& selection) {
  if (!kept_ || kept_selection_ != selection) {
    kept_.reset();
    kept_ = selection.is_generated() ? generate_dataset(selection, memory_) : select(selection);
    kept_selection_ = selection;
  }
  return *kept_;
}

const Datasets::Labelled& Datasets::labelled(const std::string& name) {
  if (loaded_name_ == name) return loaded_;
  std::vector<Part> parts;
  std::size_t rows = 0;
  for (const std::string& part : parts_of(name)) {
    parts.push_back(read_part(name, folder_, part));
    for (const fs::path& file : parts.back().files) require_unchanged(source_of(name), file);
    rows += parts.back().labels.size();
    if (parts.back().shape != parts.front().shape)
      throw BadInput("the images of '" + part + "' and '" + parts_of(name).front() + "' differ in size");
  }
  for (const Part& part : parts) require_classes(part.labels, part.files.back());
  const auto all = static_cast<std::int64_t>(rows);
  const std::int64_t features = checked_product(parts.front().shape);
  loaded_ = {HostArray(memory_, Dtype::u8, {all, features}), HostArray(memory_, Dtype::i32, {all}),
             parts.size() > 1 ? static_cast<std::int64_t>(parts.back().labels.size()) : 0};
  auto image = loaded_.images.values<std::uint8_t>().begin();
  auto label = loaded_.labels.values<std::int32_t>().begin();
  for (const Part& part : parts) {
    image = std::ranges::copy(part.images, image).out;
    label = std::ranges::copy(part.labels, label).out;
  }
  loaded_name_ = name;
  return loaded_;
}

std::int64_t Datasets::test_rows(const Selection& selection) {
  const Labelled& all = labelled(selection.dataset);
  if (selection.split != "predefined") return quarter_of(all.images.rows());
  if (all.test_rows == 0) throw BadInput("asks for a predefined split, but " + selection.dataset + " has none");
  return all.test_rows;
}

/// A study with several datasets reads a file more than once.
void Datasets::require_unchanged(const Source& source, const fs::path& file) {
  const std::string hash = file_hash(file);
  if (hashes_.emplace(source.folders.front() + "/" + file.filename().string(), hash).first->second != hash)
    throw std::runtime_error("'" + file.string() + "' has changed since this run read it first: start the run anew");
}

Dataset Datasets::select(const Selection& selection) {
  const Labelled& all = labelled(selection.dataset);
  const Split split =
      split_rows(all.images.rows(), test_rows(selection), selection.split == "random", selection.split_seed);
  const auto labels = all.labels.values<const std::int32_t>();
  const int classes = labels.empty() ? 0 : *std::ranges::max_element(labels) + 1;
  const auto images = [&](const std::vector<std::int64_t>& rows, std::int64_t count) {
    const HostArray picked = pick_rows(all.images, rows, count, memory_);
    return selection.dataset == "mnist_normalized" ? normalized(picked, memory_) : picked;
  };
  return {images(split.train, selection.train), pick_rows(all.labels, split.train, selection.train, memory_),
          images(split.test, selection.test), pick_rows(all.labels, split.test, selection.test, memory_), classes};
}

}  // namespace league::bench
