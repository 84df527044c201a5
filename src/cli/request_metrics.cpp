#include "cli/request_metrics.h"

#include <string>

#include "api/verb.h"

namespace berth::cli {

std::function<void(const api::RestRequest&, int code)> count_requests(Metrics& metrics) {
  auto requests =
      metrics.counter("berth_api_requests_total",
                      "Requests that the API server answered, each try counted; code 0: sent, and not answered.");
  return [requests](const api::RestRequest& request, int code) mutable {
    std::string resource = request.path.empty() ? request.resource.resource : "openapi";
    if (!request.subresource.empty()) resource.append("/").append(request.subresource);
    requests.add(
        {{"verb", std::string(name_of(request.verb))}, {"resource", resource}, {"code", std::to_string(code)}});
  };
}

}  // namespace berth::cli
