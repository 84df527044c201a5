// The row of a pod in server-side printed tables.
#pragma once

#include <string>
#include <vector>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

std::vector<PrinterColumn> pod_columns();
JsonArray pod_cells(const Json& pod, Time now);

}  // namespace berth::apiserver
