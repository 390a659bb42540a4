// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/together.hpp"

#include <algorithm>
#include <stdexcept>

#include "backends/backend.hpp"
#include "bench/errors.hpp"
#include "bench/measure/memory_limit.hpp"

namespace league::bench {
namespace {

/// How a step ended on a rank, in ascending priority. `left`: only because another rank threw.
enum class Kind : char { well = '0', left, unsupported, bad_input, no_problem, error, interrupted };

struct Said {
  Kind kind = Kind::well;
  std::string what{};
};

Said said_of(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const RankFailed& reason) {
    return {Kind::left, reason.what()};
  } catch (const Interrupted& reason) {
    return {Kind::interrupted, reason.what()};
  } catch (const Unsupported& reason) {
    return {Kind::unsupported, reason.what()};
  } catch (const BadInput& reason) {
    return {Kind::bad_input, reason.what()};
  } catch (const std::bad_alloc& reason) {
    return {Kind::unsupported, out_of_host_memory(reason)};
  } catch (const std::invalid_argument& reason) {
    return {Kind::no_problem, reason.what()};
  } catch (const std::exception& reason) {
    return {Kind::error, reason.what()};
  }
}

Ranks::End end_of(Kind kind) {
  if (kind == Kind::well) return Ranks::End::well;
  return kind == Kind::left ? Ranks::End::left : Ranks::End::failed;
}

[[noreturn]] void raise(const Said& said) {
  if (said.kind == Kind::interrupted) throw Interrupted();
  if (said.kind == Kind::unsupported) throw Unsupported(said.what);
  if (said.kind == Kind::bad_input) throw BadInput(said.what);
  if (said.kind == Kind::no_problem) throw std::invalid_argument(said.what);
  throw std::runtime_error(said.what);
}

}  // namespace

void together(Ranks& ranks, const std::function<void()>& step) {
  if (ranks.place().alone()) return step();
  const Said mine = said_of(step);
  const std::string text = static_cast<char>(mine.kind) + ranks.place().host + "\n" + mine.what;
  const std::vector<std::string> all = ranks.agree(text, end_of(mine.kind));
  const auto worst = std::ranges::max_element(all, {}, [](const std::string& one) { return one.front(); });
  const auto kind = static_cast<Kind>(worst->front());
  if (kind == Kind::well) return;
  const auto what_of = [](const std::string& one) { return one.substr(one.find('\n') + 1); };
  const bool alike = std::ranges::all_of(
      all, [&](const std::string& one) { return one.front() == worst->front() && what_of(one) == what_of(*worst); });
  const std::string where =
      alike ? ""
            : "rank " + std::to_string(worst - all.begin()) + " on " + worst->substr(1, worst->find('\n') - 1) + ": ";
  raise({kind, where + what_of(*worst)});
}

bool any_rank(Ranks& ranks, bool here) { return std::ranges::max(ranks.values(static_cast<char>(here))) != 0; }

bool every_rank(Ranks& ranks, bool here) { return !any_rank(ranks, !here); }

double largest(Ranks& ranks, double here) { return std::ranges::max(ranks.values(here)); }

std::int64_t smallest(Ranks& ranks, std::int64_t here) { return std::ranges::min(ranks.values(here)); }

}  // namespace league::bench
