// How much of the random tests runs under sanitizers.
#pragma once

namespace berth::testing_support {

// Sanitizers make a test three to ten times slower. What many random cases find are wrong results, and the build
// without sanitizers plays them all; a tenth is enough to find wrong accesses.
#ifdef BERTH_SANITIZED
inline constexpr int kFewer = 10;
#else
inline constexpr int kFewer = 1;
#endif

}  // namespace berth::testing_support
