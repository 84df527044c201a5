// What this program is.
#pragma once

#include "controller/build_info.h"

namespace berth::cli {

// Version, commit and date as the build was told.
const controller::BuildInfo& this_build();

}  // namespace berth::cli
