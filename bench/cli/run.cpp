// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/run.hpp"

#include <algorithm>
#include <iostream>

#include "bench/cli/preflight.hpp"
#include "bench/files.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/save_again.hpp"
#include "bench/peers/peers.hpp"
#include "bench/printable.hpp"
#include "bench/ranks/gathered.hpp"
#include "bench/ranks/places.hpp"
#include "bench/ranks/together.hpp"
#include "bench/record/floors.hpp"
#include "bench/record/folder.hpp"
#include "bench/record/progress.hpp"
#include "bench/record/report_lines.hpp"
#include "bench/try/own.hpp"
#include "bench/try/peaks.hpp"

namespace league::bench {
namespace {

/// How many cases of a study fulfil a condition.
template <class Condition>
int count_cases(const Study& study, const Condition& condition) {
  std::ptrdiff_t count = 0;
  for (const Comparison& comparison : study.comparisons) count += std::ranges::count_if(comparison.cases, condition);
  return static_cast<int>(count);
}

/// What determines the records, beside the study.
Json options_json(const Options& options, const Json& peers) {
  return {{"device_memory_bytes", options.device_memory_bytes ? Json(*options.device_memory_bytes) : Json()},
          {"data", options.data.string()},
          {"peers", peers}};
}

/// The tuned launches of a study: a resumed run must find the same.
Json tuned_json(const Study& study) {
  Json files = Json::object();
  for (const Comparison& comparison : study.comparisons)
    for (const Case& that : comparison.cases)
      if (that.launch_source == LaunchSource::tuned) files[that.tuning.file] = that.tuning.hash;
  return files;
}

Json context_of(const Study& study, const Runtime& runtime, const Json& peers) {
  Json context;
  together(runtime.ranks(), [&] {
    const Json places = places_of(runtime);
    const std::vector<std::string> found = preflight(runtime, places);
    context = make_context(runtime, study.title, found, places);
    context["league"]["peers"] = peers;
    if (!runtime.ranks().place().leads()) return;
    if (!runtime.ranks().place().alone())
      for (const Json& place : places) std::cerr << "league: " << text_of_place(place) << "\n";
    for (const std::string& sentence : found) std::cerr << "league: preflight: " << printable(sentence) << "\n";
  });
  return context;
}

/// A study being run: comparison after comparison, recorded by rank 0.
class Run {
 public:
  Run(const Options& options, Runtime& runtime, Datasets& datasets, const InterruptWatch& interrupt, const Study& study,
      const Json& peers)
      : options_(options),
        study_(study),
        ranks_(runtime.ranks()),
        leads_(ranks_.place().leads()),
        context_(context_of(study, runtime, peers)),
        folders_{options.save_results, options.save_inputs, {}},
        run_context_{
            runtime,
            datasets,
            sampler_,
            options.device_memory_bytes,
            [this, &interrupt] {
              if (any_rank(ranks_, interrupt.requested())) throw Interrupted();
            },
            [this](const Case& that, const std::string& doing) {
              if (leads_) progress_->doing(doing, that.name);
            },
            [this](const Case& that, const Problem& problem, const Outputs& outputs) { save(that, problem, outputs); },
            [&runtime](const Comparison& comparison) { expect_peers(comparison, runtime); },
            settle_peers},
        floors_(context_) {
    if (!options.own.files.empty() && runtime.ranks().place().alone()) kept_peaks_.emplace(runtime);
    together(ranks_, [&] {
      if (!leads_) return;
      folder_.emplace(options.records, manifest(options, study, runtime, datasets, peers), study, options.resume);
      folders_.run_id = folder_->run_id();
      progress_.emplace(count_cases(study, [](const Case&) { return true; }),
                        count_cases(study, [](const Case& that) { return !that.skip.empty(); }));
    });
    context_["league"]["run_id"] = folders_.run_id;
  }

  ExitCode run() {
    bool interrupted = false;
    try {
      for (std::size_t number = 0; number < study_.comparisons.size(); ++number)
        run_numbered(number, study_.comparisons[number]);
    } catch (const Interrupted&) {
      interrupted = true;
    }
    if (leads_) print_benchmark_output();
    if (leads_ && console_ && !options_.own.files.empty()) {
      print_own_table(records_, std::cout);
      std::cout << "\nrecords: " << options_.records.string() << "\n";
    }
    if (interrupted) return ExitCode::interrupted;
    return every_rank(ranks_, !leads_ || (all_saved_ && exit_code(records_) == ExitCode::passed)) ? ExitCode::passed
                                                                                                  : ExitCode::failed;
  }

 private:
  void run_numbered(std::size_t number, const Comparison& comparison) {
    std::optional<Json> record;
    if (leads_) record = folder_->find(number);
    const bool ran_before = any_rank(ranks_, record.has_value());
    if (!ran_before) {
      if (leads_) progress_->begin_comparison(comparison.name);
      run_context_.check_interrupt();
      const Stopwatch watch;
      record = record_of(context_, comparison.name, results_of(comparison), watch.seconds());
      together(ranks_, [&] {
        if (leads_) folder_->write(number, comparison.name, *record);
      });
    } else if (folders_.wanted()) {
      if (!ranks_.place().alone()) record = Json::parse(ranks_.texts(record ? text_of(*record) : "").front());
      all_saved_ = save_again(comparison, *record, folders_, run_context_) && all_saved_;
    }
    if (!leads_) return;
    if (ran_before)
      for (const Json& row : record->at("benchmarks")) floors_.learn(row);
    for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
      const std::string line = console_ ? case_line(record->at("benchmarks").at(i)) : "";
      progress_->finish_case(line, comparison.cases[i].skip.empty(), ran_before);
    }
    records_.push_back(*std::move(record));
  }

  /// The rows of a comparison; those of peaks that an earlier run of own kernels kept are not measured again.
  Json results_of(const Comparison& comparison) {
    std::optional<Json> rows = kept_peaks_ ? kept_peaks_->find(comparison) : std::nullopt;
    if (!rows) {
      rows = rows_of(context_, run_comparison(comparison, run_context_));
      if (kept_peaks_) kept_peaks_->keep(comparison, *rows);
    }
    for (const Json& row : *rows) floors_.learn(row);
    return judged(*std::move(rows));
  }

  /// Fails rows below their floor: not before the peaks, which a busy machine may have held down, were measured again.
  Json judged(const Json& rows) {
    for (int left = 2;; --left) {
      Json found = rows;
      int below = 0;
      for (Json& row : found) below += floors_.judge(row) ? 1 : 0;
      if (below == 0 || left == 0 || !ranks_.place().alone()) return found;
      for (std::size_t number = 0; number < records_.size(); ++number)
        if (study_.comparisons[number].cases.front().algorithm->name == "ceilings") measure_again(number);
    }
  }

  /// Replaces the rows of a comparison that are slower than now.
  void measure_again(std::size_t number) {
    const Comparison& comparison = study_.comparisons[number];
    const Json again = rows_of(context_, run_comparison(comparison, run_context_));
    Json& rows = records_[number]["benchmarks"];
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (again[i].at("status") != "passed" || again[i].at("real_time") > rows[i].at("real_time")) continue;
      rows[i] = again[i];
      floors_.learn(again[i]);
    }
    folder_->write(number, comparison.name, records_[number]);
    if (kept_peaks_) kept_peaks_->keep(comparison, rows);
  }

  void save(const Case& that, const Problem& problem, const Outputs& outputs) {
    if (!folders_.wanted()) return;
    const Outputs results = gathered(ranks_, outputs);
    const Outputs inputs = folders_.inputs.empty() ? Outputs{} : gathered(ranks_, problem.inputs());
    if (leads_) folders_.save(that, inputs, results);
  }

  /// Output of --benchmark_format and --benchmark_out.
  void print_benchmark_output() const {
    if (!options_.benchmark.out.empty() && !records_.empty())
      write_whole(options_.benchmark.out, text_of(merge_records(records_), 1) + "\n");
    print_all(options_.benchmark.format, records_, std::cout);
  }

  const Options& options_;
  const Study& study_;
  Ranks& ranks_;
  bool leads_;
  Json context_;
  std::optional<RecordFolder> folder_;
  SaveFolders folders_;
  std::optional<Progress> progress_;
  Sampler sampler_;
  RunContext run_context_;
  Floors floors_;
  std::optional<KeptPeaks> kept_peaks_;  ///< of a study of own kernels
  std::vector<Json> records_;
  bool all_saved_ = true;  ///< the results that --save-results and --save-inputs ask for of comparisons done before
  bool console_ = options_.benchmark.format == BenchmarkFlags::Format::console;
};

}  // namespace

Json manifest(const Options& options, const Study& study, const Runtime& runtime, const Datasets& datasets,
              const Json& peers) {
  Json all = options_json(options, peers);
  all["tuned"] = tuned_json(study);
  return make_manifest(study, runtime, datasets, all);
}

ExitCode run_study(const Options& options, Runtime& runtime, Datasets& datasets, const InterruptWatch& interrupt,
                   const Study& study, const Json& peers) {
  return Run(options, runtime, datasets, interrupt, study, peers).run();
}

}  // namespace league::bench
