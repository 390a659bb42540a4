// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <iosfwd>

#include "bench/study/study.hpp"
#include "bench/tune/tuned_file.hpp"

namespace league::bench {

/// What `league run` does where the study leaves the launch open: --launch.
enum class LaunchChoice {
  automatic,  ///< the method's own choice
  tuned,      ///< that of the tuned file, where there is one; else automatic
  given       ///< cases without a launch do not run
};

/// Entries for some variants of one problem, all from one search.
struct TunedMatch {
  std::vector<const TunedEntry*> entries;  ///< one for each key asked for; empty: there are none
  std::string reason;                      ///< why there are none
};
/// The entries of a file for `keys`, which differ in variant only: of the same sizes or, if there are none, of the
/// nearest sizes, none of which may differ by more than a factor of two. Every variant must have been in the same
/// search: tuned launches are not compared with untuned ones.
TunedMatch match(const TunedFile& file, const std::vector<TunedKey>& keys);

/// Decides the launches that the study leaves open or wants tuned. Own kernels of one comparison and kind of device are
/// tuned together or not at all; libraries stay automatic. `folder` holds the tuned files; `notes`: what an existing
/// file lacks.
/// @throws BadInput for a broken file
void choose_launches(Study& study, LaunchChoice choice, const std::filesystem::path& folder, const Runtime& runtime,
                     std::ostream& notes);

}  // namespace league::bench
