#include "base/assert.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace berth {
namespace {
std::atomic<long> broken{0};
}

void invariant_broken(const char* condition, const char* file, int line) {
  ++broken;
  std::fprintf(stderr, "berth: invariant broken: %s (%s:%d)\n", condition, file, line);
#ifdef BERTH_ASSERTS
  std::abort();
#endif
}

long broken_invariants() { return broken.load(); }

}  // namespace berth
