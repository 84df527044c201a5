// Rows of the collections `flavors`, `topologies`, `checks`, `provisioningrequests` and `vcqueues`.
#pragma once

#include "console/rows/row.h"

namespace berth::console {

std::optional<Row> flavor_row(const Json& flavor);
std::optional<Row> topology_row(const Json& topology);
std::optional<Row> check_row(const Json& admission_check);
std::optional<Row> provisioning_request_row(const Json& request);
std::optional<Row> volcano_queue_row(const Json& queue);

}  // namespace berth::console
