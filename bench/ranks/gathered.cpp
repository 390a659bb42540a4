// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/gathered.hpp"

#include <algorithm>
#include <cmath>

#include "bench/json.hpp"

namespace league::bench {
namespace {

/// `add(sum, value)` over the ranks, elementwise, in their order.
template <class T, class Add>
void combine(Ranks& ranks, std::span<T> values, const Add& add) {
  if (ranks.place().alone() || values.empty()) return;
  const std::size_t size = values.size();
  std::vector<T> all(size * static_cast<std::size_t>(ranks.place().size));
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks.place().size),
                                          static_cast<std::int64_t>(size * sizeof(T)));
  ranks.all_gather(std::as_bytes(values), std::as_writable_bytes(std::span(all)), lengths);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = all[i];
    for (std::size_t at = size + i; at < all.size(); at += size) values[i] = add(values[i], all[at]);
  }
}

constexpr auto plus = [](auto a, auto b) { return a + b; };

/// Whether any of these arrays is split over the ranks.
bool are_split(Ranks& ranks, const Outputs& outputs) {
  std::vector<std::int64_t> begins;
  for (const Output& output : outputs) begins.insert(begins.end(), {output.rows.begin, output.rows.end});
  std::vector<std::int64_t> lowest = begins;
  combine(ranks, std::span(lowest), [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  std::vector<std::int64_t> highest = begins;
  combine(ranks, std::span(highest), [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return lowest != highest;
}

/// On rank 0 the arrays of all ranks, which differ in their rows only; on others none.
std::vector<HostArray> arrays_of_all(Ranks& ranks, const HostArray& mine) {
  const std::vector<std::int64_t> rows = ranks.values(mine.rows());
  std::vector<HostArray> arrays;
  std::vector<Ranks::Message> out, in;
  HostArray own = mine;  // shares the values
  if (!ranks.place().leads()) {
    out.push_back({0, own.bytes()});
  } else {
    arrays.push_back(own);
    for (int rank = 1; rank < ranks.place().size; ++rank) {
      std::vector<std::int64_t> shape = mine.shape();
      if (!shape.empty()) shape.front() = rows[static_cast<std::size_t>(rank)];
      in.push_back({rank, arrays.emplace_back(*std::pmr::new_delete_resource(), mine.dtype(), shape).bytes()});
    }
  }
  ranks.exchange(out, in);
  return arrays;
}

HostArray one_after_another(const std::vector<HostArray>& arrays) {
  std::vector<std::int64_t> shape = arrays.front().shape();
  shape.front() = 0;
  for (const HostArray& array : arrays) shape.front() += array.rows();
  HostArray all(*std::pmr::new_delete_resource(), arrays.front().dtype(), shape);
  std::byte* to = all.bytes().data();
  for (const HostArray& array : arrays) to = std::ranges::copy(array.bytes(), to).out;
  return all;
}

/// One array of all rows. A rank leaves the rows of others as `poison` made them.
HostArray filled(std::vector<HostArray>& arrays) {
  HostArray& all = arrays.front();
  const std::size_t row_bytes = all.rows() == 0 ? 0 : all.bytes().size() / static_cast<std::size_t>(all.rows());
  for (std::size_t at = 0; at < all.bytes().size(); at += row_bytes)
    for (const HostArray& other : arrays) {
      const auto row = all.bytes().subspan(at, row_bytes);
      const bool written = std::ranges::any_of(row, [](std::byte byte) { return byte != std::byte{0xff}; });
      if (!written) std::ranges::copy(other.bytes().subspan(at, row_bytes), row.begin());
    }
  return all;
}

Json to_json(const Verdict& verdict) {
  Json figures = Json::array(), curves = Json::array();
  for (const Figure& figure : verdict.figures) figures.push_back({figure.name, figure.numerator, figure.denominator});
  for (const Curve& curve : verdict.curves) curves.push_back({curve.name, curve.numerators, curve.denominator});
  return {{"rows", verdict.rows_checked},
          {"worst", std::isfinite(verdict.worst) ? verdict.worst : 1e300},
          {"ties", verdict.ties},
          {"message", verdict.message},
          {"ill_posed", verdict.ill_posed},
          {"figures", figures},
          {"curves", curves}};
}

Verdict verdict_from(const Json& json) {
  Verdict verdict{.rows_checked = json.at("rows"),
                  .worst = json.at("worst"),
                  .ties = json.at("ties"),
                  .message = json.at("message"),
                  .ill_posed = json.at("ill_posed")};
  for (const Json& figure : json.at("figures")) verdict.figures.push_back({figure[0], figure[1], figure[2]});
  for (const Json& curve : json.at("curves")) verdict.curves.push_back({curve[0], curve[1], curve[2]});
  return verdict;
}

}  // namespace

void RankReduce::sum(std::span<double> values) { combine(ranks_, values, plus); }
void RankReduce::sum(std::span<long double> values) { combine(ranks_, values, plus); }
void RankReduce::sum(std::span<std::int64_t> values) { combine(ranks_, values, plus); }
void RankReduce::max(std::span<double> values) {
  combine(ranks_, values, [](double a, double b) { return std::max(a, b); });
}
bool RankReduce::agree(std::uint64_t value) {
  const std::vector<std::uint64_t> all = ranks_.values(value);
  return std::ranges::all_of(all, [&](std::uint64_t other) { return other == all.front(); });
}

Verdict gathered(Ranks& ranks, const Verdict& verdict, const Outputs& outputs) {
  if (ranks.place().alone()) return verdict;
  const bool split = are_split(ranks, outputs);
  const std::vector<std::string> all = ranks.texts(ranks.place().host + "\n" + text_of(to_json(verdict)));
  Verdict together;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t end = all[rank].find('\n');
    Verdict one = verdict_from(Json::parse(all[rank].substr(end + 1)));
    if (!one.passed() && !one.ill_posed)
      one.message = "rank " + std::to_string(rank) + " on " + all[rank].substr(0, end) + ": " +
                    (one.message.empty() ? "beyond its bound" : one.message);
    if (rank == 0)
      together = one;
    else if (split)
      together += one;
    else if (together.passed() && !one.passed())
      together = one;
  }
  return together;
}

Outputs gathered(Ranks& ranks, const Outputs& outputs) {
  if (ranks.place().alone()) return outputs;
  Outputs whole;
  for (const Output& output : outputs) {
    std::vector<HostArray> arrays = arrays_of_all(ranks, output.values);
    const bool split = are_split(ranks, {output});
    const std::vector<std::int64_t> begins = ranks.values(output.rows.begin), ends = ranks.values(output.rows.end);
    if (!ranks.place().leads()) continue;
    if (split)
      whole.push_back(
          {output.name, one_after_another(arrays), {std::ranges::min(begins), std::ranges::max(ends)}, output.form});
    else
      whole.push_back({output.name, filled(arrays), output.rows, output.form});
  }
  return whole;
}

Trace gathered(Ranks& ranks, const Trace& trace) {
  if (ranks.place().alone()) return trace;
  Json mine = {{"stages", trace.stages}, {"devices", trace.per_device_s}, {"timeline", Json::array()}};
  for (const Event& event : trace.timeline)
    mine["timeline"].push_back({event.device, event.stage, event.begin_s, event.end_s, event.queue});
  Trace whole;
  int device = 0;
  for (const std::string& text : ranks.texts(text_of(mine))) {
    const Json one = Json::parse(text);
    for (const auto& [stage, seconds] : one.at("stages").items())
      whole.stages[stage] = std::max(whole.stages[stage], seconds.get<double>());
    for (const Json& seconds : one.at("devices")) whole.per_device_s.push_back(seconds);
    int devices = 0;
    for (const Json& event : one.at("timeline")) {
      devices = std::max(devices, event[0].get<int>() + 1);
      whole.timeline.push_back({device + event[0].get<int>(), event[1], event[2], event[3], event[4]});
    }
    device += std::max(devices, static_cast<int>(one.at("devices").size()));
  }
  return whole;
}

}  // namespace league::bench
