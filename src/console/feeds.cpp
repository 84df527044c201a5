#include "console/feeds.h"

#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "console/rows/fields.h"
#include "console/rows/other_rows.h"
#include "console/rows/queue_rows.h"
#include "console/rows/workload_row.h"

namespace berth::console {
namespace {

Right in_namespaces(const api::GroupVersionResource& resource) { return {resource, true}; }
Right in_cluster(const api::GroupVersionResource& resource) { return {resource, false}; }

std::set<std::string> labels_of_levels(const Json* topology) {
  std::set<std::string> labels;
  if (topology == nullptr) return labels;
  for (const Json& level : array_at(*topology, {"spec", "levels"})) labels.emplace(string_at(level, {"nodeLabel"}));
  return labels;
}

std::set<std::string> labels_of_flavor(const Json* flavor) {
  std::set<std::string> labels;
  if (flavor == nullptr) return labels;
  for (const auto& [label, value] : object_at(*flavor, {"spec", "nodeLabels"})) labels.emplace(label);
  return labels;
}

}  // namespace

Feeds::Feeds(api::RestClient& client, Executor& executor, ReadPath read,
             const std::vector<api::GroupVersionResource>& owners)
    : client_(client),
      executor_(executor),
      positions_(add("positions", {in_namespaces(api::kWorkloads)})),
      series_(add("series", {in_cluster(api::kClusterQueues)})),
      rates_(add("rates", {in_namespaces(api::kWorkloads)})),
      nodes_(add("nodes", {in_cluster(api::kNodes)})),
      placements_(add("placements", {in_namespaces(api::kPods)})),
      spaces_(add("namespaces", {in_namespaces(api::kLocalQueues), in_namespaces(api::kWorkloads)})),
      where_(positions_.rows, executor, std::move(read)),
      usage_(series_.rows),
      activity_(rates_.rows),
      node_use_(nodes_.rows, placements_.rows) {
  read_queues();
  read_workloads();
  read_nodes();
  read_owners(owners);
  read_rows("checks", in_cluster(api::kAdmissionChecks), check_row);
  read_rows("provisioningrequests", in_namespaces(api::kProvisioningRequests), provisioning_request_row);
  read_rows("vcqueues", in_cluster(api::kVolcanoQueues), volcano_queue_row);
  for (Feed* feed : {&positions_, &series_, &rates_, &spaces_}) feed->rows.settle();
}
Feeds::~Feeds() = default;

Feed& Feeds::add(std::string name, std::vector<Right> rights) {
  auto feed = std::make_unique<Feed>(name, std::move(rights));
  return *feeds_.emplace(std::move(name), std::move(feed)).first->second;
}

void Feeds::read_queues() {
  read_rows("clusterqueues", in_cluster(api::kClusterQueues), cluster_queue_row,
            [this](const std::string& key, const Json* now) {
              where_.queue_changed(key, now);
              usage_.queue_changed(key, now);
            });
  read_rows("cohorts", in_cluster(api::kCohorts), cohort_row);
  read_rows("localqueues", in_namespaces(api::kLocalQueues), local_queue_row,
            [this](const std::string&, const Json* now) {
              if (now != nullptr) note_namespace(std::string(string_at(*now, {"metadata", "namespace"})));
            });
  read_rows("flavors", in_cluster(api::kResourceFlavors), flavor_row, [this](const std::string& key, const Json* now) {
    node_use_.labels_changed("flavor/" + key, labels_of_flavor(now));
  });
  read_rows("topologies", in_cluster(api::kTopologies), topology_row, [this](const std::string& key, const Json* now) {
    node_use_.labels_changed("topology/" + key, labels_of_levels(now));
  });
}

void Feeds::read_workloads() {
  read_rows("workloads", in_namespaces(api::kWorkloads), workload_row, [this](const std::string& key, const Json* now) {
    activity_.workload_changed(key, now, executor_.now());
    node_use_.workload_changed(key, now);
    if (now != nullptr) note_namespace(std::string(string_at(*now, {"metadata", "namespace"})));
  });
}

void Feeds::read_nodes() {
  read(api::kNodes, {&nodes_}, [this](const std::string& key, const Json* now) { node_use_.node_changed(key, now); });
  read(api::kPods, {&placements_},
       [this](const std::string& key, const Json* now) { node_use_.pod_changed(key, now); });
}

// Without the right to read them, pods below them belong to no known workload.
void Feeds::read_owners(const std::vector<api::GroupVersionResource>& kinds) {
  for (const auto& kind : kinds) {
    read(kind, {}, [this, of = kind.group + "/" + kind.resource + " "](const std::string& key, const Json* now) {
      node_use_.owner_changed(of + key, now);
    });
  }
}

void Feeds::read_rows(std::string name, Right right, MakeRow make, Seen also) {
  Feed& feed = add(std::move(name), {right});
  read(right.resource, {&feed}, [&feed, make, also = std::move(also)](const std::string& key, const Json* now) {
    if (now == nullptr) {
      feed.rows.erase(key);
    } else if (auto row = make(*now)) {
      feed.rows.set(std::move(*row));
    }
    if (also) also(key, now);
  });
}

void Feeds::read(const api::GroupVersionResource& resource, std::vector<Feed*> feeds, Seen seen) {
  kube::InformerOptions options;
  options.keep_objects = false;  // the rows are kept
  options.gone_after = std::chrono::minutes(1);
  auto informer = std::make_unique<kube::Informer>(client_, executor_, resource, options);
  informer->on_change([feeds, seen = std::move(seen)](const JsonPtr& old, const JsonPtr& now) {
    for (Feed* feed : feeds) feed->trouble.clear();
    seen(api::object_key(now ? *now : *old), now.get());
  });
  informer->on_synced([this, feeds] {
    node_use_.flush();
    for (Feed* feed : feeds) feed->rows.settle();
  });
  informer->on_list([feeds](const api::RestResponse& response) {
    const std::string trouble = response.code == 403 ? "the console's own account may not read this: " +
                                                           std::string(api::status_message(response))
                                                     : "";
    for (Feed* feed : feeds) {
      // A kind that the cluster does not have is like one without objects.
      if (response.code == 404 || response.code == 403) feed->rows.settle();
      feed->trouble = trouble;
    }
  });
  informers_.push_back(std::move(informer));
}

void Feeds::note_namespace(const std::string& ns) {
  if (ns.empty() || !namespaces_.insert(ns).second) return;
  spaces_.rows.set({ns, ns, to_string(JsonObject{{"key", ns}, {"name", ns}})});
  if (new_namespace_) new_namespace_();
}

void Feeds::start() {
  for (const auto& informer : informers_) informer->start();
}

Feed* Feeds::find(std::string_view name) {
  const auto it = feeds_.find(name);
  return it == feeds_.end() ? nullptr : it->second.get();
}

void Feeds::tick() { node_use_.flush(); }
void Feeds::every_second() { where_.ask(positions_.watchers > 0); }
void Feeds::sample() {
  usage_.sample(executor_.now());
  activity_.forget_old(executor_.now());
}

void Feeds::forget_unused() {
  for (const auto& [name, feed] : feeds_) feed->rows.forget_unused();
}

}  // namespace berth::console
