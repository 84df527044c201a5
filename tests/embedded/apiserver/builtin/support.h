// A built-in kind under test: objects are written as JSON text; other objects are looked up in a list.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/support.h"

namespace berth::apiserver {

inline Time at(std::string_view text) {
  auto time = parse_time(text);
  if (!time) ADD_FAILURE() << time.error().message;
  return time ? *time : Time{};
}

// The other objects of the cluster, by resource name.
class World {
 public:
  void add(std::string resource, std::string_view text) {
    objects_.push_back({std::move(resource), std::make_shared<const Json>(json(text))});
  }
  void remove(std::string_view resource, std::string_view ns, std::string_view name) {
    std::erase_if(objects_, [&](const auto& each) {
      return each.first == resource && string_at(*each.second, {"metadata", "namespace"}) == ns &&
             string_at(*each.second, {"metadata", "name"}) == name;
    });
  }
  Lookup lookup() const {
    Lookup result;
    result.get = [this](const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name) -> JsonPtr {
      for (const auto& object : list(gvr.resource, ns)) {
        if (string_at(*object, {"metadata", "name"}) == name) return object;
      }
      return nullptr;
    };
    result.list = [this](const api::GroupVersionResource& gvr, std::string_view ns) { return list(gvr.resource, ns); };
    return result;
  }

 private:
  std::vector<JsonPtr> list(std::string_view resource, std::string_view ns) const {
    std::vector<JsonPtr> found;
    for (const auto& [own, object] : objects_) {
      if (own == resource && string_at(*object, {"metadata", "namespace"}) == ns) found.push_back(object);
    }
    return found;
  }
  std::vector<std::pair<std::string, JsonPtr>> objects_;
};

// One kind, with the processing steps of a server.
class Kind {
 public:
  explicit Kind(std::string_view kind, std::string_view group = "") {
    for (const auto& resource : builtin_resources()) {
      if (resource->kind == kind && resource->gvr.group == group) resource_ = resource;
    }
    EXPECT_TRUE(resource_) << kind;
  }
  const ResourceInfo& info() const { return *resource_; }
  const Strategy& strategy() const { return resource_->strategy; }

  Json decoded(std::string_view text) const { return decoded_json(json(text)); }
  Json decoded_json(Json object) const {
    auto done = strategy().decode(object);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return object;
  }
  // The stored object after a create; `refusal` gets the error response, if any.
  Json created(std::string_view text, const World& world = {}, api::RestResponse* refusal = nullptr) const {
    Json object = decoded(text);
    ensure_path(object, {"metadata", "uid"}) = "uid-1";
    ensure_path(object, {"metadata", "creationTimestamp"}) = "2026-11-21T09:00:00Z";
    if (strategy().prepare_create) strategy().prepare_create(object, world.lookup());
    if (strategy().admit) {
      auto refused = strategy().admit(object, nullptr, world.lookup());
      if (refusal != nullptr && refused) *refusal = *refused;
    }
    return object;
  }
  std::string create_errors(std::string_view text) const {
    World world;
    return to_string(strategy().validate(created(text, world), world.lookup()));
  }
  // The errors of an update of `old`; both are in stored form.
  std::string update_errors(const Json& object, const Json& old, std::string_view subresource = "") const {
    World world;
    Json next = decoded_json(object);
    if (strategy().prepare_update) strategy().prepare_update(next, old, subresource, world.lookup());
    return to_string(strategy().validate_update(next, old, subresource));
  }
  std::vector<std::string> cells(const Json& object, std::string_view now) const {
    std::vector<std::string> texts;
    for (const auto& cell : strategy().cells(object, at(now))) {
      texts.push_back(cell.is_string() ? std::string(view(cell.get_string())) : to_string(cell));
    }
    return texts;
  }

 private:
  ResourcePtr resource_;
};

}  // namespace berth::apiserver
