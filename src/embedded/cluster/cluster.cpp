#include "embedded/cluster/cluster.h"

#include <utility>

#include "api/resources.h"
#include "embedded/cluster/apps/apps_controllers.h"
#include "embedded/cluster/autoscaler.h"
#include "embedded/cluster/binder.h"
#include "embedded/cluster/devices/claims.h"
#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/job_controller.h"
#include "embedded/cluster/kubelet.h"
#include "embedded/cluster/lws_controller.h"
#include "embedded/cluster/node_life.h"
#include "embedded/cluster/nodes.h"
#include "embedded/cluster/operators/operators.h"
#include "embedded/cluster/pod_collector.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "embedded/cluster/taint_eviction.h"
#include "embedded/cluster/vcjob_controller.h"
#include "kube/informer.h"

namespace berth::cluster {
struct PretendCluster::Impl {
  Impl(api::RestClient& c, Executor& e, const std::vector<jobs::kinds::JobKindPtr>& kinds)
      : client(c),
        executor(e),
        pods(c, e, api::kPods),
        nodes(c, e, api::kNodes),
        node_writer(c, e),
        driver(c, e),
        claims(c, e, pods, [this] { binder.claims_changed(); }),
        binder(c, e, pods, claims),
        life(c, e, nodes, pods, index),
        kubelet(c, e, nodes, pods, index),
        eviction(c, e, nodes, pods, index),
        collector(c, e, nodes, pods, index),
        autoscaler(c, e, binder.capacity()),
        jobs(c, e),
        apps(c, e),
        leader_worker_sets(c, e),
        vcjobs(c, e),
        operators(c, e, kinds) {
    pods.on_change([this](const JsonPtr& old, const JsonPtr& now) {
      index.pod_changed(old, now);
      claims.pod_changed(old, now);
      binder.pod_changed(old, now);
      life.pod_changed(old, now);
      kubelet.pod_changed(old, now);
      eviction.pod_changed(old, now);
      collector.pod_changed(old, now);
      autoscaler.pod_changed(old, now);
    });
    nodes.on_change([this](const JsonPtr& old, const JsonPtr& now) {
      driver.node_changed(old, now);
      binder.node_changed(old, now);
      life.node_changed(old, now);
      kubelet.node_changed(old, now);
      eviction.node_changed(old, now);
      collector.node_changed(old, now);
      autoscaler.node_changed(old, now);
    });
  }

  void create_nodes() {
    for (const auto& node : std::exchange(to_make, {})) create_node(node);
  }

  // After a restart the node exists already (409).
  void create_node(const Json& node) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = api::kNodes;
    request.body = node;
    node_writer.send(std::move(request), [this, node] { create_node(node); });
  }

  api::RestClient& client;
  Executor& executor;
  bool runs_nodes = true, job_controller = true, apps_controllers = true, with_vcjobs = false, with_lws = false;
  NodeGroup group;
  std::vector<Json> to_make;
  kube::Informer pods, nodes;
  PodsByNode index;
  Writer node_writer;
  std::vector<devices::DeviceShape> shapes;
  devices::Driver driver;
  devices::Claims claims;
  Binder binder;
  NodeLife life;
  Kubelet kubelet;
  TaintEviction eviction;
  PodCollector collector;
  Autoscaler autoscaler;
  JobController jobs;
  AppsControllers apps;
  LwsController leader_worker_sets;
  VcJobController vcjobs;
  Operators operators;
};

PretendCluster::PretendCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PretendCluster::~PretendCluster() = default;

Result<std::unique_ptr<PretendCluster>> PretendCluster::make(api::RestClient& client, Executor& executor,
                                                             const ClusterOptions& options) {
  auto resources = parse_node_resources(options.node_resources);
  if (!resources) return tl::unexpected(resources.error());
  auto impl = std::make_unique<Impl>(client, executor, options.kinds);
  auto shapes = devices::parse_devices(options.devices);
  if (!shapes) return tl::unexpected(shapes.error());
  impl->shapes = std::move(*shapes);
  impl->life.set_resources(*resources);
  impl->runs_nodes = options.runs_nodes;
  impl->job_controller = options.job_controller;
  impl->apps_controllers = options.apps_controllers;
  impl->with_vcjobs = options.vcjobs;
  impl->with_lws = options.leader_worker_sets;
  if (!options.nodes.empty()) {
    const auto shape = parse_node_shape(options.nodes);
    if (!shape) return tl::unexpected(shape.error());
    impl->to_make = make_nodes(*shape, *resources);
    impl->group.block = shape->blocks + 1;
  }
  impl->group.resources = *resources;
  impl->group.delay = options.provisioning_delay;
  if (!options.scale_up.empty()) {
    const auto racks = parse_node_shape(options.scale_up);
    if (!racks || racks->blocks != 1)
      return fail("scale-up \"" + options.scale_up + "\": expected RACKSxNODES, for example 2x64");
    impl->group.racks = racks->racks;
    impl->group.nodes_per_rack = racks->nodes;
  }
  for (const auto& node : options.node_manifests) {
    if (string_at(node, {"kind"}) != "Node")
      return fail("a node manifest has kind \"" + std::string(string_at(node, {"kind"})) + "\", expected Node");
    impl->to_make.push_back(node);
  }
  return std::unique_ptr<PretendCluster>(new PretendCluster(std::move(impl)));
}

void PretendCluster::start() {
  impl_->create_nodes();
  if (impl_->runs_nodes) {
    impl_->driver.start(impl_->shapes);
    impl_->claims.start();
    impl_->nodes.start();
    impl_->pods.start();
    impl_->autoscaler.start(impl_->group);
  }
  if (impl_->job_controller) impl_->jobs.start();
  if (impl_->apps_controllers) impl_->apps.start();
  if (impl_->with_lws) impl_->leader_worker_sets.start();
  if (impl_->with_vcjobs) impl_->vcjobs.start();
  impl_->operators.start();
}

}  // namespace berth::cluster
