// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <csignal>
#include <iostream>

#include "bench/cli/execute.hpp"
#include "bench/cli/list.hpp"
#include "bench/measure/memory_limit.hpp"
#include "bench/peers/peers.hpp"
#include "bench/sample/sample.hpp"
#include "bench/tune/tune.hpp"

namespace league::bench {
namespace {

ExitCode run(int count, const char* const* arguments) {
  const Options options = read_options(count, arguments);
  if (options.command == Options::Command::none) return ExitCode::passed;
  const InterruptWatch interrupt;
  Runtime runtime;
  limit_memory();
  if (options.sample > 0) return sample_cases(options, runtime, interrupt);
  if (options.command == Options::Command::run) return execute(options, runtime, interrupt);
  if (options.command == Options::Command::tune) return tune(options, runtime, interrupt);
  enter_peers(options.peers);
  list(runtime, std::cout, options.json);
  return ExitCode::passed;
}

/// What is printed may be lost, as on a full disk.
ExitCode checked_output(ExitCode code) {
  if (std::cout.flush()) return code;
  std::cerr << "league: cannot write to the standard output\n";
  return ExitCode::failed;
}

ExitCode guarded(int count, const char* const* arguments) {
  try {
    return checked_output(run(count, arguments));
  } catch (const BadInput& error) {
    std::cerr << "league: " << error.what() << "\n";
    return ExitCode::bad_input;
  } catch (const Interrupted&) {
    return ExitCode::interrupted;
  } catch (const std::bad_alloc& error) {
    std::cerr << "league: " << out_of_host_memory(error) << "\n";
    return ExitCode::failed;
  } catch (const std::exception& error) {
    std::cerr << "league: " << error.what() << "\n";
    return ExitCode::failed;
  }
}

}  // namespace
}  // namespace league::bench

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond its limit is an error of that write
  return static_cast<int>(league::bench::guarded(count, arguments));
}
