// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cnn.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "algorithms/cnn/cnn_judge.hpp"
#include "algorithms/cnn/cnn_methods.hpp"
#include "algorithms/cnn/cnn_parameters.hpp"
#include "algorithms/cnn/cnn_start.hpp"
#include "algorithms/contract/labels.hpp"
#include "algorithms/oracle/generate.hpp"
#include "backends/launch.hpp"

namespace league {
namespace {

using blocks::Optimizer;

const RegisterAlgorithm registered{
    Algorithm{.name = Cnn::algorithm,
              .description = "a convolutional network on small images: training, inference",
              .parameters = cnn::parameter_list(),
              .methods = cnn::methods(),
              .needs_dataset = true,
              .make = [](const Making& making) { return std::make_unique<Cnn>(making); },
              .edge_cases = {{{"train", "1"}, {"test", "1"}, {"features", "784"}, {"batch", "1"}, {"steps", "1"}},
                             {{"train", "5"},
                              {"test", "1"},
                              {"features", "784"},
                              {"steps", "2"},
                              {"batch", "3"},
                              {"shard_optimizer", "on"},
                              {"optimizer", "adam"},
                              {"learning_rate", "0.001"}},
                             {{"train", "4"},
                              {"test", "3"},
                              {"features", "784"},
                              {"epochs", "2"},
                              {"batch", "2"},
                              {"dropout", "off"},
                              {"optimizer", "sgd"},
                              {"learning_rate", "0.1"}},
                             {{"train", "3"},
                              {"test", "2"},
                              {"features", "3072"},
                              {"network", "cifar10"},
                              {"epochs", "1"},
                              {"batch", "2"},
                              {"shard_optimizer", "on"},
                              {"optimizer", "adam"},
                              {"learning_rate", "0.001"}},
                             {{"train", "5"},
                              {"test", "1"},
                              {"features", "784"},
                              {"epochs", "2"},
                              {"batch", "2"},
                              {"input", "host"},
                              {"workers", "3"}},
                             {{"train", "3"},
                              {"test", "5"},
                              {"features", "784"},
                              {"task", "inference"},
                              {"batch", "2"},
                              {"warm_up", "1"}}}}};

/// Streams of random numbers: one per tensor for the initial parameters, from 16 on for dropout.
constexpr std::uint64_t order_stream = std::uint64_t{1} << 40;

Optimizer optimizer_of(const std::string& name) {
  if (name == "sgd") return Optimizer::sgd;
  return name == "adam" ? Optimizer::adam : Optimizer::adadelta;
}

const Dataset& dataset_of(const Making& making) {
  if (!making.dataset) throw std::logic_error("cnn is made from a dataset");
  return *making.dataset;
}

void require_images(const cnn::Network& network, const std::string& part, const HostArray& images) {
  require(images.rows() == 0 || (images.dtype() == Dtype::u8 && images.row_size() == network.pixels()),
          part + ": the network takes " + std::string(network.about) + " u8 images, that is " +
              std::to_string(network.pixels()) + " features; these are " + std::to_string(images.row_size()) + " of " +
              std::string(name(images.dtype())));
}

/// Initial parameters of a tensor are uniform between minus and plus this.
double initial_bound(const cnn::Network& network, int tensor) {
  if (!network.glorot) return 1 / std::sqrt(static_cast<double>(network.fan_in(tensor)));
  return tensor % 2 == 1 ? 0 : std::sqrt(6.0 / (network.fan_in(tensor) + network.fan_out(tensor)));
}

}  // namespace

Cnn::Cnn(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      network(cnn::network_of(making.parameters.choice("network"))),
      data(dataset_of(making)),
      trains(making.parameters.choice("task") == "train"),
      batch(making.parameters.integer("batch")),
      steps(making.parameters.integer("steps")),
      epochs(making.parameters.integer("epochs")),
      warm_up(making.parameters.integer("warm_up")),
      evaluates(steps == 0),
      optimizer(optimizer_of(making.parameters.choice("optimizer"))),
      shards_optimizer(making.parameters.choice("shard_optimizer") == "on"),
      on_host(making.parameters.choice("input") == "host"),
      workers(static_cast<int>(making.parameters.integer("workers"))),
      learning_rate(making.parameters.real("learning_rate")),
      gamma(making.parameters.real("gamma")),
      dropout{making.seed, network.drops && making.parameters.choice("dropout") == "on"},
      seed_(making.seed),
      shuffled_(making.parameters.choice("shuffle") == "on"),
      start_(std::make_unique<cnn::Start>()) {
  require(extent() > 0, "train: there must be at least one image");
  require(extent() <= std::numeric_limits<std::int32_t>::max(), "train: up to 2147483647 images");
  require_images(network, "train", data.train);
  require_images(network, "test", data.test);
  require(data.classes <= cnn::classes,
          "classes: " + std::to_string(data.classes) + "; the network has " + std::to_string(cnn::classes));
  require(batch <= extent(), "batch: " + std::to_string(batch) + ", but there are " + std::to_string(extent()) +
                                 " training images; take at most as many");
  if (trains && evaluates) {
    require(warm_up == 0, "warm_up: only with `steps`; epochs start at their first step");
    steps = epochs * batches();
    return;
  }
  if (!trains) {
    require(!on_host, "input: host is of training; inference has its images on the device");
    require(steps == 0 && epochs == 1, "task: inference has no steps and no epochs; warm_up trains before it");
    require(data.test.rows() > 0, "task: inference classifies the test images; there are none");
  }
  epochs = ceil_div(std::max<std::int64_t>(warm_up + steps, 1), batches());
}

Cnn::~Cnn() = default;

std::int64_t Cnn::tests() const { return !evaluates ? 0 : trains ? epochs : 1; }

std::int64_t Cnn::batches() const { return ceil_div(extent(), batch); }

std::int64_t Cnn::images_of(std::int64_t step) const {
  const std::int64_t number = step % batches();
  return std::min(batch, extent() - number * batch);
}

std::span<const std::int32_t> Cnn::order_of(std::int64_t step) const {
  return order.values<const std::int32_t>().subspan(
      static_cast<std::size_t>(step / batches() * extent() + step % batches() * batch),
      static_cast<std::size_t>(images_of(step)));
}

float Cnn::rate_of(std::int64_t step) const {
  return rates.values<const float>()[static_cast<std::size_t>(step / batches())];
}

void Cnn::make_inputs(Range /*local*/, std::pmr::memory_resource& memory) {
  require_labels("training", "image", data.train_labels, data.train.rows(), cnn::classes);
  require_labels("test", "image", data.test_labels, data.test.rows(), cnn::classes);
  initial = HostArray(memory, Dtype::f32, {network.parameters()});
  const std::span<float> all = initial.values<float>();
  for (int tensor = 0; tensor < network.tensors(); ++tensor) {
    const auto bound = static_cast<float>(initial_bound(network, tensor));
    const int begin = network.tensor_begin(tensor);
    for (int i = begin; i < network.tensor_begin(tensor + 1); ++i)
      all[static_cast<std::size_t>(i)] =
          2 * random_value<float>(seed_, static_cast<std::uint64_t>(tensor), static_cast<std::uint64_t>(i - begin)) *
          bound;
  }
  order = HostArray(memory, Dtype::i32, {epochs, extent()});
  rates = HostArray(memory, Dtype::f32, {epochs});
  dropout_seed = HostArray(memory, Dtype::i64, {1});
  dropout_seed.values<std::int64_t>()[0] = static_cast<std::int64_t>(dropout.seed);
#pragma omp parallel for schedule(static)
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    rates.values<float>()[static_cast<std::size_t>(epoch)] =
        static_cast<float>(learning_rate * std::pow(gamma, static_cast<double>(epoch)));
    const auto images = order.values<std::int32_t>(epoch, epoch + 1);
    std::iota(images.begin(), images.end(), 0);
    if (!shuffled_) continue;
    for (std::size_t last = images.size(); last-- > 1;)
      std::swap(images[last],
                images[random_below(last + 1, seed_, order_stream + static_cast<std::uint64_t>(epoch), last)]);
  }
}

/// Multiply-adds of an image. A position that a pool drops is needed by nothing; a gradient goes to one position of a
/// window; dropout keeps 3 of 4 values after the last pool and every second hidden value, in the mean. Zeros that
/// follow from the data (ReLU) are not exploited. The backward pass takes two products per weight, but none for the
/// gradient of the pixels.
double Cnn::multiply_adds() const {
  const bool drops = trains && dropout.on;
  const double kept = drops ? 0.75 : 1, kept_hidden = drops ? 0.5 : 1;
  double all = 0;
  for (int n = 0; n < network.count; ++n) {
    const cnn::Convolution& layer = network.convolutions[n];
    const double of_position = static_cast<double>(layer.terms()) * layer.outputs,
                 windows = layer.windows() * (n + 1 == network.count ? kept : 1.0);
    const int backward = !trains ? 0 : n == 0 ? 1 : 2;
    all += of_position * windows * (layer.places() + backward);
  }
  const double dense = kept_hidden * (kept * network.hidden * network.flat() + cnn::classes * network.hidden);
  return all + (trains ? 3 : 1) * dense;
}

/// Training images of all steps.
double Cnn::images_taken() const {
  double images = 0;
  for (std::int64_t step = warm_up; step < warm_up + std::min(steps, batches()); ++step)
    images += static_cast<double>(images_of(step));
  return images * static_cast<double>(steps) / static_cast<double>(std::min(steps, batches()));
}

/// Weights and optimizer state are read once and written once, images are read once. Results may be those of bf16.
Cost Cnn::cost() const {
  const double image_bytes = network.pixels() + 4,
               parameter_bytes = network.parameters() * static_cast<double>(sizeof(float));
  const double images = trains ? images_taken() : static_cast<double>(data.test.rows());
  const double written = trains ? (1 + blocks::states_of(optimizer)) * parameter_bytes : 0;
  const double read = trains ? written + std::min(images, static_cast<double>(extent())) * image_bytes
                             : parameter_bytes + images * image_bytes;
  return {.bytes = read + written,
          .operations = 2 * multiply_adds() * images,
          .best_unit = "bf16 tensor",
          .written_bytes = written};
}

/// Each step reads and writes weights and optimizer state, and reads its images.
double Cnn::method_bytes(std::string_view method) const {
  const Cost once = cost();
  const std::vector<Method> own = cnn::methods();
  if (!trains || std::ranges::find(own, method, &Method::name) == own.end()) return once.bytes;
  return 2 * static_cast<double>(steps) * once.written_bytes + images_taken() * (network.pixels() + 4);
}

/// `routed` and the like skip what the pool and dropout skip in the backward pass; others take every position.
double Cnn::method_operations(std::string_view method) const {
  const bool everywhere = method == "direct" || method == "flat" || method == "gemm" || method.starts_with("layers") ||
                          method.starts_with("tensor_dense");
  if (!trains || !everywhere) return cost().operations;
  const cnn::Convolution& first = network.first();
  const std::int64_t of_pixels = std::int64_t{first.terms()} * first.outputs * first.positions();
  return 2 * images_taken() * static_cast<double>(3 * network.forward_multiply_adds() - of_pixels);
}

Outputs Cnn::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  const std::int64_t states = blocks::states_of(optimizer), taken = trains ? 1 : 0;
  const std::int64_t images = trains ? images_of(warm_up + steps - 1) : 0, predicted = evaluates ? data.test.rows() : 0;
  const auto values = [&](const char* name, std::int64_t rows, std::int64_t row_size, Dtype type = Dtype::f32) {
    return league::Output{name, HostArray(memory, type, {rows, row_size}), {0, rows}};
  };
  return {{"loss", HostArray(memory, Dtype::f32, {steps}), {0, steps}},
          values("weights", 1, network.parameters()),
          values("state", states, network.parameters()),
          values("weights_before", taken, network.parameters()),
          values("state_before", taken * states, network.parameters()),
          values("gradient", taken, network.parameters()),
          values("pool_decisions", images, network.decisions(), Dtype::u8),
          values("hidden_decisions", images, network.hidden, Dtype::u8),
          {"correct", HostArray(memory, Dtype::i64, {tests()}), {0, tests()}},
          {"predictions", HostArray(memory, Dtype::i32, {predicted}), {0, predicted}}};
}

Outputs Cnn::inputs() const {
  const Range train{0, data.train.rows()}, test{0, data.test.rows()};
  return {{"train", data.train, train},
          {"train_labels", data.train_labels, train},
          {"test", data.test, test},
          {"test_labels", data.test_labels, test},
          {"initial", initial, {0, network.parameters()}},
          {"order", order, {0, epochs}},
          {"rates", rates, {0, epochs}},
          {"dropout_seed", dropout_seed, {0, 1}}};
}

Verdict Cnn::check(const Outputs& outputs, Reduce& reduce) const { return cnn::judge(*this, outputs, reduce); }

}  // namespace league
