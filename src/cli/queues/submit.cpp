// berth submit: creates jobs, or says beforehand what would become of them.
#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "cli/object_files.h"
#include "cli/queues/commands.h"
#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "cli/queues/kinds.h"
#include "cli/queues/lister.h"
#include "cli/queues/what_if_question.h"
#include "cli/queues/words.h"
#include "cli/table.h"

namespace berth::cli::queues {
namespace {

constexpr std::size_t kMostOtherQueues = 16;  // each costs a question

struct SubmitFlags {
  CommonFlags common;
  std::vector<std::string> files;
  bool dry_run = false;
};

struct Submitted {
  Json object;        // as the server would store it
  std::string shown;  // "job.batch/train"
  std::string ns, queue;
};

std::string queue_label_of(const Json& object) {
  return printable(string_at(object, {"metadata", "labels", api::kueue::kQueueLabel}));
}

Result<std::vector<std::string>> local_queues(const Session& session, Opened& opened, const std::string& ns) {
  auto queues =
      list_objects(session, *opened.server, {kLocalQueue.resource(), std::string(kLocalQueue.name), ns, {}, {}});
  if (!queues) return tl::unexpected(queues.error());
  std::vector<std::string> names;
  for (const Json& queue : *queues) names.emplace_back(string_at(queue, {"metadata", "name"}));
  return names;
}

// The object, checked by the server. `ns`: of --namespace; empty: not given. Error: it is no job or of another
// namespace, or the server refuses it.
Result<Submitted> checked(Opened& opened, Discovery& discovery, const ObjectToApply& each, const std::string& ns) {
  const auto found = discovery.by_kind(string_at(each.object, {"apiVersion"}), string_at(each.object, {"kind"}));
  if (!found) return fail(each.origin + ": " + found.error().message);
  if (is_no_job(*found) || !found->namespaced)
    return fail(each.origin + ": " + found->kind + " is no kind of job; berth what-if -f tries other objects");
  if (const auto own = string_at(each.object, {"metadata", "namespace"}); !ns.empty() && !own.empty() && own != ns)
    return fail(each.origin + ": " + found->kind + " " + printable(string_at(each.object, {"metadata", "name"})) +
                " names the namespace " + printable(own) + ", and -n names " + ns +
                ": expected the same; leave one out");
  auto stored = as_stored(opened, discovery, each);
  if (!stored) return tl::unexpected(stored.error());
  Submitted out{std::move(*stored), found->full_name(), {}, {}};
  out.shown += "/" + printable(string_at(out.object, {"metadata", "name"}));
  out.ns = string_at(out.object, {"metadata", "namespace"});
  out.queue = queue_label_of(out.object);
  return out;
}

Result<Json> asked_about(Server& server, const std::string& ns, Json object) {
  auto answer = ask_what_if_in(server, ns, JsonObject{{"apply", JsonArray{std::move(object)}}});
  if (!answer) return answer;
  const Json* status = find(*answer, "status");
  return status == nullptr ? Json(JsonObject()) : *status;
}

// What becomes of the workload of the job, in one line.
std::string verdict(const Json& status) {
  const JsonArray& arrivals = array_at(status, {"arrivals"});
  if (arrivals.empty()) return "is not queued";
  const std::string got = at(arrivals.front(), "got");
  return got.empty() ? "waits; " + printable(string_at(arrivals.front(), {"prediction", "summary"}))
                     : "starts now: " + got;
}

void print_verdict(const Session& session, const Submitted& job, const Json& status) {
  *session.out << job.shown << " in LocalQueue " << job.ns << "/" << job.queue << " " << verdict(status) << "\n";
  for (const Json& victim : array_at(status, {"preempted"}))
    *session.out << "  it preempts " << at(victim, "workload") << ": " << at(victim, "text") << "\n";
  if (const auto others = int_at(status, {"otherNamespaces", "preempted"}); others > 0)
    *session.out << "  it preempts " << others << (others == 1 ? " workload" : " workloads")
                 << " of other namespaces\n";
  for (const Json& arrival : array_at(status, {"arrivals"})) {
    const Json* explanation = find(arrival, "explanation");
    if (explanation == nullptr) continue;
    *session.out << "  why: " << at(*explanation, "summary") << "\n";
    const JsonArray& changes = array_at(*explanation, {"changes"});
    if (!changes.empty()) *session.out << "  each of these changes alone starts it now:\n";
    for (const Json& change : changes) *session.out << "  - " << at(change, "text") << "\n";
  }
}

// The same job in the other queues of its namespace: with "status", or with the "error" instead of an answer.
JsonArray other_queues(Server& server, const Submitted& job, const std::vector<std::string>& queues) {
  JsonArray out;
  for (const std::string& queue : queues) {
    if (queue == job.queue) continue;
    if (out.size() >= kMostOtherQueues) {
      out.emplace_back(JsonObject{{"queue", queue}, {"error", "not tried: too many LocalQueues"}});
      continue;
    }
    Json object = job.object;
    ensure_path(object, {"metadata", "labels", api::kueue::kQueueLabel}) = queue;
    auto status = asked_about(server, job.ns, std::move(object));
    JsonObject each{{"queue", queue}};
    if (status) {
      each["status"] = std::move(*status);
    } else {
      each["error"] = status.error().message;
    }
    out.emplace_back(std::move(each));
  }
  return out;
}

int try_one(const Session& session, Opened& opened, const Submitted& job, JsonArray& documents) {
  const auto queues = local_queues(session, opened, job.ns);
  if (!queues) return session.failed(queues.error().message);
  if (job.queue.empty())
    return session.failed(job.shown + " has no label " + std::string(api::kueue::kQueueLabel) +
                          ", so it is not queued; " +
                          (queues->empty() ? "namespace " + job.ns + " has no LocalQueue"
                                           : "the LocalQueues of namespace " + job.ns + ": " + either(*queues)));
  const auto status = asked_about(*opened.server, job.ns, job.object);
  if (!status) return session.failed(job.shown + ": " + status.error().message);
  JsonArray others = other_queues(*opened.server, job, *queues);
  if (!opened.format.text()) {
    documents.emplace_back(JsonObject{{"job", job.shown},
                                      {"namespace", job.ns},
                                      {"queue", job.queue},
                                      {"status", *status},
                                      {"otherQueues", std::move(others)}});
    return 0;
  }
  print_verdict(session, job, *status);
  Table table({"OTHER LOCALQUEUE", "THE JOB"});
  for (const Json& other : others) {
    const Json* answer = find(other, "status");
    table.add({{at(other, "queue")}, {answer == nullptr ? at(other, "error") : verdict(*answer)}});
  }
  if (!table.empty()) *session.out << table.text(session.colour);
  return 0;
}

int create_one(const Session& session, Opened& opened, Discovery& discovery, const ObjectToApply& each,
               const Submitted& job) {
  const auto found = discovery.by_kind(string_at(each.object, {"apiVersion"}), string_at(each.object, {"kind"}));
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = found->resource;
  request.ns = job.ns;
  request.body = each.object;
  ensure_path(request.body, {"metadata", "namespace"}) = job.ns;
  request.field_manager = "berth";
  const api::RestResponse response = opened.server->call(std::move(request));
  if (!response.ok()) return session.failed(each.origin + ": " + opened.server->explain(response, found->resource));
  const std::string name = printable(string_at(response.body, {"metadata", "name"}));
  *session.out << found->full_name() << "/" << name << " created; follow it with: berth watch " << found->full_name()
               << "/" << name << " -n " << job.ns << "\n";
  return 0;
}

int submit(const Session& session, const SubmitFlags& flags) {
  return with_server(session, flags.common, [&](Opened& opened) {
    if (!flags.dry_run && !opened.format.text()) return session.misused("-o: only with --dry-run");
    auto objects = read_objects(flags.files);
    if (!objects) return session.failed(objects.error().message);
    if (objects->empty()) return session.failed("-f " + flags.files.front() + ": has no objects");
    Discovery discovery(*opened.server);
    JsonArray documents;
    int code = 0;
    for (const ObjectToApply& each : *objects) {
      const auto job = checked(opened, discovery, each, flags.common.ns);
      if (!job) {
        code = session.failed(job.error().message);
      } else if (const int one = flags.dry_run ? try_one(session, opened, *job, documents)
                                               : create_one(session, opened, discovery, each, *job)) {
        code = one;
      }
    }
    if (!opened.format.text())
      *session.out << printed(opened.format,
                              JsonObject{{"kind", "List"}, {"apiVersion", "v1"}, {"items", std::move(documents)}});
    return code;
  });
}

}  // namespace

Command add_submit(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("submit", "Create jobs; with --dry-run say what would become of them");
  auto flags = std::make_shared<SubmitFlags>();
  add_list_option(*app, "-f,--filename", flags->files, "A file or directory with jobs; may be repeated");
  app->get_option("--filename")->required();
  app->add_flag("--dry-run", flags->dry_run, "Create nothing");
  add_place_flags(*app, flags->common);
  add_output_flag(*app, flags->common);
  app->footer(
      "With --dry-run each job goes through the API server first, so it gets its defaults, or its refusal. Then it is\n"
      "tried on a copy of the queues: whether it starts now and where, whom it preempts, else why it waits, when it\n"
      "starts, and which single changes would start it now; and the same for the other LocalQueues of its namespace.\n"
      "This needs the right to ask what-if questions in the cluster or in the namespace (docs/explain.md).\n"
      "Example: berth submit --dry-run -f train.yaml -n team-a");
  return {app, [session, flags] { return submit(session, *flags); }};
}

}  // namespace berth::cli::queues
