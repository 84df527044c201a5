// berth list workload.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "api/printing/table.h"
#include "api/status.h"
#include "base/text.h"
#include "cli/queues/discovery.h"
#include "cli/queues/expected_start.h"
#include "cli/queues/job_workloads.h"
#include "cli/queues/list_commands.h"
#include "cli/queues/lister.h"
#include "cli/queues/named.h"
#include "cli/queues/words.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {
namespace {

struct WorkloadFlags : ListFlags {
  std::string cluster_queue, local_queue, for_object;
  std::vector<std::string> statuses;
};

using Key = std::pair<std::string, std::string>;  // namespace, name
Key queue_of(const Json& workload) {
  return {std::string(string_at(workload, {"metadata", "namespace"})),
          std::string(string_at(workload, {"spec", "queueName"}))};
}

// The cluster queues of the local queues.
using ClusterQueues = std::map<Key, std::string>;

std::string cluster_queue_of(const Json& workload, const ClusterQueues& queues) {
  const std::string_view admitted = string_at(workload, {"status", "admission", "clusterQueue"});
  if (!admitted.empty()) return std::string(admitted);
  const auto at = queues.find(queue_of(workload));
  return at == queues.end() ? "" : at->second;
}

// The states that --status asks for; all of them when it does not.
Result<std::set<WorkloadState>> wanted_states(const std::vector<std::string>& values) {
  static const std::vector<std::pair<std::string, WorkloadState>> kStates = {
      {"pending", WorkloadState::kPending},
      {"quotareserved", WorkloadState::kQuotaReserved},
      {"admitted", WorkloadState::kAdmitted},
      {"finished", WorkloadState::kFinished}};
  std::set<WorkloadState> wanted;
  for (const std::string& value : values) {
    for (const std::string& word : split(value, ',')) {
      bool known = word == "all";
      for (const auto& [name, state] : kStates) {
        if (word != name && word != "all") continue;
        wanted.insert(state);
        known = true;
      }
      if (!known) return wrong_value("--status", word, "expected all, pending, quotareserved, admitted or finished");
    }
  }
  if (values.empty()) {
    for (const auto& [name, state] : kStates) wanted.insert(state);
  }
  return wanted;
}

// "job", "rayjob.ray.io": the type in the form of --for.
std::string job_type(const Json* owner) {
  if (owner == nullptr) return "";
  const std::string_view version = string_at(*owner, {"apiVersion"});
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
  std::string type = to_lower(string_at(*owner, {"kind"}));
  if (!group.empty() && group != "batch" && group != "apps") type.append(".").append(group);
  return type;
}

Tone tone_of(WorkloadState state) {
  switch (state) {
    case WorkloadState::kAdmitted:
      return Tone::kGood;
    case WorkloadState::kFinished:
      return Tone::kPlain;
    default:
      return Tone::kWaiting;
  }
}

// Only some of the columns are in the object; the others are looked up before.
struct Surroundings {
  ClusterQueues cluster_queues;
  Positions positions;
  std::map<Key, ExpectedStart> starts;
  Time now{};
};

Columns workload_columns(const Surroundings& around) {
  Columns columns;
  columns.names = {"NAME",   "JOB TYPE",          "JOB NAME",  "LOCALQUEUE", "CLUSTERQUEUE",
                   "STATUS", "POSITION IN QUEUE", "EXEC TIME", "AGE"};
  columns.cells = [&around](const Json& workload) -> std::vector<Cell> {
    const Json* owner = owner_of(workload);
    const WorkloadState state = state_of(workload);
    const std::string name(string_at(workload, {"metadata", "name"}));
    const auto position = around.positions.find({std::string(string_at(workload, {"metadata", "namespace"})), name});
    const bool placed = state == WorkloadState::kPending && position != around.positions.end();
    const auto time = execution_time(workload, around.now);
    return {{name},
            {job_type(owner)},
            {owner == nullptr ? "" : std::string(string_at(*owner, {"name"}))},
            {std::string(string_at(workload, {"spec", "queueName"}))},
            {cluster_queue_of(workload, around.cluster_queues)},
            {std::string(to_text(state)), tone_of(state)},
            {placed ? std::to_string(position->second + 1) : ""},
            {time ? api::human_duration(*time) : ""},
            age_cell_of(workload, around.now)};
  };
  columns.wide_names = {"PRIORITY", "START P50", "START P90", "WHY IT WAITS"};
  columns.wide_cells = [&around](const Json& workload) -> std::vector<Cell> {
    const auto start = around.starts.find({std::string(string_at(workload, {"metadata", "namespace"})),
                                           std::string(string_at(workload, {"metadata", "name"}))});
    const ExpectedStart expected = start == around.starts.end() ? ExpectedStart() : start->second;
    return {{count_at(workload, {"spec", "priority"})}, {expected.p50}, {expected.p90}, {why_it_waits(workload)}};
  };
  return columns;
}

Result<ClusterQueues> cluster_queues_of(const Session& session, Server& server, const std::string& ns) {
  auto queues = list_objects(session, server, {kLocalQueue.resource(), std::string(kLocalQueue.name), ns, {}, {}});
  if (!queues) return tl::unexpected(queues.error());
  ClusterQueues out;
  for (const Json& queue : *queues) {
    out[{std::string(string_at(queue, {"metadata", "namespace"})),
         std::string(string_at(queue, {"metadata", "name"}))}] = string_at(queue, {"spec", "clusterQueue"});
  }
  return out;
}

// Without the visibility API the positions are left out, and the reason goes to standard error.
Positions positions_of(const Session& session, Server& server, const JsonArray& workloads) {
  std::set<Key> queues;
  for (const Json& workload : workloads) {
    if (state_of(workload) == WorkloadState::kPending && !queue_of(workload).second.empty())
      queues.insert(queue_of(workload));
  }
  Progress progress(session);
  Positions positions;
  std::size_t asked = 0;
  for (const auto& [ns, name] : queues) {
    if (++asked > 1)
      progress.show("positions: " + std::to_string(asked) + " of " + std::to_string(queues.size()) + " queues");
    const std::string why = add_positions(server, ns, name, positions);
    if (why.empty()) continue;
    session.failed("positions are not known: " + why);
    break;
  }
  return positions;
}

int list_workloads(const Session& session, const WorkloadFlags& flags) {
  const auto states = wanted_states(flags.statuses);
  if (!states) return session.misused(states.error().message);
  std::optional<TypeAndName> wanted;
  if (!flags.for_object.empty()) {
    auto parsed = parse_type_and_name("--for", flags.for_object);
    if (!parsed) return session.misused(parsed.error().message);
    wanted = std::move(*parsed);
  }
  return with_server(session, flags.common, [&](Opened& opened) {
    Server& server = *opened.server;
    const std::string ns = flags.all_namespaces ? "" : opened.ns;
    const auto print = [&](JsonArray items, const Columns& columns) {
      return print_list(session, opened.format, kWorkload.resource(), std::string(kWorkload.name), std::move(items), ns,
                        flags.all_namespaces, columns);
    };
    std::optional<ForObject> job;
    if (wanted) {
      if (flags.all_namespaces)
        return session.misused("--for names an object of one namespace: leave out --all-namespaces");
      Discovery discovery(server);
      auto found = find_for(server, discovery, *wanted, ns);
      if (!found) return session.failed(found.error().message);
      if (!found->object) return session.failed(no_object(session, server, found->resource, ns, wanted->name));
      job = std::move(*found);
    }
    auto listed = list_objects(session, server,
                               {kWorkload.resource(), std::string(kWorkload.name), ns, flags.labels, flags.fields,
                                flags.common.managed_fields});
    if (!listed) return session.failed(listed.error().message);
    Surroundings around;
    around.now = server.now();
    if (opened.format.text() || !flags.cluster_queue.empty()) {
      auto queues = cluster_queues_of(session, server, ns);
      if (!queues) return session.failed(queues.error().message);
      around.cluster_queues = std::move(*queues);
    }
    JsonArray kept;
    for (Json& workload : *listed) {
      if (!states->contains(state_of(workload))) continue;
      if (!flags.local_queue.empty() && string_at(workload, {"spec", "queueName"}) != flags.local_queue) continue;
      if (!flags.cluster_queue.empty() && cluster_queue_of(workload, around.cluster_queues) != flags.cluster_queue)
        continue;
      if (job && !belongs_to(workload, *job->object)) continue;
      kept.push_back(std::move(workload));
    }
    if (kept.empty()) {
      for (const std::string& wrong : {no_namespace(session, server, ns),
                                       names_nothing(session, server, "-c", kClusterQueue, "", flags.cluster_queue),
                                       names_nothing(session, server, "-q", kLocalQueue, ns, flags.local_queue)}) {
        if (!wrong.empty()) return session.failed(wrong);
      }
    }
    if (job && kept.empty()) {
      const std::string_view hint = where_its_workloads_are(job->resource);
      if (!hint.empty()) *session.err << hint << "\n";
    }
    if (opened.format.text()) around.positions = positions_of(session, server, kept);
    if (opened.format.wide()) around.starts = expected_starts(session, server, kept, around.positions);
    return print(std::move(kept), workload_columns(around));
  });
}

}  // namespace

Command add_list_workloads(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kWorkload, "List workloads, and where they stand in their queue");
  auto flags = std::make_shared<WorkloadFlags>();
  add_place_flags(*app, flags->common);
  add_all_namespaces_flag(*app, *flags);
  add_selector_flags(*app, *flags);
  app->add_option("-c,--clusterqueue", flags->cluster_queue, "Only workloads of this ClusterQueue");
  app->add_option("-q,--localqueue", flags->local_queue, "Only workloads of this LocalQueue");
  add_list_option(*app, "--status", flags->statuses,
                  "Only workloads in this state: all, pending, quotareserved, admitted or finished");
  app->add_option("--for", flags->for_object, "Only the workloads of this object: TYPE[.API-GROUP]/NAME");
  add_format_flags(*app, flags->common);
  app->footer(
      std::string("POSITION IN QUEUE counts from 1, the next one of its LocalQueue. EXEC TIME is the time since the ") +
      "admission.\n"
      "-o wide says why a workload waits, and when it starts as berth predict says: by P50 in half of the futures, by "
      "P90\nin nine of ten. It asks about the first " +
      std::to_string(kMostExpectedStarts) + " workloads and for 2 seconds at most; START is empty for the others.");
  return {app, [session, flags] { return list_workloads(session, *flags); }};
}

}  // namespace berth::cli::queues
