// The row of a pod in server-side printed tables.
#pragma once

#include <string>
#include <vector>

#include "api/printing/table.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::api {

std::vector<PrinterColumn> pod_columns();
JsonArray pod_cells(const Json& pod, Time now);

}  // namespace berth::api
