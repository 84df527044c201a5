#include "controller/stateful_sets.h"

#include <memory>
#include <utility>

#include "api/meta.h"
#include "jobs/pods/stateful_set.h"

namespace berth::controller {
namespace {

std::string namespace_of_set(const Json& object) { return std::string(string_at(object, {"metadata", "namespace"})); }

// The status changes with every pod, and only this part matters for the group.
bool same_for_its_group(const Json& a, const Json& b) {
  const auto same = [&](std::initializer_list<std::string_view> path) {
    const Json *left = find_path(a, path), *right = find_path(b, path);
    return left == nullptr || right == nullptr ? left == right : *left == *right;
  };
  return same({"metadata", "uid"}) && same({"metadata", "labels"}) && same({"metadata", "annotations"}) &&
         same({"spec"});
}

}  // namespace

StatefulSets::StatefulSets(kube::Informer& sets, std::function<bool(const Json& set)> managed, Changed changed)
    : sets_(sets), managed_(std::move(managed)), changed_(std::move(changed)) {}

void StatefulSets::set_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string before = old ? jobs::group_of_stateful_set(*old) : std::string();
  const std::string group = now ? jobs::group_of_stateful_set(*now) : std::string();
  if (old && before != group) {
    const std::string ns = namespace_of_set(*old);
    by_group_.erase(api::object_key(ns, before));
    changed_(ns, before, true);
  }
  if (!now || (old && before == group && same_for_its_group(*old, *now))) return;
  const std::string ns = namespace_of_set(*now);
  by_group_[api::object_key(ns, group)] = api::object_key(*now);
  changed_(ns, group, false);
}

void StatefulSets::look_at_all() const {
  for (const auto& [group, set] : by_group_) {
    const auto slash = group.find('/');
    changed_(group.substr(0, slash), group.substr(slash + 1), false);
  }
}

jobs::ServedGroupPtr StatefulSets::group(std::string_view ns, std::string_view name) const {
  const auto it = by_group_.find(api::object_key(ns, name));
  const JsonPtr set = it == by_group_.end() ? nullptr : sets_.get(it->second);
  if (!set) return nullptr;
  auto group = std::make_shared<jobs::ServedGroupState>(jobs::served_by_stateful_set(set));
  group->managed = managed_(*set);
  return group;
}

}  // namespace berth::controller
