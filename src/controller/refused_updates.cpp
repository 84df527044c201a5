#include "controller/refused_updates.h"

#include <algorithm>
#include <array>
#include <utility>

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

std::optional<jobs::JobEvent> RefusedUpdates::add(const Json& job, Aim aim, const api::RestResponse& response,
                                                  Time now) {
  const bool start = aim == Aim::kStart;
  Refusal& refusal = refusals_[api::object_key(job)];
  if (refusal.aim != aim || !is_of(refusal, job)) refusal = {"", aim, "", now, false};
  if (const std::string version = job_version(job); refusal.version != version) {
    std::string why = std::string("The API server refuses the update that ") + (start ? "starts" : "stops") +
                      " the job: " + api::failure_text(response);
    refusal.version = version;
    refusal.why = cut_text(why, kMostText);
    refusal.logged = false;
  }
  if (!start && now - refusal.since < kLongestWait) return std::nullopt;
  if (!std::exchange(refusal.logged, true))
    log::warn("an update of a job is refused and tried again",
              {{"job", api::object_key(job)}, {"code", response.code}, {"why", refusal.why}});
  return jobs::JobEvent{true, start ? "FailedToStart" : "FailedToStop", refusal.why};
}

bool RefusedUpdates::is_of(const Refusal& refusal, const Json& job) {
  return refusal.version.starts_with(std::string(string_at(job, {"metadata", "uid"})) + " ");
}

std::string RefusedUpdates::start_refused(const Json& job) const {
  const auto it = refusals_.find(api::object_key(job));
  const bool same = it != refusals_.end() && it->second.aim == Aim::kStart && is_of(it->second, job);
  return same ? it->second.why : std::string();
}

}  // namespace berth::controller
