// berth list clusterqueue, localqueue and resourceflavor.
#include "cli/queues/list_commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/meta.h"
#include "api/printing/table.h"
#include "cli/queues/lister.h"
#include "cli/queues/named.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

std::string text_at(const Json& object, std::initializer_list<std::string_view> path) {
  return std::string(string_at(object, path));
}

std::string stop_policy(const Json& queue) { return std::string(string_at(queue, {"spec", "stopPolicy"}, "None")); }

bool is_active(const Json& queue) { return api::is_true(conditions_of(queue), "Active"); }
std::string active_text(const Json& queue) { return is_active(queue) ? "true" : "false"; }

// Whether the value of --active, a list of true and false, leaves this queue in. Everything stays when it is not given.
bool is_wanted(const Json& queue, const std::vector<std::string>& active) {
  return active.empty() || std::ranges::find(active, active_text(queue)) != active.end();
}

Result<std::vector<std::string>> read_active(const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& value : values) {
    for (const std::string& word : split(value, ',')) {
      if (word != "true" && word != "false") return wrong_value("--active", word, "expected true or false");
      out.push_back(word);
    }
  }
  return out;
}

// Why a queue admits nothing; "" when it does.
std::string why_inactive(const Json& queue) {
  const api::Conditions conditions = conditions_of(queue);
  const api::Condition* active = api::find_condition(conditions, "Active");
  return active == nullptr || active->status ? "" : active->message;
}

// --- cluster queues

// "spot:cpu=4,memory=8Gi gpu:nvidia.com/gpu=8"
std::string quotas_text(const Json& queue) {
  std::string out;
  for (const Json& group : array_at(queue, {"spec", "resourceGroups"})) {
    for (const Json& flavor : array_at(group, {"flavors"})) {
      out.append(out.empty() ? "" : " ").append(string_at(flavor, {"name"})).append(":");
      std::string quotas;
      for (const Json& resource : array_at(flavor, {"resources"})) {
        quotas.append(quotas.empty() ? "" : ",").append(string_at(resource, {"name"})).append("=");
        const Json* nominal = find(resource, "nominalQuota");
        quotas += nominal == nullptr     ? "0"
                  : nominal->is_string() ? std::string(view(nominal->get_string()))
                                         : to_string(*nominal);
      }
      out += quotas;
    }
  }
  return out;
}

Result<JsonArray> list_of(const Session& session, Opened& opened, const Kind& kind, std::string ns,
                          const ListFlags& flags) {
  return list_objects(session, *opened.server,
                      {kind.resource(), std::string(kind.name), std::move(ns), flags.labels, flags.fields,
                       flags.common.managed_fields});
}

struct QueueFlags : ListFlags {
  std::vector<std::string> active;
};

Columns cluster_queue_columns(Time now) {
  Columns columns;
  columns.names = {"NAME", "COHORT", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "ACTIVE", "AGE"};
  columns.cells = [now](const Json& queue) -> std::vector<Cell> {
    return {{text_at(queue, {"metadata", "name"})},
            {text_at(queue, {"spec", "cohortName"})},
            {count_at(queue, {"status", "pendingWorkloads"})},
            {count_at(queue, {"status", "admittedWorkloads"})},
            {active_text(queue), is_active(queue) ? Tone::kGood : Tone::kBad},
            age_cell_of(queue, now)};
  };
  columns.wide_names = {"STRATEGY", "STOP POLICY", "QUOTA", "WHY NOT ACTIVE"};
  columns.wide_cells = [](const Json& queue) -> std::vector<Cell> {
    return {{text_at(queue, {"spec", "queueingStrategy"})},
            {stop_policy(queue)},
            {quotas_text(queue)},
            {why_inactive(queue)}};
  };
  return columns;
}

int list_cluster_queues(const Session& session, const QueueFlags& flags) {
  const auto wanted = read_active(flags.active);
  if (!wanted) return session.misused(wanted.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    auto items = list_of(session, opened, kClusterQueue, {}, flags);
    if (!items) return session.failed(items.error().message);
    JsonArray kept;
    for (Json& queue : *items) {
      if (is_wanted(queue, *wanted)) kept.push_back(std::move(queue));
    }
    return print_list(session, opened.format, kClusterQueue.resource(), std::string(kClusterQueue.name),
                      std::move(kept), {}, false, cluster_queue_columns(opened.server->now()));
  });
}

// --- local queues

struct LocalQueueFlags : QueueFlags {
  std::string cluster_queue;
};

Columns local_queue_columns(Time now) {
  Columns columns;
  columns.names = {"NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "AGE"};
  columns.cells = [now](const Json& queue) -> std::vector<Cell> {
    return {{text_at(queue, {"metadata", "name"})},
            {text_at(queue, {"spec", "clusterQueue"})},
            {count_at(queue, {"status", "pendingWorkloads"})},
            {count_at(queue, {"status", "admittedWorkloads"})},
            age_cell_of(queue, now)};
  };
  columns.wide_names = {"ACTIVE", "STOP POLICY", "WHY NOT ACTIVE"};
  columns.wide_cells = [](const Json& queue) -> std::vector<Cell> {
    return {
        {active_text(queue), is_active(queue) ? Tone::kGood : Tone::kBad}, {stop_policy(queue)}, {why_inactive(queue)}};
  };
  return columns;
}

int list_local_queues(const Session& session, const LocalQueueFlags& flags) {
  const auto wanted = read_active(flags.active);
  if (!wanted) return session.misused(wanted.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    const std::string ns = flags.all_namespaces ? "" : opened.ns;
    auto items = list_of(session, opened, kLocalQueue, ns, flags);
    if (!items) return session.failed(items.error().message);
    JsonArray kept;
    for (Json& queue : *items) {
      const bool of_queue =
          flags.cluster_queue.empty() || string_at(queue, {"spec", "clusterQueue"}) == flags.cluster_queue;
      if (of_queue && is_wanted(queue, *wanted)) kept.push_back(std::move(queue));
    }
    if (kept.empty()) {
      for (const std::string& wrong :
           {no_namespace(session, *opened.server, ns),
            names_nothing(session, *opened.server, "-c", kClusterQueue, "", flags.cluster_queue)}) {
        if (!wrong.empty()) return session.failed(wrong);
      }
    }
    return print_list(session, opened.format, kLocalQueue.resource(), std::string(kLocalQueue.name), std::move(kept),
                      ns, flags.all_namespaces, local_queue_columns(opened.server->now()));
  });
}

// --- flavors

// "pool=a, zone=z"
std::string labels_text(const Json& flavor) {
  std::string out;
  for (const auto& [key, value] : api::decode_string_map(Json(object_at(flavor, {"spec", "nodeLabels"}))))
    out.append(out.empty() ? "" : ", ").append(key).append("=").append(value);
  return out;
}

// "key=value:NoSchedule, key2:NoExecute", of taints and of tolerations
std::string taints_text(const JsonArray& taints) {
  std::string out;
  for (const Json& taint : taints) {
    const std::string_view value = string_at(taint, {"value"}), effect = string_at(taint, {"effect"});
    out.append(out.empty() ? "" : ", ").append(string_at(taint, {"key"}));
    if (!value.empty()) out.append("=").append(value);
    if (!effect.empty()) out.append(":").append(effect);
  }
  return out;
}

Columns flavor_columns(Time now) {
  Columns columns;
  columns.names = {"NAME", "NODE LABELS", "AGE"};
  columns.cells = [now](const Json& flavor) -> std::vector<Cell> {
    return {{text_at(flavor, {"metadata", "name"})}, {labels_text(flavor)}, age_cell_of(flavor, now)};
  };
  columns.wide_names = {"NODE TAINTS", "TOLERATIONS", "TOPOLOGY"};
  columns.wide_cells = [](const Json& flavor) -> std::vector<Cell> {
    return {{taints_text(array_at(flavor, {"spec", "nodeTaints"}))},
            {taints_text(array_at(flavor, {"spec", "tolerations"}))},
            {text_at(flavor, {"spec", "topologyName"})}};
  };
  return columns;
}

int list_flavors(const Session& session, const ListFlags& flags) {
  return with_server(session, flags.common, [&](Opened& opened) {
    auto items = list_of(session, opened, kResourceFlavor, {}, flags);
    if (!items) return session.failed(items.error().message);
    return print_list(session, opened.format, kResourceFlavor.resource(), std::string(kResourceFlavor.name),
                      std::move(*items), {}, false, flavor_columns(opened.server->now()));
  });
}

}  // namespace

Command add_list_cluster_queues(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kClusterQueue, "List ClusterQueues");
  auto flags = std::make_shared<QueueFlags>();
  add_place_flags(*app, flags->common);
  add_selector_flags(*app, *flags);
  add_list_option(*app, "--active", flags->active, "Only queues that are active (true), or that are not (false)");
  add_format_flags(*app, flags->common);
  return {app, [session, flags] { return list_cluster_queues(session, *flags); }};
}

Command add_list_local_queues(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kLocalQueue, "List LocalQueues");
  auto flags = std::make_shared<LocalQueueFlags>();
  add_place_flags(*app, flags->common);
  add_all_namespaces_flag(*app, *flags);
  add_selector_flags(*app, *flags);
  app->add_option("-c,--clusterqueue", flags->cluster_queue, "Only queues of this ClusterQueue");
  add_list_option(*app, "--active", flags->active, "Only queues that are active (true), or that are not (false)");
  add_format_flags(*app, flags->common);
  return {app, [session, flags] { return list_local_queues(session, *flags); }};
}

Command add_list_flavors(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kResourceFlavor, "List ResourceFlavors");
  auto flags = std::make_shared<ListFlags>();
  add_place_flags(*app, flags->common);
  add_selector_flags(*app, *flags);
  add_format_flags(*app, flags->common);
  return {app, [session, flags] { return list_flavors(session, *flags); }};
}

}  // namespace berth::cli::queues
