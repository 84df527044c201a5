// Invariants: conditions that our own code guarantees. What input, network or time can break is an error value
// (base/result.h), never an invariant.
#pragma once

namespace berth {

// Called by BERTH_INVARIANT. Stops the program when built with BERTH_ASSERTS, else counts and logs.
void invariant_broken(const char* condition, const char* file, int line);

// How often an invariant was broken since the program started; exported as berth_broken_invariants_total.
long broken_invariants();

}  // namespace berth

#define BERTH_INVARIANT(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::invariant_broken(#condition, __FILE__, __LINE__))
