// An in-memory API server on virtual time, with simple functions for requests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/rest.h"
#include "api/status.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/apiserver/storage/store.h"
#include "embedded/cluster/yaml.h"

namespace berth::cluster::testing_support {

using api::kEvents;
using api::kJobs;
using api::kNamespaces;
using api::kNodes;
using api::kPods;

class World {
 public:
  explicit World(std::string ns = "default") : ns_(std::move(ns)) {
    apiserver::ApiServerOptions options;
    options.seed = 7;
    auto opened = apiserver::ApiServer::open(executor, apiserver::make_memory_log(executor), options);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    server = *std::move(opened);
    run_for(Duration(0));
    if (ns_ != "default") create(kNamespaces, yaml("{apiVersion: v1, kind: Namespace, metadata: {name: " + ns_ + "}}"));
  }

  VirtualExecutor executor{Time(std::chrono::seconds(1'763'715'600))};
  std::unique_ptr<apiserver::ApiServer> server;

  void run_for(Duration d) { executor.run_until(executor.now() + d); }

  api::RestResponse call(api::RestRequest request) {
    std::optional<api::RestResponse> answer;
    server->call(std::move(request), [&](api::RestResponse response) { answer = std::move(response); });
    for (int i = 0; i < 100'000 && !answer; ++i) executor.step();
    if (!answer) {
      ADD_FAILURE() << "no answer";
      return {0, nullptr, {}};
    }
    return *std::move(answer);
  }

  api::RestRequest request(api::Verb verb, const api::GroupVersionResource& resource,
                           std::string_view name = {}) const {
    api::RestRequest r;
    r.verb = verb;
    r.resource = resource;
    const bool of_cluster = resource == kNodes || resource == kNamespaces || resource == api::kResourceSlices ||
                            resource == api::kDeviceClasses;
    if (!of_cluster) r.ns = ns_;
    r.name = name;
    return r;
  }

  Json expect_ok(const api::RestResponse& response) {
    EXPECT_TRUE(response.ok()) << response.code << " " << api::status_message(response);
    return response.body;
  }

  Json create(const api::GroupVersionResource& resource, Json object) {
    auto r = request(api::Verb::kCreate, resource);
    r.body = std::move(object);
    return expect_ok(call(std::move(r)));
  }
  // Returns null when the object does not exist.
  Json get(const api::GroupVersionResource& resource, std::string_view name) {
    auto response = call(request(api::Verb::kGet, resource, name));
    return response.ok() ? std::move(response.body) : Json();
  }
  std::vector<Json> list(const api::GroupVersionResource& resource, std::string_view labels = {}) {
    auto r = request(api::Verb::kList, resource);
    r.label_selector = labels;
    const auto body = expect_ok(call(std::move(r)));
    const auto& items = array_at(body, {"items"});
    return {items.begin(), items.end()};
  }
  Json patch(const api::GroupVersionResource& resource, std::string_view name, std::string_view merge_patch,
             std::string_view subresource = {}) {
    auto r = request(api::Verb::kPatch, resource, name);
    r.subresource = subresource;
    r.patch_type = api::PatchType::kStrategicMerge;
    r.body = yaml(merge_patch);
    return expect_ok(call(std::move(r)));
  }
  api::RestResponse remove(const api::GroupVersionResource& resource, std::string_view name, Json options = nullptr) {
    auto r = request(api::Verb::kDelete, resource, name);
    r.body = std::move(options);
    return call(std::move(r));
  }

 private:
  std::string ns_;
};

}  // namespace berth::cluster::testing_support
