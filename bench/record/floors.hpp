// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.hpp"

namespace league::bench {

/// The peaks that the `ceilings` of a run measured, and the least time that they leave to a problem on one device: the
/// bytes of its cost at the highest bandwidth, or its operations at the highest rate of a unit that can solve it
/// (Williams et al. 2009, doi:10.1145/1498765.1498785). Data within four last-level caches are held against bandwidths
/// that were measured at half to twice as many bytes only, without what starting a kernel takes. The report
/// (bench/report/bounds.py) has closer bounds.
class Floors {
 public:
  /// A case that takes less than this share of its floor has not done its work.
  static constexpr double least_share = 0.8;
  /// The same on a host, whose peaks are held down by whatever shares its cores, caches and memory.
  static constexpr double least_host_share = 0.25;

  /// @param context of the records
  explicit Floors(const Json& context);
  /// Enters a passed row of `ceilings`, or of a kernel that only moves data, with steady samples: a busy machine holds
  /// peaks down. Others are ignored.
  void learn(const Json& row);
  /// Fails a passed row below its floor, with both numbers. @returns whether it did
  bool judge(Json& row) const;

 private:
  struct Bandwidth {
    double bytes, seconds;
    bool was_seen;  ///< of a kernel that is compared itself, its start included
  };
  struct Peaks {
    std::vector<Bandwidth> bandwidths{};
    std::map<std::string, double> rates{};  ///< operations per second, by unit
  };
  [[nodiscard]] std::optional<double> bandwidth(const Json& row, const Peaks& peaks) const;

  std::map<std::string, double> cache_bytes_{};  ///< by kind of device
  std::map<std::string, Peaks> peaks_{};         ///< likewise
};

}  // namespace league::bench
