// AppWrapper. Its pod sets are at paths that the object itself names, or those of the kinds that it wraps; admission is
// written beside the wrapped objects, and the operator merges it. https://project-codeflare.github.io/appwrapper/
#pragma once

#include <memory>
#include <vector>

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

// Returns the kinds with a description that an AppWrapper may wrap.
using DescribedKinds = const std::vector<JobKindPtr>& (*)();

// The hook calls `described` when it looks for the pod sets of a wrapped object, not earlier.
std::unique_ptr<const KindHook> app_wrapper_hook(DescribedKinds described);

}  // namespace berth::jobs::kinds
