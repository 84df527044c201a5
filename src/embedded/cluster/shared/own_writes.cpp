#include "embedded/cluster/shared/own_writes.h"

#include <memory>
#include <utility>

#include "api/meta.h"
#include "api/resource_version.h"

namespace berth::cluster {
void OwnWrites::wrote(Json object) {
  Entry entry;
  entry.version = api::version_number(string_at(object, {"metadata", "resourceVersion"}));
  entry.uid = string_at(object, {"metadata", "uid"});
  std::string key =
      api::object_key(string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"}));
  entry.object = std::make_shared<const Json>(std::move(object));
  entries_.insert_or_assign(std::move(key), std::move(entry));
}

void OwnWrites::gone(std::string_view key, std::string_view uid) {
  entries_.insert_or_assign(std::string(key), Entry{nullptr, 0, std::string(uid)});
}

void OwnWrites::deleted(std::string_view key, std::string_view uid, Json body) {
  const bool stays = find_path(body, {"metadata", "deletionTimestamp"}) != nullptr &&
                     (int_at(body, {"metadata", "deletionGracePeriodSeconds"}) > 0 ||
                      !array_at(body, {"metadata", "finalizers"}).empty());
  if (stays) return wrote(std::move(body));
  gone(key, uid);
}

bool OwnWrites::seen(std::string_view key, const Entry& entry) const {
  if (entry.object) return api::version_number(informer_.resource_version()) >= entry.version;
  const JsonPtr shown = informer_.get(key);
  return !shown || string_at(*shown, {"metadata", "uid"}) != entry.uid;
}

JsonPtr OwnWrites::get(std::string_view key) const {
  const auto at = entries_.find(key);
  if (at == entries_.end() || seen(key, at->second)) return informer_.get(key);
  return at->second.object;
}

std::vector<std::string> OwnWrites::unseen() {
  std::erase_if(entries_, [&](const auto& entry) { return seen(entry.first, entry.second); });
  std::vector<std::string> out;
  for (const auto& [key, entry] : entries_) out.push_back(key);
  return out;
}

}  // namespace berth::cluster
