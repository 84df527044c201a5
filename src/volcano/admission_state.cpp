#include "volcano/admission_state.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "api/volcano/names.h"

namespace berth::volcano {
namespace {

using api::volcano::PodGroupPhase;

QueuePtr to_queue(const Json& object) {
  if (auto queue = api::volcano::decode_queue(object)) return std::make_shared<api::volcano::Queue>(std::move(*queue));
  auto bare = std::make_shared<api::volcano::Queue>();
  bare->meta = api::decode_meta(object);
  bare->parent = string_at(object, {"spec", "parent"});
  return bare;
}

// The queue in which the group holds quota; "" when it holds none.
std::string held_queue(const Json* object) {
  if (object == nullptr) return {};
  const auto group = api::volcano::decode_pod_group(*object);
  if (!group || !group->min_resources) return {};
  const PodGroupPhase phase = group->status.phase;
  const bool in =
      phase == PodGroupPhase::kInqueue || phase == PodGroupPhase::kRunning || phase == PodGroupPhase::kUnknown;
  return in ? group->queue : std::string();
}

}  // namespace

AdmissionState::State::State(AdmissionOptions options, HoldersIn more)
    : asked(std::move(more)), admission(forest, options, [this](std::string_view queue) { return holders(queue); }) {}

std::size_t AdmissionState::State::holders(std::string_view queue) const {
  const auto at = held.find(queue);
  const std::size_t seen = at == held.end() ? 0 : at->second.size();
  return asked ? std::max(seen, asked(queue)) : seen;
}

void AdmissionState::State::queue_changed(const Json* old, const Json* now) {
  if (now != nullptr) {
    forest.set(to_queue(*now));
  } else {
    forest.remove(string_at(*old, {"metadata", "name"}));
  }
}

void AdmissionState::State::pod_group_changed(const Json* old, const Json* now) {
  const Json& any = now != nullptr ? *now : *old;
  const std::string key =
      api::object_key(string_at(any, {"metadata", "namespace"}), string_at(any, {"metadata", "name"}));
  const std::string before = held_queue(old), after = held_queue(now);
  if (before == after) return;
  if (const auto at = held.find(before); at != held.end()) {
    at->second.erase(key);
    if (at->second.empty()) held.erase(at);
  }
  if (!after.empty()) held[after].insert(key);
}

AdmissionState::AdmissionState(AdmissionOptions options, HoldersIn holders_in)
    : state_(std::make_shared<State>(options, std::move(holders_in))) {}

void AdmissionState::changed(std::string_view group, std::string_view resource, const Json* old, const Json* now) {
  if (group != api::volcano::kSchedulingGroup || (old == nullptr && now == nullptr)) return;
  if (resource == "queues") state_->queue_changed(old, now);
  if (resource == "podgroups") state_->pod_group_changed(old, now);
}

api::kueue::AdmissionRules AdmissionState::rules(std::string_view group, std::string_view resource) const {
  return admission_rules(group, resource, std::shared_ptr<const Admission>(state_, &state_->admission));
}

}  // namespace berth::volcano
