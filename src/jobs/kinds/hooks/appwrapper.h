// AppWrapper. Its pod sets are at paths that the object itself names, or those of the kinds that it wraps; admission is
// written beside the wrapped objects, and the operator merges it. https://project-codeflare.github.io/appwrapper/
#pragma once

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

const KindHook& app_wrapper_hook();

}  // namespace berth::jobs::kinds
