#include "console/feeds.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "console/rows/queue_rows.h"
#include "console/rows/workload_row.h"

namespace berth::console {
namespace {

Right in_namespaces(const api::GroupVersionResource& resource) { return {resource, true}; }
Right in_cluster(const api::GroupVersionResource& resource) { return {resource, false}; }

}  // namespace

Feeds::Feeds(api::RestClient& client, Executor& executor) : client_(client), executor_(executor) {
  read(add("workloads", {in_namespaces(api::kWorkloads)}), api::kWorkloads, workload_row);
  read(add("clusterqueues", {in_cluster(api::kClusterQueues)}), api::kClusterQueues, cluster_queue_row);
}
Feeds::~Feeds() = default;

Feed& Feeds::add(std::string name, std::vector<Right> rights) {
  auto feed = std::make_unique<Feed>(name, std::move(rights));
  return *feeds_.emplace(std::move(name), std::move(feed)).first->second;
}

void Feeds::read(Feed& feed, const api::GroupVersionResource& resource, MakeRow make) {
  kube::InformerOptions options;
  options.keep_objects = false;  // the rows are kept
  options.gone_after = std::chrono::minutes(1);
  auto informer = std::make_unique<kube::Informer>(client_, executor_, resource, options);
  informer->on_change([this, &feed, make](const JsonPtr& old, const JsonPtr& now) {
    if (!now) return feed.rows.erase(api::object_key(*old));
    auto row = make(*now);
    if (!row) return;
    if (!row->ns.empty() && known_namespaces_.insert(row->ns).second && new_namespace_) new_namespace_();
    feed.rows.set(std::move(*row));
  });
  informer->on_synced([&feed] { feed.rows.settle(); });
  informer->on_list([&feed](const api::RestResponse& response) {
    // A kind that the cluster does not have is like one without objects.
    if (response.code == 404 || response.code == 403) feed.rows.settle();
    feed.trouble = response.code == 403
                       ? "the console's own account may not read this: " + std::string(api::status_message(response))
                       : "";
  });
  informers_.push_back(std::move(informer));
}

void Feeds::start() {
  for (const auto& informer : informers_) informer->start();
}

Feed* Feeds::find(std::string_view name) {
  const auto it = feeds_.find(name);
  return it == feeds_.end() ? nullptr : it->second.get();
}

std::vector<std::string> Feeds::namespaces() { return {known_namespaces_.begin(), known_namespaces_.end()}; }

void Feeds::forget_unused() {
  for (const auto& [name, feed] : feeds_) feed->rows.forget_unused();
}

}  // namespace berth::console
