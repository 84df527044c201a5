// Rows of the collection `workloads`.
#pragma once

#include "console/rows/row.h"

namespace berth::console {

std::optional<Row> workload_row(const Json& workload);

}  // namespace berth::console
