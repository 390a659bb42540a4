// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <omp.h>

// Linked before GCC's OpenMP under ThreadSanitizer, which does not see how that library orders its threads: what
// precedes a parallel region happens before it, what is in it before what follows, and what precedes a barrier before
// what follows that.
extern "C" {

void __tsan_acquire(void* at);
void __tsan_release(void* at);

void __real_GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void __real_GOMP_barrier();

namespace {

struct Region {
  void (*body)(void*);
  void* data;
  char begin, end;
};
char barrier;

void run(void* of) {
  auto* region = static_cast<Region*>(of);
  __tsan_acquire(&region->begin);
  region->body(region->data);
  __tsan_release(&region->end);
}

}  // namespace

void __wrap_GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  static Region region;  // regions are not nested
  region = {body, data, 0, 0};
  __tsan_release(&region.begin);
  __real_GOMP_parallel(run, &region, threads, flags);
  __tsan_acquire(&region.end);
}

void __wrap_GOMP_barrier() {
  __tsan_release(&barrier);
  __real_GOMP_barrier();
  __tsan_acquire(&barrier);
}
}
