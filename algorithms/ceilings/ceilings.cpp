// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/ceilings/ceilings.hpp"

#include <stdexcept>

#include "algorithms/ceilings/tensor.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"
#include "backends/launch.hpp"

namespace league::ceilings {

const Recurrence recurrence;

namespace {

Kernel kernel_from(const std::string& name) {
  if (name == "copy") return Kernel::copy;
  if (name == "read") return Kernel::read;
  if (name == "write") return Kernel::write;
  if (name == "add") return Kernel::add;
  if (name == "triad") return Kernel::triad;
  if (name == "dot") return Kernel::dot;
  if (name == "multiply_add") return Kernel::multiply_add;
  if (name == "tensor") return Kernel::tensor;
  throw std::logic_error("no ceiling is named '" + name + "'");
}

Method bandwidth(const std::string& name, const std::string& description) {
  return {.name = name,
          .description = description,
          .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::u8},
          .problem = name,
          .units = {{Dtype::u8, "i32"}}};
}

const std::map<Dtype, std::string> tensor_units{{Dtype::f32, "tf32 tensor"},
                                                {Dtype::f64, "f64 tensor"},
                                                {Dtype::f16, "f16 tensor"},
                                                {Dtype::bf16, "bf16 tensor"},
                                                {Dtype::u8, "u8 tensor"}};

/// Small matrix products by the tensor cores of NVIDIA GPUs. `dtype` is the type of the factors.
Method tensor_method(const std::string& name, const std::string& description) {
  const std::string why = "NVIDIA's matrix instructions, inline PTX in CUDA only";
  return {.name = name,
          .description = description,
          .dtypes = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::u8},
          .not_expressible = {{"serial", why}, {"openmp", why}, {"kokkos", why}, {"hip", why}},
          .problem = "tensor",
          .units = tensor_units};
}

const RegisterAlgorithm registered{Algorithm{
    .name = Ceilings::algorithm,
    .description = "bandwidths and multiply-add rates of a device: the measured peaks of all rooflines",
    .parameters = {{.name = "n",
                    .kind = Parameter::Kind::size,
                    .default_value = "67108864",
                    .description = "elements, rounded up to chunks of 16 KiB",
                    .is_length = true},
                   {.name = "operands",
                    .kind = Parameter::Kind::choice,
                    .default_value = "constant",
                    .choices = {"constant", "random"},
                    .description = "operands of tensor and tensor_hopper: one number in all elements, the peak that "
                                   "rooflines use; or random ones, which draw more power"}},
    .methods = {bandwidth("copy", "c[i] = a[i]"),
                bandwidth("read", "the sum of each chunk"),
                bandwidth("write", "c[i] = the number of its chunk, modulo 128, plus 1"),
                bandwidth("add", "c[i] = a[i] + b[i]"),
                {.name = "triad",
                 .description = "c[i] = a[i] + 3 b[i], as STREAM's",
                 .dtypes = {Dtype::f32, Dtype::f64},
                 .problem = "triad"},
                {.name = "dot",
                 .description = "the sum of the products a[i] b[i] of each chunk",
                 .dtypes = {Dtype::f32, Dtype::f64},
                 .problem = "dot"},
                {.name = "multiply_add",
                 .description = "1,024 multiply-adds on each element, in registers",
                 .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
                 .problem = "multiply_add"},
                tensor_method("tensor", "matrix multiply-adds of a warp (mma), from registers"),
                tensor_method("tensor_hopper",
                              "of a warpgroup (wgmma), from shared memory; f64: of a warp, four steps at once")},
    .make = [](const Making& making) { return std::make_unique<Ceilings>(making); },
    .edge_cases = {{{"n", "1"}}, {{"n", "1000"}}, {{"n", "70001"}}, {{"n", "70001"}, {"operands", "random"}}}}};

/// Calls `body.operator()<T>()` with the type of the elements.
template <class Body>
auto with_element(Dtype dtype, const Body& body) {
  if (dtype == Dtype::i32) return body.template operator()<std::int32_t>();
  if (dtype == Dtype::u8) return body.template operator()<std::uint8_t>();
  return dtype == Dtype::f64 ? body.template operator()<double>() : body.template operator()<float>();
}

/// Integers from 0 on, below `end`.
template <class T>
void fill_small(std::span<T> values, int end, std::uint64_t seed, std::uint64_t stream, std::int64_t first) {
  const auto size = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(random_below(end, seed, stream, static_cast<std::uint64_t>(first + i)));
}

/// The end of a method's inputs: a chunk's sum is exact in float, of products too, and that of two bytes is a byte.
int end_of_inputs(Kernel kernel, Dtype dtype) {
  if (dtype == Dtype::u8) return 128;
  return kernel == Kernel::dot ? 64 : 256;
}

Dtype result_dtype(Kernel kernel, Dtype dtype) {
  const bool sums = kernel == Kernel::read || kernel == Kernel::tensor;
  if (sums && dtype == Dtype::u8) return Dtype::i32;
  return kernel == Kernel::tensor && dtype != Dtype::f64 ? Dtype::f32 : dtype;
}

/// Expected value of row `row` of `multiply_add`: every two steps add odd - even to each chain.
double advanced(const Recurrence& recurrence, std::int64_t row) {
  double sum = chains * (recurrence.odd - recurrence.even) * (recurrence.steps / 2);
  for (int chain = 0; chain < chains; ++chain) sum += start<double>(row, chain);
  return sum;
}

}  // namespace

Ceilings::Ceilings(const Making& making)
    : Problem(making),
      kernel(kernel_from(making.problem)),
      output_dtype(result_dtype(kernel, dtype)),
      row_size(chunk_bytes / static_cast<std::int64_t>(size_bytes(dtype))),
      seed(making.seed),
      random_operands(making.parameters.choice("operands") == "random") {
  std::int64_t chunk = row_size;
  if (kernel == Kernel::multiply_add) row_size = chains;
  if (kernel == Kernel::tensor) chunk = row_size = tensor_sums;
  rows = ceil_div(making.parameters.integer("n"), chunk) * (chunk / row_size);
}

void Ceilings::make_inputs(Range here, std::pmr::memory_resource& memory) {
  local = here;
  if (kernel == Kernel::write || kernel == Kernel::multiply_add || kernel == Kernel::tensor) return;
  a = HostArray(memory, dtype, {local.size(), row_size});
  const bool takes_two = kernel == Kernel::add || kernel == Kernel::triad || kernel == Kernel::dot;
  if (takes_two) b = HostArray(memory, dtype, {local.size(), row_size});
  with_element(dtype, [&]<class T>() {
    const int end = end_of_inputs(kernel, dtype);
    fill_small(a.values<T>(), end, seed, 0, local.begin * row_size);
    if (takes_two) fill_small(b.values<T>(), end, seed, 1, local.begin * row_size);
  });
}

Cost Ceilings::cost() const {
  const double elements = static_cast<double>(rows) * static_cast<double>(row_size);
  const double bytes = elements * static_cast<double>(size_bytes(dtype));
  switch (kernel) {
    case Kernel::copy:
      return {.bytes = 2 * bytes, .written_bytes = bytes};
    case Kernel::add:
      return {.bytes = 3 * bytes, .operations = elements, .written_bytes = bytes};
    case Kernel::triad:
      return {.bytes = 3 * bytes, .operations = 2 * elements, .written_bytes = bytes};
    case Kernel::dot:
      return {2 * bytes, 2 * elements};
    case Kernel::multiply_add:
      return {.bytes = bytes / chains, .operations = 2 * elements * recurrence.steps, .written_bytes = bytes / chains};
    case Kernel::tensor: {
      const double sums = static_cast<double>(rows) * static_cast<double>(size_bytes(output_dtype));
      return {.bytes = sums,
              .operations = 2 * elements * tensor_depth(dtype) * recurrence.steps,
              .best_unit = tensor_units.at(dtype),
              .written_bytes = sums};
    }
    case Kernel::write:
      return {.bytes = bytes, .written_bytes = bytes};
    case Kernel::read:
      break;
  }
  return {.bytes = bytes};
}

Outputs Ceilings::make_outputs(Range here, std::pmr::memory_resource& memory) const {
  return {{output_row_size() == 1 ? "sums" : "values",
           HostArray(memory, output_dtype, {here.size(), output_row_size()}), here}};
}

Outputs Ceilings::inputs() const {
  Outputs arrays;
  if (!a.shape().empty()) arrays.push_back({"a", a, local});  // also without local rows
  if (!b.shape().empty()) arrays.push_back({"b", b, local});
  return arrays;
}

Verdict Ceilings::check(const Outputs& outputs, Reduce& /*reduce*/) const {
  const auto check_values = [&]<class In, class Out>() {
    const auto at = [this](const HostArray& array, std::int64_t i) {
      return static_cast<double>(array.values<In>()[static_cast<std::size_t>(i - local.begin * row_size)]);
    };
    return judge_rows<Out>(outputs.at(0), [&](std::int64_t i) -> Expected {
      switch (kernel) {
        case Kernel::copy:
          return {at(a, i), 0};
        case Kernel::add:
          return {at(a, i) + at(b, i), 0};
        case Kernel::triad:
          return {at(a, i) + triad_factor * at(b, i), 0};
        case Kernel::write:
          return {written<double>(i / row_size), 0};
        case Kernel::multiply_add:
          return {advanced(recurrence, i), 0};
        case Kernel::tensor:
          return {product_sum(dtype, {random_operands, seed}, i, recurrence.steps), 0};
        case Kernel::read:
        case Kernel::dot:
          break;
      }
      double sum = 0;
      for (std::int64_t k = i * row_size; k < (i + 1) * row_size; ++k)
        sum += kernel == Kernel::dot ? at(a, k) * at(b, k) : at(a, k);
      return {sum, 0};
    });
  };
  return with_element(output_dtype, [&]<class Out>() {
    if (dtype == Dtype::u8 && kernel == Kernel::read)
      return check_values.template operator()<std::uint8_t, std::int32_t>();
    return check_values.template operator()<Out, Out>();
  });
}

}  // namespace league::ceilings
