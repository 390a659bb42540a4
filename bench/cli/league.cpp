// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string_view>

#include "backends/host_limits.hpp"
#include "bench/cli/execute.hpp"
#include "bench/cli/list.hpp"
#include "bench/cli/threads.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/peers/peers.hpp"
#include "bench/printable.hpp"
#include "bench/sample/sample.hpp"
#include "bench/try/description.hpp"
#include "bench/tune/tune.hpp"

namespace league::bench {
namespace {

ExitCode run(int count, const char* const* arguments, Ranks& ranks) {
  const Options options = read_options(count, arguments);
  if (options.command == Options::Command::none) return ExitCode::passed;
  if (options.command == Options::Command::show_template) {
    const std::filesystem::path root = options.peers.root.empty() ? project_root() : options.peers.root;
    std::cout << template_text(read_description(root, options.template_of), language_named(options.template_model));
    return ExitCode::passed;
  }
  if (!ranks.place().alone() && (options.command != Options::Command::run || options.sample > 0))
    throw BadInput("only `league run STUDY` takes several ranks");
  require_startable_threads();
  const InterruptWatch interrupt;
  Runtime runtime(ranks);
  limit_data_size();
  if (options.sample > 0) return sample_cases(options, runtime, interrupt);
  if (options.command == Options::Command::run) return execute(options, runtime, interrupt);
  if (options.command == Options::Command::tune) return tune(options, runtime, interrupt);
  enter_peers(options.peers);
  list(runtime, std::cout, options.json);
  return ExitCode::passed;
}

/// Standard output may fail, as on a full disk.
ExitCode checked_output(ExitCode code) {
  if (std::cout.flush()) return code;
  std::cerr << "league: cannot write to the standard output\n";
  return ExitCode::failed;
}

/// Exit code and message of an exception; the caller prints the message.
struct Ending {
  ExitCode code;
  std::string words{};
};

Ending guarded(int count, const char* const* arguments, Ranks& ranks) {
  try {
    return {checked_output(run(count, arguments, ranks))};
  } catch (const BadInput& error) {
    return {ExitCode::bad_input, error.what()};
  } catch (const Interrupted&) {
    return {ExitCode::interrupted};
  } catch (const std::bad_alloc& error) {
    return {ExitCode::failed, out_of_host_memory(error)};
  } catch (const std::exception& error) {
    return {ExitCode::failed, error.what()};
  }
}

/// Runs the command; where only this rank fails, it ends all ranks.
ExitCode whole(int count, const char* const* arguments) {
  try {
    const bool forced = std::ranges::find(arguments, arguments + count, std::string_view("--mpi")) != arguments + count;
    const std::unique_ptr<Ranks> ranks = start_ranks(forced);
    const Ending ending = guarded(count, arguments, *ranks);
    const bool together = ending.code != ExitCode::failed || ending.words.empty() || ranks->step_failed();
    if (!ending.words.empty() && (ranks->place().leads() || !together))
      std::cerr << "league: " << printable(ending.words) << "\n";
    if (together) ranks->finish();
    return ending.code;
  } catch (const Unsupported& reason) {  // ranks without MPI
    std::cerr << "league: " << reason.what() << "\n";
    return ExitCode::bad_input;
  }
}

/// Ends the process in a signal handler too; records stay.
[[noreturn]] void end_at_once(std::string_view words, ExitCode code = ExitCode::failed) {
  static_cast<void>(!write(STDERR_FILENO, words.data(), words.size()));
  _exit(static_cast<int>(code));
}

/// The terminate handler: an exception left a noexcept function, as where a library needs memory to clean up.
[[noreturn]] void on_terminate() {
  end_at_once("league: ended at once, most likely out of host memory: run it again with --resume\n");
}

/// The handler of SIGABRT: Kokkos, for one, aborts once a kernel has made an illegal access, after which no call to the
/// GPU succeeds in this process.
void on_abort(int /*signal*/) {
  end_at_once("\nleague: a library has aborted, as after an illegal access on a GPU: run it again with --resume\n");
}

/// A closed standard stream becomes /dev/null: its number would be that of the next file, which then gets what is
/// printed.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDWR));
}

/// The handler of SIGILL.
void on_illegal_instruction(int /*signal*/) {
  end_at_once(
      "league: this processor lacks an instruction that this executable was built for: build it on this machine "
      "(bench/run --preset openmp), or for all of them (-D LEAGUE_ARCH=x86-64)\n",
      ExitCode::bad_input);
}

/// Before all other constructors, which may have such instructions.
[[gnu::constructor(101)]] void expect_older_processors() { std::signal(SIGILL, on_illegal_instruction); }

}  // namespace
}  // namespace league::bench

int main(int count, char** arguments) {
  league::bench::open_closed_streams();
  std::set_terminate(league::bench::on_terminate);
  std::signal(SIGABRT, league::bench::on_abort);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond its limit is an error of that write
  return static_cast<int>(league::bench::whole(count, arguments));
}
