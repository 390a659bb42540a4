// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/sum.hpp"

#include <algorithm>
#include <stdexcept>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

constexpr int min_chunk_kib = 16, max_chunk_kib = 1 << 20;

const std::vector<Dtype> dtypes{Dtype::f32, Dtype::f64, Dtype::i32};
const std::map<Dtype, std::string> units{{Dtype::i32, "i64"}};
/// Units of reductions that add everything in the accumulator type.
const std::map<Dtype, std::string> wide_units{{Dtype::f32, "f64"}, {Dtype::i32, "i64"}};

Method resident(const std::string& name, const std::string& description,
                std::map<std::string, std::string> not_expressible = {},
                const std::map<Dtype, std::string>& adds_in = units) {
  return {.name = name,
          .description = description,
          .dtypes = dtypes,
          .not_expressible = std::move(not_expressible),
          .units = adds_in};
}

Method from_host(const std::string& name, const std::string& description) {
  const std::string why = "the data are in host memory: nothing to copy in";
  return {.name = name,
          .description = description,
          .dtypes = dtypes,
          .not_expressible = {{"serial", why}, {"openmp", why}},
          .problem = "from_host",
          .units = units};
}

/// A lower rung of the ladder, of kernels for GPUs.
Method rung(const std::string& name, const std::string& description) {
  const std::string why = "a step towards the GPU kernels: see two_stage";
  Method method = resident(name, description, {{"serial", why}, {"openmp", why}}, wide_units);
  method.naive = true;
  return method;
}

const RegisterAlgorithm registered{Algorithm{
    .name = Sum::algorithm,
    .description = "sum of an array",
    .parameters = {{.name = "n",
                    .kind = Parameter::Kind::size,
                    .default_value = "1048576",
                    .min = 0,
                    .description = "elements",
                    .is_length = true},
                   {.name = "chunk",
                    .default_value = "0",
                    .min = 0,
                    .max = max_chunk_kib,
                    .description = "KiB per partial sum, from 16; 0: by the size of the array"},
                   {.name = "values",
                    .kind = Parameter::Kind::choice,
                    .default_value = "uniform",
                    .choices = {"uniform", "signed"},
                    .description = "[0, 1) or [-1/2, 1/2); integers: [0, 2^31) or [-2^31, 2^31)"}},
    .methods = {resident("two_stage", "one partial sum per chunk, then these in the order of their index"),
                resident("atomic", "each team adds its sum to one value on its device by an atomic",
                         {{"serial", "one thread has no contention"}}),
                resident("flat", "a reduction over a range of elements, mapped by Kokkos",
                         only_kokkos("Kokkos' own reduction; for libraries see `reduce`"), wide_units),
                {.name = "reduce",
                 .description = "the library's own reduction",
                 .dtypes = dtypes,
                 .libraries = {"cub", "rocprim"},
                 .own_models = false,
                 .units = wide_units},
                from_host("interleaved", "from host memory: copy in, sum and copy out, one device after another"),
                from_host("two_phase", "from host memory: all copies in, then sums and copies out"),
                from_host("two_phase_sync", "two_phase, with the host waiting for each copy in"),
                rung("one_thread", "one thread adds everything"),
                rung("atomic_per_element", "an atomic addition for each element"),
                rung("tree_divergent",
                     "a tree in shared memory, interleaved addressing: the threads of a warp diverge"),
                rung("tree_sequential", "a tree in shared memory, sequential addressing"),
                rung("shuffle", "one element per thread, added by shuffles"),
                rung("several_per_thread", "several elements per thread, then shuffles")},
    .make = [](const Making& making) { return std::make_unique<Sum>(making); },
    .edge_cases = {{{"n", "0"}},
                   {{"n", "1"}},
                   {{"n", "2"}},
                   {{"n", "4095"}, {"values", "signed"}},
                   {{"n", "70001"}},
                   {{"n", "140002"}, {"chunk", "64"}}}}};

template <class T>
T value_at(std::uint64_t seed, bool is_signed, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, 0, index);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(is_signed ? bits >> 32 : bits >> 33);
  else
    return random_value<T>(seed, 0, index) + (is_signed ? T{0} : T{0.5});  // exact
}

/// Compensated summation: a sum and its rounding error.
struct Compensated {
  double sum = 0, lost = 0, magnitudes = 0;
  /// Source: Knuth, The Art of Computer Programming 2, 4.2.2: the rounding error of an addition is itself a
  /// floating-point number.
  void add(double value) {
    const double next = sum + value, part = next - sum;
    lost += (sum - (next - part)) + (value - part);
    sum = next;
  }
  void add(const Compensated& other) {
    add(other.sum);
    lost += other.lost;
    magnitudes += other.magnitudes;
  }
};

template <class T>
Compensated compensated_sum(std::span<const T> values) {
  constexpr std::size_t width = 8;  // independent sums, vectorised
  std::array<Compensated, width> sums{};
  for (std::size_t i = 0; i + width <= values.size(); i += width)
    for (std::size_t k = 0; k < width; ++k) {
      sums[k].add(static_cast<double>(values[i + k]));
      sums[k].magnitudes += std::abs(static_cast<double>(values[i + k]));
    }
  for (std::size_t i = values.size() / width * width; i < values.size(); ++i) {
    sums[0].add(static_cast<double>(values[i]));
    sums[0].magnitudes += std::abs(static_cast<double>(values[i]));
  }
  Compensated total;
  for (const Compensated& sum : sums) total.add(sum);
  return total;
}

/// Maximum relative error of `operations` consecutive roundings.
double grown(double operations, double epsilon) { return operations * epsilon / 2 / (1 - operations * epsilon / 2); }

}  // namespace

int sum::chunk_elements(std::int64_t n, Dtype dtype) {
  const auto size = static_cast<std::int64_t>(size_bytes(dtype));
  std::int64_t bytes = std::int64_t{min_chunk_kib} * 1024;
  while (bytes < std::int64_t{max_chunk_kib} * 1024 &&
         static_cast<double>(bytes) * static_cast<double>(bytes) < 4.0 * static_cast<double>(n * size))
    bytes *= 2;
  return static_cast<int>(bytes / size);
}

Sum::Sum(const Making& making)
    : Problem(making),
      n(making.parameters.integer("n")),
      chunk(sum::chunk_elements(n, dtype)),
      seed_(making.seed),
      signed_(making.parameters.choice("values") == "signed") {
  const std::int64_t kib = making.parameters.integer("chunk");
  if (kib != 0 && kib < min_chunk_kib)
    throw std::invalid_argument("chunk = " + std::to_string(kib) + ": from " + std::to_string(min_chunk_kib) +
                                " KiB, or 0");
  if (kib != 0) chunk = static_cast<int>(kib * 1024 / static_cast<std::int64_t>(size_bytes(dtype)));
}

void Sum::make_inputs(Range local, std::pmr::memory_resource& memory) {
  local_ = local;
  const Range all = elements(local);
  x = HostArray(memory, dtype, {all.size()});
  with_type<float, double, std::int32_t>(dtype, [&]<class T>() {
    const std::span<T> values = x.values<T>();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = all.begin; i < all.end; ++i)
      values[static_cast<std::size_t>(i - all.begin)] = value_at<T>(seed_, signed_, static_cast<std::uint64_t>(i));
  });
}

Cost Sum::cost() const {
  return {static_cast<double>(n) * static_cast<double>(size_bytes(dtype)), static_cast<double>(n)};
}

Outputs Sum::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  return {{"sum", HostArray(memory, dtype == Dtype::i32 ? Dtype::i64 : Dtype::f64, {1}), {0, 1}}};
}

Outputs Sum::inputs() const { return {{"x", x, elements(local_)}}; }

Range Sum::elements(Range chunks) const { return {std::min(chunks.begin * chunk, n), std::min(chunks.end * chunk, n)}; }

double Sum::bound(const std::string& form, Reduce& reduce) const {
  constexpr int joined = 1024;  // a team's or a host's threads
  const bool known = form != any_order;
  // Longest chain of additions: elements of a chunk, chunks of a thread, teams of an atomic sum; at most all elements.
  const auto deepest = static_cast<double>(known ? std::min(n, chunk + 2 * extent() + joined) : n);
  const auto in_float =
      static_cast<double>(dtype == Dtype::f32 && known ? std::min<std::int64_t>(n, sum::float_additions) : 0);
  const double rounded = (1 + grown(in_float, epsilon_of<float>)) * (1 + grown(deepest + 2, epsilon_of<double>)) - 1;
  return rounded * oracle(reduce).magnitudes;  // the two above: the oracle's own error
}

const Sum::Oracle& Sum::oracle(Reduce& reduce) const {
  if (oracle_) return *oracle_;
  const std::int64_t blocks = local_.size();
  std::vector<Compensated> sums(static_cast<std::size_t>(blocks));
  std::uint64_t exact = 0;
  with_type<float, double, std::int32_t>(dtype, [&]<class T>() {
#pragma omp parallel for schedule(static) reduction(+ : exact)
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::span<const T> part = values<T>({local_.begin + block, local_.begin + block + 1});
      if constexpr (std::is_integral_v<T>)
        for (const T value : part) exact += static_cast<std::uint64_t>(std::int64_t{value});
      else
        sums[static_cast<std::size_t>(block)] = compensated_sum(part);
    }
  });
  Compensated total;
  for (const Compensated& sum : sums) total.add(sum);
  std::array<long double, 2> sums_of_all{total.sum + static_cast<long double>(total.lost), total.magnitudes};
  reduce.sum(sums_of_all);
  oracle_ = {static_cast<double>(sums_of_all[0]), static_cast<double>(sums_of_all[1]),
             reduce.sum_of(static_cast<std::int64_t>(exact))};
  return *oracle_;
}

Verdict Sum::check(const Outputs& outputs, Reduce& reduce) const {
  const Output& output = outputs.at(0);
  if (dtype != Dtype::i32)
    return judge_values("sum", output.values.values<const double>(),
                        [&](std::int64_t) { return Expected{oracle(reduce).value, bound(output.form, reduce)}; });
  Verdict verdict{.rows_checked = 1};
  if (const std::int64_t value = output.values.values<const std::int64_t>()[0]; value != oracle(reduce).exact)
    verdict.fail("sum[0] is " + std::to_string(value) + ", expected " + std::to_string(oracle(reduce).exact));
  return verdict;
}

}  // namespace league
