#include "embedded/apiserver/discovery/health.h"

#include <algorithm>

#include "embedded/apiserver/http/encode.h"

namespace berth::apiserver::discovery {
namespace {

// Runs all checks of an endpoint; one line per check, then the overall result.
http::HttpResponse run(std::string_view endpoint, const std::vector<HealthCheck>& checks,
                       const std::vector<std::string>& excluded, bool verbose) {
  std::string lines;
  bool fine = true;
  for (const HealthCheck& c : checks) {
    if (c.readiness_only && endpoint != "readyz") continue;
    if (std::find(excluded.begin(), excluded.end(), c.name) != excluded.end()) {
      lines += "[+]" + c.name + " excluded: ok\n";
      continue;
    }
    const std::string failure = c.failure ? c.failure() : std::string();
    lines += failure.empty() ? "[+]" + c.name + " ok\n" : "[-]" + c.name + " failed: " + failure + "\n";
    fine = fine && failure.empty();
  }
  if (!fine) return http::plain_text(500, lines + std::string(endpoint) + " check failed\n");
  return http::plain_text(200, verbose ? lines + std::string(endpoint) + " check passed\n" : "ok");
}

}  // namespace

std::optional<http::HttpResponse> answer_health(const http::Target& target, const std::vector<HealthCheck>& checks) {
  if (target.segments.empty() || target.segments.size() > 2) return std::nullopt;
  const std::string& endpoint = target.segments[0];
  if (endpoint != "healthz" && endpoint != "livez" && endpoint != "readyz") return std::nullopt;
  if (target.segments.size() == 1) {
    return run(endpoint, checks, target.query.all("exclude"), target.query.flag("verbose"));
  }
  for (const HealthCheck& c : checks) {
    if (c.name == target.segments[1]) return run(endpoint, {c}, {}, target.query.flag("verbose"));
  }
  return http::not_found_page();
}

}  // namespace berth::apiserver::discovery
