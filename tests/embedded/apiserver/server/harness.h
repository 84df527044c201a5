// An API server in virtual time for tests: requests are JSON texts; responses are returned when all tasks have run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/status.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/apiserver/support.h"

namespace berth::apiserver {

using api::kConfigMaps;
using api::kNamespaces;
using api::kNodes;
using api::kPods;
inline const api::GroupVersionResource kEvents{"", "v1", "events"};
using api::kJobs;
inline const api::GroupVersionResource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};

// The events that a watch received.
struct Watched {
  std::vector<std::string> events;  // "ADDED name@revision"
  std::vector<api::WatchEvent> raw;
  bool ended = false;
  std::unique_ptr<api::WatchHandle> handle;
};

inline std::string describe(const api::WatchEvent& event) {
  static constexpr std::string_view kTypes[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  std::string text(kTypes[static_cast<int>(event.type)]);
  if (event.type == api::WatchEvent::Type::kError) return text + " " + std::to_string(int_at(*event.object, {"code"}));
  const std::string_view name = string_at(*event.object, {"metadata", "name"});
  if (!name.empty()) text += " " + std::string(name);
  return text + "@" + std::string(string_at(*event.object, {"metadata", "resourceVersion"}));
}

class ServerTest : public testing::Test {
 protected:
  explicit ServerTest(ApiServerOptions options = {.seed = 7}) : options_(options) {
    restart(make_memory_log(executor));
  }

  void restart(std::unique_ptr<Log> log) {
    server.reset();
    auto opened = ApiServer::open(executor, std::move(log), options_);
    ASSERT_TRUE(opened) << opened.error().message;
    server = std::move(*opened);
    settle();
  }
  void settle() { ASSERT_TRUE(executor.run_ready(1'000'000)); }

  api::RestResponse call(api::RestRequest request) {
    api::RestResponse answer;
    int answers = 0;
    server->call(std::move(request), [&](api::RestResponse response) {
      answer = std::move(response);
      ++answers;
    });
    EXPECT_EQ(answers, 0) << "the answer came inside the call";
    settle();
    EXPECT_EQ(answers, 1);
    return answer;
  }
  static api::RestRequest request(api::Verb verb, const api::GroupVersionResource& gvr, std::string_view ns,
                                  std::string_view name = "", std::string_view body = "") {
    api::RestRequest r;
    r.verb = verb;
    r.resource = gvr;
    r.ns = ns;
    r.name = name;
    if (!body.empty()) r.body = json(body);
    return r;
  }
  api::RestResponse create(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view body) {
    return call(request(api::Verb::kCreate, gvr, ns, "", body));
  }
  api::RestResponse get(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name) {
    return call(request(api::Verb::kGet, gvr, ns, name));
  }
  api::RestResponse list(const api::GroupVersionResource& gvr, std::string_view ns) {
    return call(request(api::Verb::kList, gvr, ns));
  }
  api::RestResponse update(const api::GroupVersionResource& gvr, std::string_view ns, const Json& object,
                           std::string_view subresource = "") {
    auto r = request(api::Verb::kUpdate, gvr, ns, string_at(object, {"metadata", "name"}));
    r.body = object;
    r.subresource = subresource;
    return call(std::move(r));
  }
  api::RestResponse patch(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name,
                          std::string_view body, api::PatchType type = api::PatchType::kMerge,
                          std::string_view subresource = "") {
    auto r = request(api::Verb::kPatch, gvr, ns, name, body);
    r.patch_type = type;
    r.subresource = subresource;
    if (type == api::PatchType::kApply) r.field_manager = "test";
    return call(std::move(r));
  }
  api::RestResponse remove(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name,
                           std::string_view options = "") {
    return call(request(api::Verb::kDelete, gvr, ns, name, options));
  }
  bool exists(const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name) {
    return get(gvr, ns, name).ok();
  }

  // Starts a watch without running the executor: no event has arrived yet.
  std::unique_ptr<Watched> start(api::RestRequest r) {
    auto watched = std::make_unique<Watched>();
    r.verb = api::Verb::kWatch;
    watched->handle = server->watch(
        std::move(r),
        [w = watched.get()](const api::WatchEvent& event) {
          w->events.push_back(describe(event));
          w->raw.push_back(event);
        },
        [w = watched.get()] { w->ended = true; });
    EXPECT_TRUE(watched->events.empty()) << "an event came inside the call";
    return watched;
  }
  std::unique_ptr<Watched> watch(api::RestRequest r) {
    auto watched = start(std::move(r));
    settle();
    return watched;
  }

  static std::string config_map(std::string_view name, std::string_view extra = "") {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) + "\"" +
           std::string(extra) + "}}";
  }

  VirtualExecutor executor{Time{} + std::chrono::hours(24 * 365 * 50)};
  ApiServerOptions options_;
  std::unique_ptr<ApiServer> server;
};

}  // namespace berth::apiserver
