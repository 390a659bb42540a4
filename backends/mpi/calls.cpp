// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/mpi/calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

// The library: one MPI call per entry of the table. Errors end the run with MPI's own message (MPI_ERRORS_ARE_FATAL,
// the default).
namespace league::mpi {
namespace {

MPI_Comm comm(Group* group) { return *reinterpret_cast<MPI_Comm*>(group); }

Request* started(MPI_Request request) { return reinterpret_cast<Request*>(new MPI_Request(request)); }

World start() {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  World world{};
  world.several_threads = level == MPI_THREAD_MULTIPLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &world.local_rank);
  MPI_Comm_size(local, &world.local_size);
  MPI_Comm_free(&local);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const char* end = std::find_if(text, text + length, [](char c) { return c == '\n' || c == ','; });
  std::memcpy(world.library, text, std::min<std::size_t>(static_cast<std::size_t>(end - text), 255));
  return world;
}

void finish() { MPI_Finalize(); }

void abort_all(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

Group* everyone() {
  static MPI_Comm world = MPI_COMM_WORLD;
  return reinterpret_cast<Group*>(&world);
}

Group* duplicate(Group* group) {
  auto* made = new MPI_Comm(MPI_COMM_NULL);
  MPI_Comm_dup(comm(group), made);
  return reinterpret_cast<Group*>(made);
}

Request* barrier(Group* group) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm(group), &request);
  return started(request);
}

Request* broadcast(Group* group, void* data, int bytes, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, bytes, MPI_BYTE, from, comm(group), &request);
  return started(request);
}

Request* all_reduce(Group* group, void* data, int size, Type type, Operation operation) {
  const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT32_T, MPI_INT64_T};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, data, size, types[static_cast<int>(type)],
                 operation == Operation::sum ? MPI_SUM : MPI_MAX, comm(group), &request);
  return started(request);
}

Request* all_gather(Group* group, const void* mine, int size_bytes, void* all, const int* bytes, const int* offsets) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgatherv(mine, size_bytes, MPI_BYTE, all, bytes, offsets, MPI_BYTE, comm(group), &request);
  return started(request);
}

Request* all_to_all(Group* group, const void* out, const int* out_bytes, const int* out_offsets, void* in,
                    const int* in_bytes, const int* in_offsets) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoallv(out, out_bytes, out_offsets, MPI_BYTE, in, in_bytes, in_offsets, MPI_BYTE, comm(group), &request);
  return started(request);
}

Request* send(Group* group, const void* data, int bytes, int to, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, bytes, MPI_BYTE, to, tag, comm(group), &request);
  return started(request);
}

Request* receive(Group* group, void* data, int bytes, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, bytes, MPI_BYTE, from, tag, comm(group), &request);
  return started(request);
}

bool test(Request* request) {
  auto* of = reinterpret_cast<MPI_Request*>(request);
  int done = 0;
  MPI_Test(of, &done, MPI_STATUS_IGNORE);
  if (done != 0) delete of;
  return done != 0;
}

int sender(Group* group, int tag) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, comm(group), &there, &status);
  return there != 0 ? status.MPI_SOURCE : -1;
}

}  // namespace
}  // namespace league::mpi

const league::mpi::Calls* league_mpi_calls() {
  using namespace league::mpi;
  static const Calls calls{Calls::current_version,
                           start,
                           finish,
                           abort_all,
                           everyone,
                           duplicate,
                           barrier,
                           broadcast,
                           all_reduce,
                           all_gather,
                           all_to_all,
                           send,
                           receive,
                           test,
                           sender};
  return &calls;
}
