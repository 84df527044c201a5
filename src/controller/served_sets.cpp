#include "controller/served_sets.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/meta.h"

namespace berth::controller {
namespace {

// The status changes with every pod, and only this part matters for the groups.
bool same_for_its_groups(const Json& a, const Json& b) {
  const auto same = [&](std::initializer_list<std::string_view> path) {
    const Json *left = find_path(a, path), *right = find_path(b, path);
    return left == nullptr || right == nullptr ? left == right : *left == *right;
  };
  return same({"metadata", "uid"}) && same({"metadata", "labels"}) && same({"metadata", "annotations"}) &&
         same({"metadata", "deletionTimestamp"}) && same({"spec"});
}

}  // namespace

bool is_lacking(const kube::Informer& cache, const jobs::JobKind& kind, std::string_view ns,
                const api::OwnerReference& owner) {
  if (owner.kind != kind.kind || owner.api_version != kind.api_version()) return false;
  const JsonPtr known = cache.get(api::object_key(ns, owner.name));
  return !known || string_at(*known, {"metadata", "uid"}) != owner.uid;
}

ServedSets::ServedSets(kube::Informer& sets, Kind kind, std::function<bool(const Json& set)> managed, Changed changed)
    : sets_(sets), kind_(std::move(kind)), managed_(std::move(managed)), changed_(std::move(changed)) {}

void ServedSets::set_changed(const JsonPtr& old, const JsonPtr& now) {
  const Json& set = now ? *now : *old;
  const std::string ns(string_at(set, {"metadata", "namespace"})), key = api::object_key(set);
  Set& known = known_[key];
  const bool gone = !now || known.uid != string_at(*now, {"metadata", "uid"});
  const auto wanted =
      now ? static_cast<std::size_t>(std::clamp<std::int64_t>(kind_.groups(*now), 0, kMaxServedGroups)) : 0;
  const std::size_t kept = gone ? 0 : std::min(known.groups.size(), wanted);
  const std::vector<std::string> lost(known.groups.begin() + static_cast<std::ptrdiff_t>(kept), known.groups.end());
  known.groups.resize(kept);
  for (const auto& group : lost) by_group_.erase(api::object_key(ns, group));
  if (now) {
    known.uid = string_at(*now, {"metadata", "uid"});
    for (std::size_t i = kept; i < wanted; ++i) {
      known.groups.push_back(kind_.name(*now, static_cast<std::int64_t>(i)));
      by_group_[api::object_key(ns, known.groups.back())] = {key, static_cast<std::int64_t>(i)};
    }
  }
  for (const auto& group : lost) changed_(ns, group, gone);
  const bool same = old && now && same_for_its_groups(*old, *now);
  for (std::size_t i = same ? kept : 0; i < known.groups.size(); ++i) changed_(ns, known.groups[i], false);
  if (!now) known_.erase(key);
}

void ServedSets::look_at_all() const {
  for (const auto& [group, place] : by_group_) {
    const auto slash = group.find('/');
    changed_(group.substr(0, slash), group.substr(slash + 1), false);
  }
}

jobs::ServedGroupPtr ServedSets::group(std::string_view ns, std::string_view name) const {
  const auto it = by_group_.find(api::object_key(ns, name));
  const JsonPtr set = it == by_group_.end() ? nullptr : sets_.get(it->second.set);
  return set ? completed(kind_.state(set, it->second.index)) : nullptr;
}

JsonPtr ServedSets::set_with(std::string_view ns, std::string_view name) const {
  const auto it = by_group_.find(api::object_key(ns, name));
  return it == by_group_.end() ? nullptr : sets_.get(it->second.set);
}

jobs::ServedGroupPtr ServedSets::completed(jobs::ServedGroupState group) const {
  group.managed = managed_(*group.owner) && find_path(*group.owner, {"metadata", "deletionTimestamp"}) == nullptr;
  return std::make_shared<jobs::ServedGroupState>(std::move(group));
}

}  // namespace berth::controller
