// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <omp.h>
#include <sched.h>

#include <vector>

namespace league {

/// The processors of all OpenMP places: for threads and processes that are not to stay on the place of the thread that
/// starts them. Empty without binding.
inline cpu_set_t all_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  return set;
}

}  // namespace league
