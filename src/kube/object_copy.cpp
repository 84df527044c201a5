#include "kube/object_copy.h"

#include <utility>

#include "api/meta.h"
#include "base/planted.h"

namespace berth::kube {
namespace {

std::string_view uid_of(const Json& object) { return string_at(object, {"metadata", "uid"}); }
ObjectIdentity identity_of(const Json& object) { return {uid_of(object), api::resource_version(object)}; }

}  // namespace

// The `old` that handlers get: the object, or a stub with its identity.
JsonPtr ObjectCopy::old_of(const std::string& key, const Known& known) {
  if (known.object) return known.object;
  const auto slash = key.find('/');
  JsonObject metadata{{"name", key.substr(slash == std::string::npos ? 0 : slash + 1)},
                      {"uid", known.who.uid()},
                      {"resourceVersion", known.who.version()}};
  if (slash != std::string::npos) metadata["namespace"] = key.substr(0, slash);
  return std::make_shared<const Json>(JsonObject{{"metadata", std::move(metadata)}});
}

void ObjectCopy::notify(const JsonPtr& old, const JsonPtr& now) {
  for (const auto& handler : handlers_) handler(old, now);
}

void ObjectCopy::keep(Known& known, const JsonPtr& object) const {
  known.seen = lists_;
  known.who = identity_of(*object);
  if (keep_objects_) known.object = object;
}

// Stores an object and reports the change. The same name with another uid is another object: the deletion of the
// first one was missed.
void ObjectCopy::take(const std::string& key, const JsonPtr& now) {
  const auto [it, is_new] = objects_.try_emplace(key);
  JsonPtr old = is_new ? nullptr : old_of(key, it->second);
  if (old && !it->second.who.has_uid(uid_of(*now))) {
    objects_.erase(it);
    notify(old, nullptr);
    keep(objects_[key], now);
    return notify(nullptr, now);
  }
  keep(it->second, now);
  notify(old, now);
}

void ObjectCopy::begin_list(bool reported_at_end) {
  ++lists_;
  reported_at_end_ = reported_at_end;
  news_.clear();
}

void ObjectCopy::listed(JsonPtr object) {
  const std::string key = api::object_key(*object);
  const auto it = objects_.find(key);
  const bool same = it != objects_.end() && it->second.who.has_uid(uid_of(*object));
  // An unchanged object keeps its document, which others may share.
  if (same && it->second.who == identity_of(*object)) {
    it->second.seen = lists_;
    return;
  }
  if (!reported_at_end_) return take(key, object);
  if (same) it->second.seen = lists_;
  news_.insert_or_assign(key, std::move(object));
}

void ObjectCopy::unlisted(const JsonPtr& object) {
  if (!reported_at_end_) return deleted(object);
  const std::string key = api::object_key(*object);
  news_.erase(key);
  if (const auto it = objects_.find(key); it != objects_.end()) it->second.seen = 0;
}

void ObjectCopy::end_list() {
  // Handlers may read the store but not change it.
  StringMap<JsonPtr> gone;
  for (const auto& [key, known] : objects_) {
    if (known.seen != lists_ && !planted(Planted::kStaleCache)) gone.emplace(key, old_of(key, known));
  }
  for (const std::string& key : sorted_keys(gone)) {
    objects_.erase(key);
    notify(gone[key], nullptr);
  }
  for (const auto& [key, now] : std::exchange(news_, {})) take(key, now);
}

void ObjectCopy::changed(const JsonPtr& object) { take(api::object_key(*object), object); }

void ObjectCopy::deleted(const JsonPtr& last) {
  if (objects_.erase(api::object_key(*last)) != 0) notify(last, nullptr);
}

JsonPtr ObjectCopy::get(std::string_view key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : it->second.object;
}

std::vector<JsonPtr> ObjectCopy::list(std::string_view ns) const {
  StringMap<JsonPtr> found;
  const std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
  for (const auto& [key, known] : objects_) {
    if (known.object && key.starts_with(prefix)) found.emplace(key, known.object);
  }
  std::vector<JsonPtr> objects;
  for (const std::string& key : sorted_keys(found)) objects.push_back(std::move(found[key]));
  return objects;
}

}  // namespace berth::kube
