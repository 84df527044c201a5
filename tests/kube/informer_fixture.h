// An informer of pods on a scripted server, and a trace of its notifications in order: +name@version (added),
// ~ (changed), - (deleted), "synced".
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/fake_rest_client.h"
#include "kube/informer.h"

namespace berth::kube {

inline Json object(std::string_view name, int version, std::string_view uid = "u") {
  return JsonObject{
      {"metadata",
       JsonObject{{"name", name}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", std::to_string(version)}}}};
}

inline api::RestResponse list_of(int version, std::vector<Json> items, std::string_view next = "") {
  JsonObject metadata{{"resourceVersion", std::to_string(version)}};
  if (!next.empty()) metadata["continue"] = next;
  return {200, JsonObject{{"metadata", std::move(metadata)}, {"items", JsonArray(items.begin(), items.end())}}, {}};
}

class InformerFixture : public testing::Test {
 protected:
  void start() {
    informer = make();
    informer->on_change([this](const JsonPtr& old, const JsonPtr& now) {
      const Json& any = now ? *now : *old;
      trace += (trace.empty() ? "" : " ") +
               std::string(!old   ? "+"
                           : !now ? "-"
                                  : "~") +
               std::string(string_at(any, {"metadata", "name"})) + "@" +
               std::string(string_at(any, {"metadata", "resourceVersion"}));
    });
    informer->on_synced([this] { trace += " synced"; });
    informer->start();
  }
  std::unique_ptr<Informer> make() {
    InformerOptions o;
    o.page_size = 2;
    return std::make_unique<Informer>(client, executor, api::GroupVersionResource{"", "v1", "pods"}, o);
  }
  std::string take_trace() { return std::exchange(trace, {}); }
  void pass(Duration d) { executor.run_until(executor.now() + d); }

  VirtualExecutor executor{Time{} + std::chrono::seconds(1'000'000)};
  FakeRestClient client{executor};
  std::unique_ptr<Informer> informer;
  std::string trace;
};

}  // namespace berth::kube
