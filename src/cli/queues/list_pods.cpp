// berth list pods: the pods of a job, whichever kind of job it is.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "api/selector.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/list_commands.h"
#include "cli/queues/lister.h"
#include "cli/queues/named.h"
#include "cli/queues/workload_facts.h"
#include "embedded/apiserver/builtin/pod_table.h"

namespace berth::cli::queues {
namespace {

struct PodFlags : ListFlags {
  std::string for_object;
};

const api::GroupVersionResource kPods{"", "v1", "pods"};

// Labels with the name of the object that pods belong to, of operators that own pods through other objects.
constexpr std::string_view kNameLabels[] = {"jobset.sigs.k8s.io/jobset-name", "leaderworkerset.sigs.k8s.io/name",
                                            "training.kubeflow.org/job-name", "ray.io/cluster"};

// Which pods belong to an object: its own ones, those that its selector selects, and those of its workloads.
class Belongs {
 public:
  Belongs(const FoundResource& resource, const Json& object, const JsonArray& workloads)
      : uid_(string_at(object, {"metadata", "uid"})), name_(string_at(object, {"metadata", "name"})) {
    for (const Json& workload : workloads) {
      if (belongs_to(workload, object)) workloads_.emplace(string_at(workload, {"metadata", "name"}));
    }
    custom_ = !resource.resource.group.empty() && resource.resource.group.find('.') != std::string::npos;
    const Json* selector = find_path(object, {"spec", "selector"});
    if (custom_ || selector == nullptr || resource.resource.group.empty()) return;
    // Only the selectors of batch and apps are label selectors of pods.
    if (auto parsed = api::LabelSelector::from_json(*selector)) selector_ = std::move(*parsed);
  }

  bool operator()(const Json& pod) const {
    if (string_at(pod, {"metadata", "uid"}) == uid_) return true;
    for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
      if (string_at(owner, {"uid"}) == uid_) return true;
    }
    const std::string workload(string_at(pod, {"metadata", "annotations", api::kueue::kWorkloadAnnotation}));
    if (!workload.empty() && workloads_.contains(workload)) return true;
    const JsonObject& labels = object_at(pod, {"metadata", "labels"});
    if (selector_ && !selector_->empty() && selector_->matches(labels)) return true;
    return custom_ && std::any_of(std::begin(kNameLabels), std::end(kNameLabels), [&](std::string_view label) {
             return string_at(pod, {"metadata", "labels", label}) == name_;
           });
  }

 private:
  std::string uid_, name_;
  std::set<std::string> workloads_;
  std::optional<api::LabelSelector> selector_;
  bool custom_ = false;
};

Columns pod_columns_of(Time now) {
  Columns columns;
  columns.names = {"NAME"};
  for (const auto& column : apiserver::pod_columns()) {
    std::string name = column.name;
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    (column.priority == 0 ? columns.names : columns.wide_names).push_back(std::move(name));
  }
  const std::size_t narrow = columns.names.size() - 1;
  const auto cells = [now](const Json& pod, std::size_t from, std::size_t to) {
    std::vector<Cell> out;
    const JsonArray all = apiserver::pod_cells(pod, now);
    for (std::size_t i = from; i < std::min(to, all.size()); ++i) {
      out.push_back({all[i].is_string() ? std::string(view(all[i].get_string())) : to_string(all[i])});
    }
    return out;
  };
  columns.cells = [cells, narrow](const Json& pod) {
    std::vector<Cell> row = cells(pod, 0, narrow);
    row.insert(row.begin(), Cell{std::string(string_at(pod, {"metadata", "name"}))});
    return row;
  };
  columns.wide_cells = [cells, narrow](const Json& pod) { return cells(pod, narrow, std::string::npos); };
  return columns;
}

int list_pods(const Session& session, const PodFlags& flags) {
  const auto wanted = parse_type_and_name("--for", flags.for_object);
  if (!wanted) return session.misused(wanted.error().message);
  return with_server(session, flags.common, [&](Opened& opened) {
    Server& server = *opened.server;
    Discovery discovery(server);
    const auto job = find_for(server, discovery, *wanted, opened.ns);
    if (!job) return session.failed(job.error().message);
    JsonArray kept;
    if (!job->object) return session.failed(no_object(session, server, job->resource, opened.ns, wanted->name));
    auto workloads =
        list_objects(session, server, {kWorkload.resource(), std::string(kWorkload.name), opened.ns, {}, {}});
    if (!workloads) return session.failed(workloads.error().message);
    auto pods = list_objects(session, server,
                             {kPods, "Pod", opened.ns, flags.labels, flags.fields, flags.common.managed_fields});
    if (!pods) return session.failed(pods.error().message);
    const Belongs belongs(job->resource, *job->object, *workloads);
    for (Json& pod : *pods) {
      if (belongs(pod)) kept.push_back(std::move(pod));
    }
    return print_list(session, opened.format, kPods, "Pod", std::move(kept), opened.ns, false,
                      pod_columns_of(server.now()));
  });
}

}  // namespace

Command add_list_pods(CLI::App& group, const Session& session) {
  CLI::App* app = group.add_subcommand("pods", "List the pods of a job");
  app->alias("pod")->alias("po");
  auto flags = std::make_shared<PodFlags>();
  add_place_flags(*app, flags->common);
  app->add_option("--for", flags->for_object, "The job: TYPE[.API-GROUP]/NAME, such as job/train")->required();
  add_selector_flags(*app, *flags);
  add_format_flags(*app, flags->common);
  app->footer("Example:\n  berth list pods --for rayjob.ray.io/train -n lab");
  return {app, [session, flags] { return list_pods(session, *flags); }};
}

Command add_list(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("list", "List queues, flavors, workloads or the pods of a job");
  return group_of(app,
                  {add_list_cluster_queues(*app, session), add_list_local_queues(*app, session),
                   add_list_workloads(*app, session), add_list_flavors(*app, session), add_list_pods(*app, session)});
}

}  // namespace berth::cli::queues
