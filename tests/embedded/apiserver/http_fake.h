// A core that records requests, and a sink that records responses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/status.h"
#include "embedded/apiserver/router/router.h"

namespace berth::apiserver::http {

class FakeCore final : public api::RestClient {
 public:
  explicit FakeCore(Executor& executor) : executor_(executor) {}

  std::vector<api::RestRequest> requests;
  api::RestResponse next;  // the response of the next calls

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    requests.push_back(std::move(request));
    executor_.post([done = std::move(done), response = next] { done(response); });
  }

  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    requests.push_back(std::move(request));
    auto watcher = std::make_shared<Watcher>(Watcher{.on_event = std::move(on_event), .on_end = std::move(on_end)});
    watchers.push_back(watcher);
    return std::make_unique<Handle>(watcher);
  }

  struct Watcher {
    std::function<void(const api::WatchEvent&)> on_event;
    std::function<void()> on_end;
    bool gone = false, held = false;
    std::function<void()> go_on = [] {};  // called when the watcher is no longer held
  };
  std::vector<std::shared_ptr<Watcher>> watchers;

 private:
  struct Handle final : api::WatchHandle {
    explicit Handle(std::shared_ptr<Watcher> w) : watcher(std::move(w)) {}
    ~Handle() override { watcher->gone = true; }
    void hold(bool on) override {
      watcher->held = on;
      if (!on) watcher->go_on();
    }
    std::shared_ptr<Watcher> watcher;
  };
  Executor& executor_;
};

struct KeepingSink final : ResponseSink {
  HttpResponse response;
  std::vector<SharedBytes> chunks;
  bool answered = false, ended = false;
  std::size_t room_for = 1'000'000;  // chunks accepted before a pause, and again after each pause
  std::function<void()> room;

  void respond(std::function<HttpResponse()> make) override {
    response = make();
    answered = ended = true;
  }
  void begin(int status, std::vector<Header> headers) override {
    response.status = status;
    response.headers = std::move(headers);
    answered = true;
  }
  bool chunk(SharedBytes bytes) override {
    chunks.push_back(std::move(bytes));
    return chunks.size() % room_for != 0;
  }
  void on_room(std::function<void()> handler) override { room = std::move(handler); }
  void end() override { ended = true; }
};

// A registry with two built-in kinds and a custom one.
inline Registry small_registry() {
  Registry registry;
  auto config_map = std::make_shared<ResourceInfo>();
  config_map->gvr = {"", "v1", "configmaps"};
  config_map->kind = "ConfigMap";
  config_map->list_kind = "ConfigMapList";
  config_map->singular = "configmap";
  config_map->short_names = {"cm"};
  registry.add(config_map);
  auto ns = std::make_shared<ResourceInfo>(*config_map);
  ns->gvr.resource = "namespaces";
  ns->kind = "Namespace";
  ns->singular = "namespace";
  ns->short_names = {"ns"};
  ns->namespaced = false;
  ns->has_status = true;
  ns->verbs = {"create", "delete", "get", "list", "patch", "update", "watch"};
  registry.add(ns);
  auto queue = std::make_shared<ResourceInfo>();
  queue->gvr = {"kueue.x-k8s.io", "v1beta2", "clusterqueues"};
  queue->kind = "ClusterQueue";
  queue->list_kind = "ClusterQueueList";
  queue->singular = "clusterqueue";
  queue->namespaced = false;
  queue->custom = true;
  queue->has_status = true;
  queue->columns = {{"Cohort", "string", "", "", ".spec.cohortName", 0},
                    {"Pending", "integer", "", "", ".status.pendingWorkloads", 1},
                    {"Age", "date", "", "", ".metadata.creationTimestamp", 0}};
  registry.add(queue);
  return registry;
}

}  // namespace berth::apiserver::http
