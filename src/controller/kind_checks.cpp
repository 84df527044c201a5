#include "controller/kind_checks.h"

#include <algorithm>

#include "base/log.h"

namespace berth::controller {
namespace {

using jobs::kinds::Fit;

constexpr Duration kBetweenRounds = std::chrono::minutes(5);
constexpr Duration kAfterAFailure = std::chrono::seconds(30);

// An old server without such documents, or one that does not let us read them.
bool is_refusal(const api::RestResponse& response) {
  return response.code == 401 || response.code == 403 || response.code == 404;
}

}  // namespace

KindChecks::KindChecks(api::RestClient& client, Executor& executor, std::vector<jobs::kinds::JobKindPtr> kinds)
    : client_(client), executor_(executor), kinds_(std::move(kinds)) {}

void KindChecks::start() {
  if (!kinds_.empty()) ask();
}

void KindChecks::ask_again() {
  if (asking_) {
    again_ = true;
  } else if (!kinds_.empty()) {
    ask();
  }
}

Fit KindChecks::of(const jobs::kinds::JobKindSpec& kind) const {
  const auto at = known_.find(kind.resource);
  return at == known_.end() ? Fit() : at->second;
}

void KindChecks::ask() {
  if (timer_ != 0) executor_.cancel(std::exchange(timer_, 0));
  asking_ = true;
  incomplete_ = false;
  api::RestRequest request;
  request.path = "/openapi/v3";
  client_.call(std::move(request),
               lifetime_.guard([this](const api::RestResponse& response) { take_index(response); }));
}

// A server that does not answer now is asked again; meanwhile what is known stays.
void KindChecks::take_index(const api::RestResponse& response) {
  if (!response.ok()) {
    if (is_refusal(response)) log::debug("descriptions of kinds are not compared", {{"code", response.code}});
    for (const auto& kind : kinds_) {
      if (!known(*kind)) settle(*kind, {});
    }
    return end_round(is_refusal(response));
  }
  to_read_.clear();
  for (const auto& kind : kinds_) groups_.try_emplace(kind->resource.group);
  for (auto& [name, group] : groups_) {
    group.documents = jobs::kinds::documents_of_group(response.body, name);
    group.versions.clear();
    std::vector<std::string> addresses;
    for (const auto& [version, address] : group.documents) addresses.push_back(address);
    if (group.documents.empty()) conclude(name, group);
    // The address of a document changes with its content.
    if (std::exchange(group.seen_addresses, addresses) == addresses) continue;
    for (const auto& [version, address] : group.documents) to_read_.emplace_back(name, version);
  }
  read_next();
}

void KindChecks::read_next() {
  if (to_read_.empty()) return end_round(!incomplete_);
  const auto [group, version] = to_read_.front();
  to_read_.pop_front();
  api::RestRequest request;
  request.path = groups_[group].documents[version];
  client_.call(std::move(request), lifetime_.guard([this, group, version](const auto& response) {
    take_document(group, version, response);
  }));
}

void KindChecks::take_document(const std::string& name, const std::string& version, const api::RestResponse& response) {
  Group& group = groups_[name];
  if (response.ok()) {
    for (const auto& kind : kinds_) {
      if (kind->resource.group != name) continue;
      const Json* schema = jobs::kinds::schema_in_document(response.body, name, kind->kind);
      if (schema == nullptr) continue;
      group.versions[kind->kind].push_back(version);
      if (version == kind->resource.version) group.fits[kind->kind] = jobs::kinds::compare(*kind, *schema);
    }
  } else {
    group.seen_addresses.clear();  // the next round reads the group again
    incomplete_ = true;
  }
  const bool last = std::ranges::none_of(to_read_, [&](const auto& one) { return one.first == name; });
  if (last) conclude(name, group);
  read_next();
}

void KindChecks::conclude(const std::string& name, Group& group) {
  const bool failed = group.seen_addresses.empty() && !group.documents.empty();
  for (const auto& kind : kinds_) {
    if (kind->resource.group != name) continue;
    const auto fit = group.fits.find(kind->kind);
    if (fit != group.fits.end()) {
      settle(*kind, fit->second);
    } else if (failed) {
      settle(*kind, of(*kind));
    } else if (const auto& others = group.versions[kind->kind]; !others.empty()) {
      settle(*kind, {Fit::State::kOtherVersion, others});
    } else {
      settle(*kind, {Fit::State::kAbsent, {}});
    }
  }
  group.fits.clear();
}

void KindChecks::settle(const jobs::kinds::JobKindSpec& kind, Fit fit) {
  const auto at = known_.find(kind.resource);
  if (at != known_.end() && at->second == fit) return;
  Fit& now = known_[kind.resource];
  now = std::move(fit);
  if (fit_) fit_(kind, now);
}

void KindChecks::end_round(bool complete) {
  asking_ = false;
  if (round_) round_();
  if (!asking_ && std::exchange(again_, false)) return ask();
  if (asking_) return;
  timer_ = executor_.after(complete ? kBetweenRounds : kAfterAFailure, lifetime_.guard([this] {
    timer_ = 0;
    ask_again();
  }));
}

}  // namespace berth::controller
