// The collections and what fills them: informers that make rows of objects, and what is computed from these.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "console/activity.h"
#include "console/collection.h"
#include "console/node_use.h"
#include "console/positions.h"
#include "console/rights.h"
#include "console/usage_series.h"
#include "kube/informer.h"

namespace berth::console {

// A collection and who may see it: a user sees the rows that one of the rights covers.
struct Feed {
  explicit Feed(std::string name, std::vector<Right> r) : rows(std::move(name)), rights(std::move(r)) {}
  Collection rows;
  std::vector<Right> rights;
  std::string trouble;       // why the console itself cannot read the objects; "" when it can
  std::size_t watchers = 0;  // open streams
};

// Use it on the executor only.
class Feeds {
 public:
  // Both must outlive it. `read`: for the visibility API. `owners`: kinds that may stand between pods and the owners of
  // workloads.
  Feeds(api::RestClient& client, Executor& executor, ReadPath read,
        const std::vector<api::GroupVersionResource>& owners = {});
  ~Feeds();

  void start();
  Feed* find(std::string_view name);  // null for unknown names
  // Namespaces with queues or workloads: those about which users without a right in all namespaces are asked.
  std::vector<std::string> namespaces() const { return {namespaces_.begin(), namespaces_.end()}; }
  const PodWorkloads& pod_workloads() const { return node_use_.workloads(); }
  void on_new_namespace(std::function<void()> handler) { new_namespace_ = std::move(handler); }
  void tick();          // makes the rows that wait for their batch; call it before streams look
  void every_second();  // asks for positions
  void sample();        // call it every kSampleEvery
  void forget_unused();

 private:
  // Called with every change of an object: its key, and the object, null when it is deleted.
  using Seen = std::function<void(const std::string& key, const Json* now)>;

  Feed& add(std::string name, std::vector<Right> rights);
  void read(const api::GroupVersionResource& resource, std::vector<Feed*> feeds, Seen seen);
  void read_rows(std::string name, Right right, MakeRow make, Seen also = nullptr);
  void read_queues();
  void read_workloads();
  void read_nodes();
  void read_owners(const std::vector<api::GroupVersionResource>& kinds);
  void note_namespace(const std::string& ns);

  api::RestClient& client_;
  Executor& executor_;
  std::map<std::string, std::unique_ptr<Feed>, std::less<>> feeds_;
  Feed &positions_, &series_, &rates_, &nodes_, &placements_, &spaces_;
  Positions where_;
  UsageSeries usage_;
  Activity activity_;
  NodeUse node_use_;
  std::vector<std::unique_ptr<kube::Informer>> informers_;
  std::set<std::string, std::less<>> namespaces_;
  std::function<void()> new_namespace_;
};

}  // namespace berth::console
