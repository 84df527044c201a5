// Counts requests to the API server: berth_api_requests_total by verb, resource and code.
#pragma once

#include <functional>

#include "api/rest.h"
#include "base/metrics.h"

namespace berth::cli {

// For kube::ClientOptions::on_answer. Declares the metric, so call it once per Metrics object; the returned function
// may be copied.
std::function<void(const api::RestRequest&, int code)> count_requests(Metrics& metrics);

}  // namespace berth::cli
