// berth delete workload: deletes the job of a workload with its pods, so that the job does not come back.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <istream>
#include <memory>
#include <ostream>
#include <utility>

#include "api/status.h"
#include "cli/queues/deletion.h"
#include "cli/queues/discovery.h"
#include "cli/queues/lister.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

struct DeleteWorkloadsFlags {
  CommonFlags common;
  std::vector<std::string> names;
  bool all = false, yes = false;
};

// What is deleted: jobs, and workloads without one.
struct Plan {
  std::vector<Target> targets;       // each once
  std::vector<std::string> remarks;  // a line for each, for the question
  int code = 0;                      // of workloads that are not there
};

api::RestRequest workload_request(const std::string& ns, const std::string& name) {
  api::RestRequest request;
  request.resource = kWorkload.resource();
  request.ns = ns;
  request.name = name;
  return request;
}

Result<JsonArray> workloads_of(const Session& session, Opened& opened, const DeleteWorkloadsFlags& flags, int& code) {
  if (flags.all)
    return list_objects(session, *opened.server,
                        {kWorkload.resource(), std::string(kWorkload.name), opened.ns, {}, {}});
  JsonArray found;
  for (const std::string& name : flags.names) {
    api::RestResponse response = opened.server->call(workload_request(opened.ns, name));
    if (response.ok()) {
      found.push_back(std::move(response.body));
    } else {
      code = session.failed(opened.server->explain(response, kWorkload.resource()));
    }
  }
  return found;
}

// Adds the owners of the workload, or the workload itself when nobody owns it.
Result<void> add_targets(Discovery& discovery, const Json& workload, const std::string& ns, Plan& plan) {
  const std::string name(string_at(workload, {"metadata", "name"}));
  const auto add = [&](Target target, const std::string& remark) {
    const bool known = std::any_of(plan.targets.begin(), plan.targets.end(),
                                   [&](const Target& t) { return t.shown == target.shown && t.ns == target.ns; });
    if (!known) {
      plan.remarks.push_back(remark);
      plan.targets.push_back(std::move(target));
    }
  };
  const JsonArray& owners = array_at(workload, {"metadata", "ownerReferences"});
  for (const Json& owner : owners) {
    const auto resource = discovery.by_kind(string_at(owner, {"apiVersion"}), string_at(owner, {"kind"}));
    if (!resource) return tl::unexpected(resource.error());
    const std::string owner_name(string_at(owner, {"name"}));
    const std::string shown = resource->full_name() + "/" + owner_name;
    add({resource->resource, resource->namespaced ? ns : "", owner_name, shown},
        shown + " associated with the " + ns + "/" + name + " workload");
  }
  if (owners.empty()) {
    add({kWorkload.resource(), ns, name, "workloads." + kWorkload.resource().group + "/" + name},
        "the workload " + ns + "/" + name + ", which no job has");
  }
  return {};
}

Result<Plan> plan_of(const Session& session, Opened& opened, const DeleteWorkloadsFlags& flags) {
  Plan plan;
  const auto workloads = workloads_of(session, opened, flags, plan.code);
  if (!workloads) return tl::unexpected(workloads.error());
  Discovery discovery(*opened.server);
  for (const Json& workload : *workloads) {
    if (auto added = add_targets(discovery, workload, opened.ns, plan); !added) return tl::unexpected(added.error());
  }
  return plan;
}

enum class Answer { kYes, kNo, kNone };

Answer ask(const Session& session, const Plan& plan) {
  *session.out << "This operation will also delete:\n";
  for (const std::string& remark : plan.remarks) *session.out << "  - " << printable(remark) << "\n";
  *session.out << "Do you want to proceed (y/n)? " << std::flush;
  std::string line;
  while (std::getline(*session.in, line)) {
    if (line == "y" || line == "Y" || line == "yes") return Answer::kYes;
    if (line == "n" || line == "N" || line == "no") return Answer::kNo;
    *session.out << "Please answer y or n: " << std::flush;
  }
  return Answer::kNone;
}

int delete_all(const Session& session, Opened& opened, const Plan& plan) {
  Progress progress(session);
  int code = plan.code;
  std::size_t done = 0;
  for (const Target& target : plan.targets) {
    if (++done > 1) progress.show("deleting " + std::to_string(done) + " of " + std::to_string(plan.targets.size()));
    const Deleted deleted = delete_target(opened, target);
    if (!deleted.error.empty()) {
      code = session.failed(deleted.error);
    } else if (opened.format.kind == Format::Kind::kName) {
      *session.out << target.shown << "\n";
    } else {
      *session.out << target.shown << " deleted" << remark(opened.dry_run) << "\n";
    }
  }
  return code;
}

int delete_workloads(const Session& session, const DeleteWorkloadsFlags& flags) {
  if (flags.all && !flags.names.empty()) return session.misused("--all: expected no names with it");
  if (!flags.all && flags.names.empty()) return session.misused("expected the names of workloads, or --all");
  return with_server(session, flags.common, [&](Opened& opened) {
    const auto plan = plan_of(session, opened, flags);
    if (!plan) return session.failed(plan.error().message);
    if (plan->targets.empty()) {
      if (plan->code == 0) *session.err << "No resources found in " << opened.ns << " namespace.\n";
      return plan->code;
    }
    if (!flags.yes && opened.dry_run == DryRun::kNone) {
      const Answer answer = ask(session, *plan);
      if (answer == Answer::kNone) {
        *session.out << "\n";
        return session.failed("nothing is deleted: there was no answer; --yes deletes without a question");
      }
      if (answer == Answer::kNo) {
        *session.out << "Deletion is canceled\n";
        return plan->code;
      }
    }
    return delete_all(session, opened, *plan);
  });
}

}  // namespace

Deleted delete_target(Opened& opened, const Target& target) {
  api::RestRequest request;
  request.resource = target.resource;
  request.ns = target.ns;
  request.name = target.name;
  if (opened.dry_run != DryRun::kClient) {
    request.verb = api::Verb::kDelete;
    request.dry_run = opened.dry_run == DryRun::kServer;
    request.body = JsonObject{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
    if (request.dry_run) request.body.as_object()["dryRun"] = JsonArray{"All"};
  }
  const api::RestResponse response = opened.server->call(std::move(request));
  if (!response.ok()) return {opened.server->explain(response, target.resource), response.code == 404, {}};
  // The answer is the object, or a Status with its uid.
  return {{},
          false,
          std::string(string_at(response.body, {"metadata", "uid"}, string_at(response.body, {"details", "uid"})))};
}

Command add_delete_workloads(CLI::App& group, const Session& session) {
  CLI::App* app = add_kind_command(group, kWorkload, "Delete workloads with their jobs and the pods of these");
  auto flags = std::make_shared<DeleteWorkloadsFlags>();
  app->add_option("NAME", flags->names, "The names of the workloads");
  add_place_flags(*app, flags->common);
  app->add_flag("--all", flags->all, "All workloads of the namespace");
  app->add_flag("-y,--yes", flags->yes, "Delete without a question");
  add_dry_run_flag(*app, flags->common);
  app->add_option("-o,--output", flags->common.output, "Output format: name");
  app->footer("A job without a Workload creates a new one. So this deletes the job, its Workload and its pods.");
  return {app, [session, flags] { return delete_workloads(session, *flags); }};
}

}  // namespace berth::cli::queues
