// An API server in memory, as the console sees it: objects with lists and watches, tokens, and rights that the test
// grants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "api/resources.h"
#include "api/rest.h"
#include "api/status.h"
#include "base/executor.h"

namespace berth::console {

class FakeCluster final : public api::RestClient {
 public:
  explicit FakeCluster(Executor& executor) : executor_(executor) { streamed_lists_not_offered(); }

  // Who holds which token, and who may do what: user, verb, resource, namespace ("*": all of them).
  std::map<std::string, std::string> tokens;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> grants;
  bool reviews = true;  // false: reviews are not answered with success
  std::vector<api::RestRequest> requests;

  void set(const api::GroupVersionResource& resource, Json object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    const std::string key = api::object_key(object);
    auto& known = objects_[resource];
    const bool added = !known.contains(key);
    known[key] = std::make_shared<const Json>(std::move(object));
    report(resource, {added ? api::WatchEvent::Type::kAdded : api::WatchEvent::Type::kModified, known[key]});
  }
  void erase(const api::GroupVersionResource& resource, const std::string& key) {
    const auto node = objects_[resource].extract(key);
    if (node.empty()) return;
    Json last = *node.mapped();
    last.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    report(resource, {api::WatchEvent::Type::kDeleted, std::make_shared<const Json>(std::move(last))});
  }

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    requests.push_back(request);
    executor_.post([done = std::move(done), response = answer(request)] { done(response); });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()>) override {
    auto one = std::make_unique<Watch>();
    one->on_event = std::make_shared<std::function<void(const api::WatchEvent&)>>(std::move(on_event));
    one->all = watches_;
    (*watches_)[one.get()] = {request.resource, one->on_event};
    return one;
  }

 private:
  using OnEvent = std::shared_ptr<std::function<void(const api::WatchEvent&)>>;
  struct Watch;
  using Watches = std::map<Watch*, std::pair<api::GroupVersionResource, OnEvent>>;
  struct Watch final : api::WatchHandle {
    ~Watch() override { all->erase(this); }
    std::shared_ptr<Watches> all;
    OnEvent on_event;
  };

  void report(const api::GroupVersionResource& resource, const api::WatchEvent& event) {
    for (const auto& [watch, reported] : *watches_) {
      if (reported.first != resource) continue;
      executor_.post([weak = std::weak_ptr(reported.second), event] {
        if (const auto on_event = weak.lock()) (*on_event)(event);
      });
    }
  }

  bool may(const std::string& user, const Json& what) const {
    const std::string verb(string_at(what, {"verb"})), ns(string_at(what, {"namespace"}));
    std::string resource(string_at(what, {"resource"}));
    if (const auto sub = string_at(what, {"subresource"}); !sub.empty()) resource += "/" + std::string(sub);
    return grants.contains({user, verb, resource, "*"}) || (!ns.empty() && grants.contains({user, verb, resource, ns}));
  }

  api::RestResponse answer(const api::RestRequest& request) {
    if (request.verb == api::Verb::kCreate && !reviews) return {500, nullptr, {}};
    if (request.resource == api::kTokenReviews) {
      const auto user = tokens.find(std::string(string_at(request.body, {"spec", "token"})));
      if (user == tokens.end()) return {201, JsonObject{{"status", JsonObject{{"authenticated", false}}}}, {}};
      return {
          201,
          JsonObject{{"status", JsonObject{{"authenticated", true}, {"user", JsonObject{{"username", user->second}}}}}},
          {}};
    }
    if (request.resource == api::kSubjectAccessReviews) {
      const Json* what = find_path(request.body, {"spec", "resourceAttributes"});
      const bool allowed = what != nullptr && may(std::string(string_at(request.body, {"spec", "user"})), *what);
      return {201, JsonObject{{"status", JsonObject{{"allowed", allowed}}}}, {}};
    }
    auto& known = objects_[request.resource];
    if (request.verb == api::Verb::kGet) {
      const auto it = known.find(api::object_key(request.ns, request.name));
      return it == known.end() ? api::not_found(request.resource, request.name)
                               : api::RestResponse{200, *it->second, {}};
    }
    if (request.verb != api::Verb::kList) return {200, JsonObject(), {}};
    JsonArray items;
    for (const auto& [key, object] : known) {
      if (request.ns.empty() || string_at(*object, {"metadata", "namespace"}) == request.ns) items.push_back(*object);
    }
    return {200,
            JsonObject{{"metadata", JsonObject{{"resourceVersion", std::to_string(version_)}}},
                       {"items", std::move(items)}},
            {}};
  }

  Executor& executor_;
  std::uint64_t version_ = 1;
  std::map<api::GroupVersionResource, std::map<std::string, JsonPtr>> objects_;
  std::shared_ptr<Watches> watches_ = std::make_shared<Watches>();
};

}  // namespace berth::console
