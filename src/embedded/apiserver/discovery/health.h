// Health endpoints: /healthz, /livez and /readyz, with ?verbose and single checks below them.
// https://kubernetes.io/docs/reference/using-api/health-checks/
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/resource_path.h"

namespace berth::apiserver::discovery {

struct HealthCheck {
  std::string name;
  std::function<std::string()> failure;  // returns the problem; empty when healthy
  bool readiness_only = false;           // does not count for /livez and /healthz
};

// nullopt: the path is not a health endpoint.
std::optional<http::HttpResponse> answer_health(const http::Target& target, const std::vector<HealthCheck>& checks);

}  // namespace berth::apiserver::discovery
