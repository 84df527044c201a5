// berth list pods: the pods of a job, whichever kind of job it is.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/meta.h"
#include "api/printing/pod_table.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/job_pods.h"
#include "cli/queues/list_commands.h"
#include "cli/queues/lister.h"
#include "cli/queues/named.h"

namespace berth::cli::queues {
namespace {

struct PodFlags : ListFlags {
  std::string for_object;
};

const api::GroupVersionResource kPods{"", "v1", "pods"};

Columns pod_columns_of(Time now) {
  Columns columns;
  columns.names = {"NAME"};
  for (const auto& column : api::pod_columns()) {
    std::string name = column.name;
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    (column.priority == 0 ? columns.names : columns.wide_names).push_back(std::move(name));
  }
  const std::size_t narrow = columns.names.size() - 1;
  const auto cells = [now](const Json& pod, std::size_t from, std::size_t to) {
    std::vector<Cell> out;
    const JsonArray all = api::pod_cells(pod, now);
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
    const JobPods belonging(job->resource, *job->object, *workloads);
    for (Json& pod : *pods) {
      if (belonging.has(pod)) kept.push_back(std::move(pod));
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
