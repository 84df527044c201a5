// berth create: cluster queues, local queues and flavors from flags.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "cli/queues/commands.h"
#include "cli/queues/flags.h"
#include "cli/queues/node_flags.h"
#include "cli/queues/quota_flags.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

struct CreateFlags {
  CommonFlags common;
  std::string name;
  // clusterqueue
  std::string cohort, strategy = "BestEffortFIFO", namespace_selector, reclaim = "Never", within = "Never";
  std::vector<std::string> nominal, borrowing, lending;
  // localqueue
  std::string cluster_queue;
  bool unknown_queue = false;
  // resourceflavor
  std::vector<std::string> labels, taints, tolerations;
};

Json object_of(const Kind& kind, const std::string& name, Json spec) {
  JsonObject object{{"apiVersion", kind.api_version()}, {"kind", kind.name}, {"metadata", JsonObject{{"name", name}}}};
  object["spec"] = std::move(spec);
  return object;
}

Result<void> one_of(std::string_view flag, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return {};
  return wrong_value(flag, value, "expected " + either(known));
}

Result<Json> cluster_queue_of(const CreateFlags& flags) {
  JsonObject spec;
  if (!flags.cohort.empty()) spec["cohortName"] = flags.cohort;
  auto selector = parse_selector("--namespace-selector", flags.namespace_selector);
  if (!selector) return tl::unexpected(selector.error());
  spec["namespaceSelector"] = std::move(*selector);
  for (const auto& valid : {one_of("--reclaim-within-cohort", flags.reclaim, {"Never", "LowerPriority", "Any"}),
                            one_of("--preemption-within-cluster-queue", flags.within,
                                   {"Never", "LowerPriority", "LowerOrNewerEqualPriority"}),
                            one_of("--queuing-strategy", flags.strategy, {"StrictFIFO", "BestEffortFIFO"})}) {
    if (!valid) return tl::unexpected(valid.error());
  }
  spec["preemption"] = JsonObject{{"reclaimWithinCohort", flags.reclaim}, {"withinClusterQueue", flags.within}};
  spec["queueingStrategy"] = flags.strategy;
  const auto nominal = parse_amounts("--nominal-quota", flags.nominal);
  if (!nominal) return tl::unexpected(nominal.error());
  const auto borrowing = parse_amounts("--borrowing-limit", flags.borrowing);
  if (!borrowing) return tl::unexpected(borrowing.error());
  const auto lending = parse_amounts("--lending-limit", flags.lending);
  if (!lending) return tl::unexpected(lending.error());
  auto groups = resource_groups(*nominal, *borrowing, *lending);
  if (!groups) return tl::unexpected(groups.error());
  if (!groups->empty()) spec["resourceGroups"] = std::move(*groups);
  return object_of(kClusterQueue, flags.name, std::move(spec));
}

Result<Json> local_queue_of(const CreateFlags& flags) {
  return object_of(kLocalQueue, flags.name, JsonObject{{"clusterQueue", flags.cluster_queue}});
}

Result<Json> flavor_of(const CreateFlags& flags) {
  JsonObject spec;
  auto labels = parse_labels("--node-labels", flags.labels);
  if (!labels) return tl::unexpected(labels.error());
  if (!labels->empty()) spec["nodeLabels"] = std::move(*labels);
  auto taints = parse_taints("--node-taints", flags.taints);
  if (!taints) return tl::unexpected(taints.error());
  if (!taints->empty()) spec["nodeTaints"] = std::move(*taints);
  auto tolerations = parse_tolerations("--tolerations", flags.tolerations);
  if (!tolerations) return tl::unexpected(tolerations.error());
  if (!tolerations->empty()) spec["tolerations"] = std::move(*tolerations);
  return object_of(kResourceFlavor, flags.name, std::move(spec));
}

// A local queue may be created before its cluster queue; that is rarely meant.
int check_cluster_queue(const Session& session, Opened& opened, const CreateFlags& flags) {
  if (flags.cluster_queue.empty() || flags.unknown_queue || opened.dry_run == DryRun::kClient) return 0;
  api::RestRequest request;
  request.resource = kClusterQueue.resource();
  request.name = flags.cluster_queue;
  const api::RestResponse found = opened.server->call(std::move(request));
  if (found.ok()) return 0;
  const std::string hint = found.code == 404 ? "; --ignore-unknown-cq creates the queue anyway" : "";
  return session.failed(opened.server->explain(found, kClusterQueue.resource()) + hint);
}

int create(const Session& session, const CreateFlags& flags, const Kind& kind, const Result<Json>& object) {
  if (!object) return session.misused(object.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    Json made = *object;
    if (kind.namespaced) made.at("metadata").as_object()["namespace"] = opened.ns;
    if (const int code = check_cluster_queue(session, opened, flags); code != 0) return code;
    if (opened.dry_run != DryRun::kClient) {
      api::RestRequest request;
      request.verb = api::Verb::kCreate;
      request.resource = kind.resource();
      if (kind.namespaced) request.ns = opened.ns;
      request.body = std::move(made);
      request.field_manager = "berth";
      request.dry_run = opened.dry_run == DryRun::kServer;
      request.field_validation = api::FieldValidation::kStrict;
      request.wants_managed_fields = opened.format.managed_fields;
      api::RestResponse created = opened.server->call(std::move(request));
      for (const std::string& warning : created.warnings) *session.err << "Warning: " << warning << "\n";
      if (!created.ok()) return session.failed(opened.server->explain(created, kind.resource()));
      made = std::move(created.body);
    }
    if (opened.format.text()) {
      *session.out << object_name(made) << " created" << remark(opened.dry_run) << "\n";
    } else {
      *session.out << printed(opened.format, std::move(made));
    }
    return 0;
  });
}

using FlagsPtr = std::shared_ptr<CreateFlags>;

// The flags of every kind.
FlagsPtr create_flags(CLI::App& app) {
  auto flags = std::make_shared<CreateFlags>();
  app.add_option("NAME", flags->name, "The name of the new object")->required();
  add_place_flags(app, flags->common);
  add_dry_run_flag(app, flags->common);
  add_format_flags(app, flags->common);
  return flags;
}

Command add_create_cluster_queue(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kClusterQueue, "Create a ClusterQueue");
  auto flags = create_flags(*app);
  app->add_option("--cohort", flags->cohort, "The cohort that it borrows from and lends to");
  app->add_option("--queuing-strategy", flags->strategy, "StrictFIFO or BestEffortFIFO")->capture_default_str();
  app->add_option("--namespace-selector", flags->namespace_selector,
                  "The namespaces whose workloads it may admit: team=a,env in (dev,test) (default: all)");
  app->add_option("--reclaim-within-cohort", flags->reclaim,
                  "Which borrowers of the cohort it may preempt: Never, LowerPriority or Any")
      ->capture_default_str();
  app->add_option("--preemption-within-cluster-queue", flags->within,
                  "Which of its own workloads it may preempt: Never, LowerPriority or LowerOrNewerEqualPriority")
      ->capture_default_str();
  add_list_option(*app, "--nominal-quota", flags->nominal, "FLAVOR:RESOURCE=QUANTITY[;RESOURCE=QUANTITY][,FLAVOR:...]");
  add_list_option(*app, "--borrowing-limit", flags->borrowing, "The most it may borrow, in the same form");
  add_list_option(*app, "--lending-limit", flags->lending, "The most it lends, in the same form");
  app->footer(
      "Example:\n  berth create cq team-a --cohort lab --nominal-quota "
      "'spot:cpu=64;memory=256Gi,gpu:nvidia.com/gpu=8'\n"
      "Flavors with the same resources become one resource group, tried in this order.");
  return {app, [session, flags] { return create(session, *flags, kClusterQueue, cluster_queue_of(*flags)); }};
}

Command add_create_local_queue(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kLocalQueue, "Create a LocalQueue in a namespace");
  auto flags = create_flags(*app);
  app->add_option("-c,--clusterqueue", flags->cluster_queue, "The ClusterQueue that it belongs to")->required();
  app->add_flag("-i,--ignore-unknown-cq", flags->unknown_queue, "Create it although there is no such ClusterQueue");
  app->footer("Example:\n  berth create lq research -c team-a -n lab");
  return {app, [session, flags] { return create(session, *flags, kLocalQueue, local_queue_of(*flags)); }};
}

Command add_create_flavor(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kResourceFlavor, "Create a ResourceFlavor");
  auto flags = create_flags(*app);
  add_list_option(*app, "--node-labels", flags->labels, "The labels of its nodes: KEY=VALUE,...");
  add_list_option(*app, "--node-taints", flags->taints, "The taints of its nodes: KEY=VALUE:EFFECT,KEY:EFFECT,...");
  add_list_option(*app, "--tolerations", flags->tolerations,
                  "What its pods tolerate besides: KEY=VALUE:EFFECT,KEY:EFFECT,KEY,:EFFECT,...");
  app->footer("Example:\n  berth create rf spot --node-labels lifecycle=spot --node-taints spot=true:NoSchedule");
  return {app, [session, flags] { return create(session, *flags, kResourceFlavor, flavor_of(*flags)); }};
}

}  // namespace

Command add_create(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("create", "Create a ClusterQueue, a LocalQueue or a ResourceFlavor");
  return group_of(app, {add_create_cluster_queue(*app, session), add_create_local_queue(*app, session),
                        add_create_flavor(*app, session)});
}

}  // namespace berth::cli::queues
