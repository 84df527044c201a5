// Rows of the collections `clusterqueues`, `cohorts` and `localqueues`.
#pragma once

#include "console/rows/row.h"

namespace berth::console {

std::optional<Row> cluster_queue_row(const Json& cluster_queue);
std::optional<Row> cohort_row(const Json& cohort);
std::optional<Row> local_queue_row(const Json& local_queue);

}  // namespace berth::console
