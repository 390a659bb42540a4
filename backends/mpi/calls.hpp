// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// The MPI functions used, as a table of plain functions: libleague_mpi.so is built against a machine's MPI and loaded
/// at run time, so that executables do not need MPI. All calls are non-blocking; messages are bytes.
namespace league::mpi {

struct Group;    ///< a communicator of all ranks
struct Request;  ///< a pending operation

enum class Type { f32, f64, i32, i64 };
enum class Operation { sum, max };

struct World {
  int rank, size, local_rank, local_size;
  bool several_threads;  ///< any thread may call: MPI_THREAD_MULTIPLE
  char library[256];     ///< its name and version
};

struct Calls {
  static constexpr int current_version = 1;
  int version = current_version;

  World (*start)() = nullptr;
  /// The last call.
  void (*finish)() = nullptr;
  /// Ends all ranks at once.
  void (*abort)(int exit_code) = nullptr;

  Group* (*everyone)() = nullptr;
  /// A new communicator, so that messages match within it only. Collective.
  Group* (*duplicate)(Group*) = nullptr;

  Request* (*barrier)(Group*) = nullptr;
  Request* (*broadcast)(Group*, void* data, int bytes, int from) = nullptr;
  Request* (*all_reduce)(Group*, void* data, int size, Type, Operation) = nullptr;
  /// `bytes`, `offsets`: per rank, in `all`.
  Request* (*all_gather)(Group*, const void* mine, int size_bytes, void* all, const int* bytes,
                         const int* offsets) = nullptr;
  Request* (*all_to_all)(Group*, const void* out, const int* out_bytes, const int* out_offsets, void* in,
                         const int* in_bytes, const int* in_offsets) = nullptr;
  Request* (*send)(Group*, const void* data, int bytes, int to, int tag) = nullptr;
  Request* (*receive)(Group*, void* data, int bytes, int from, int tag) = nullptr;
  /// Whether it is complete; then the request is freed.
  bool (*test)(Request*) = nullptr;
  /// The sender of a pending message with `tag`; negative: none (iprobe).
  int (*sender)(Group*, int tag) = nullptr;
};

}  // namespace league::mpi

/// The only symbol of the library.
extern "C" const league::mpi::Calls* league_mpi_calls();
