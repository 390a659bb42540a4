// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/outcome.hpp"

#include <array>
#include <new>

#include "bench/errors.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/ranks/together.hpp"

namespace league::bench {

void conclude(Result& result, Status status, const std::string& reason) {
  result.status = status;
  result.reason = reason;
  if (status == Status::passed) return;
  result.samples.clear();
  result.metrics.clear();
}

std::string_view name(Status status) {
  static constexpr std::array names{"passed", "skipped", "failed"};
  return names[static_cast<std::size_t>(status)];
}

bool attempt(Result& result, const std::function<void()>& step, Ranks& ranks) {
  try {
    together(ranks, step);
    return true;
  } catch (const Interrupted&) {
    throw;
  } catch (const Unsupported& reason) {
    conclude(result, Status::skipped, reason.what());
  } catch (const std::bad_alloc& error) {
    conclude(result, Status::skipped, out_of_host_memory(error));
  } catch (const std::invalid_argument& error) {  // invalid sizes, or no solution
    result.verdict.ill_posed = true;
    conclude(result, Status::failed, error.what());
  } catch (const std::exception& error) {
    conclude(result, Status::failed, error.what());
  }
  return false;
}

bool attempt(Result& result, const std::function<void()>& step) {
  Ranks alone(Ranks::Place{});
  return attempt(result, step, alone);
}

}  // namespace league::bench
