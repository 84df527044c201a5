#include "controller/refused_updates.h"

#include <algorithm>
#include <array>

#include "api/meta.h"
#include "api/status.h"
#include "base/log.h"
#include "base/text.h"

namespace berth::controller {
namespace {

// Of the conditions and events that repeat it. Schemas quote the values that they refuse.
constexpr std::size_t kMostText = 1024;

std::string job_version(const Json& job) {
  return std::string(string_at(job, {"metadata", "uid"})) + " " +
         std::string(string_at(job, {"metadata", "resourceVersion"}));
}

}  // namespace

bool refused_for_good(const api::RestResponse& response) {
  // No rights to know, gone, busy or behind: these pass, or another look finds out.
  static constexpr std::array kPassing{401, 404, 408, 409, 410, 425, 429};
  if (response.code >= 400 && response.code < 500) return std::ranges::find(kPassing, response.code) == kPassing.end();
  // A webhook that does not answer counts as a refusal (failurePolicy: Fail).
  return response.code == 500 && api::status_message(response).find("failed calling webhook") != std::string_view::npos;
}

jobs::JobEvent RefusedUpdates::add(const Json& job, Aim aim, const api::RestResponse& response) {
  const bool start = aim == Aim::kStart;
  Refusal& refusal = refusals_[api::object_key(job)];
  if (const std::string version = job_version(job); refusal.version != version || refusal.aim != aim) {
    std::string why = std::string("The API server refuses the update that ") + (start ? "starts" : "stops") +
                      " the job: " + api::failure_text(response);
    refusal = {version, aim, std::string(cut_text(why, kMostText))};
    log::warn("an update of a job is refused and tried again",
              {{"job", api::object_key(job)}, {"code", response.code}, {"why", refusal.why}});
  }
  return {true, start ? "FailedToStart" : "FailedToStop", refusal.why};
}

std::string RefusedUpdates::start_refused(const Json& job) const {
  const auto it = refusals_.find(api::object_key(job));
  const std::string uid(string_at(job, {"metadata", "uid"}));
  const bool same = it != refusals_.end() && it->second.aim == Aim::kStart && it->second.version.starts_with(uid + " ");
  return same ? it->second.why : std::string();
}

}  // namespace berth::controller
