// berth kinds: the kinds of jobs that Berth manages, and help for those who describe one.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/kueue/validation/workload.h"
#include "api/status.h"
#include "base/read_file.h"
#include "base/yaml.h"
#include "cli/cluster_access.h"
#include "cli/commands.h"
#include "cli/job_kinds.h"
#include "cli/output.h"
#include "controller/kind_checks.h"
#include "http/asio_executor.h"
#include "jobs/compose.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace berth::cli {
namespace {

using jobs::kinds::Fit;
using jobs::kinds::JobKindPtr;

struct KindsFlags {
  AccessFlags access;
  std::string directory, format = "text", file, object, crd, ns = "kueue-system", account = "kueue-controller-manager";
};

// What the cluster says about a kind.
struct Seen {
  std::string served = "?";             // "yes", "no", or why it is not known
  std::optional<std::int64_t> managed;  // objects with a queue name
  Fit fit;                              // whether the served definition fits the description
};

std::string_view word_for(Fit::State state) {
  switch (state) {
    case Fit::State::kFits:
      return "yes";
    case Fit::State::kInPart:
      return "in part";
    case Fit::State::kMisfit:
      return "misfit";
    case Fit::State::kOtherVersion:
      return "other version";
    case Fit::State::kAbsent:
      return "-";
    case Fit::State::kUnknown:
      break;
  }
  return "?";
}

// What does not fit, one sentence each.
std::vector<std::string> reasons(const Fit& fit) {
  if (fit.state != Fit::State::kOtherVersion) return fit.notes;
  std::vector<std::string> out;
  for (const auto& version : fit.notes) out.push_back("the cluster serves version " + version);
  return out;
}

Result<std::vector<JobKindPtr>> all_kinds(const std::string& directory) {
  controller::ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  if (auto added = add_job_kinds({{kKindsFlag, directory}}, options); !added) return tl::unexpected(added.error());
  std::vector<JobKindPtr> out;
  for (const auto& kind : options.kinds) out.push_back(kind.description);
  return out;
}

// Counts the objects of each kind that name a queue, page by page. Ends with the first answer that every other one
// would be, too: the server is not reached, or does not know the user.
class Census {
 public:
  Census(api::RestClient& client, const std::vector<JobKindPtr>& kinds, std::function<void()> done)
      : client_(client), kinds_(kinds), seen_(kinds.size()), done_(std::move(done)) {}

  void next() {
    if (at_ == kinds_.size()) return done_();
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = kinds_[at_]->resource;
    request.label_selector = std::string(api::kueue::kQueueLabel);
    request.limit = kPage;
    request.continue_token = page_;
    client_.call(std::move(request), [this](const api::RestResponse& response) { take(response); });
  }
  const std::vector<Seen>& seen() const { return seen_; }
  const std::optional<api::RestResponse>& refused() const { return refused_; }

 private:
  static constexpr std::int64_t kPage = 500;

  void take(const api::RestResponse& response) {
    if (response.code == 0 || response.code == 401) {
      refused_ = response;
      return done_();
    }
    Seen& seen = seen_[at_];
    page_.clear();
    if (response.ok()) {
      seen.served = "yes";
      seen.managed = seen.managed.value_or(0) + static_cast<std::int64_t>(array_at(response.body, {"items"}).size());
      page_ = string_at(response.body, {"metadata", "continue"});
    } else {
      seen.served = response.code == 404   ? "no"
                    : response.code == 403 ? "forbidden"
                                           : "error " + std::to_string(response.code);
    }
    if (page_.empty()) ++at_;
    next();
  }

  api::RestClient& client_;
  const std::vector<JobKindPtr>& kinds_;
  std::vector<Seen> seen_;
  std::optional<api::RestResponse> refused_;
  std::size_t at_ = 0;
  std::string page_;
  std::function<void()> done_;
};

// Without a cluster nothing is known; the reason goes to standard error.
std::vector<Seen> look(const KindsFlags& flags, const std::vector<JobKindPtr>& kinds) {
  const std::vector<Seen> unknown(kinds.size());
  const auto report = [&](const std::string& why) {
    std::fprintf(stderr, "berth: the cluster is not asked: %s\n", why.c_str());
    return unknown;
  };
  const auto found = find_access(flags.access);
  if (!found) return report(found.error().message);
  http::AsioExecutor executor;
  kube::ClientOptions options;
  options.max_tries = 1;
  options.timeout = std::chrono::seconds(5);
  auto client = kube::Client::make(executor, found->access, options);
  if (!client) return report(client.error().message);
  controller::KindChecks checks(**client, executor, kinds);
  checks.on_round([&] { executor.stop(); });
  Census census(**client, kinds, [&] {
    if (census.refused()) return executor.stop();
    checks.start();
  });
  executor.post([&] { census.next(); });
  executor.run();
  if (census.refused()) return report(explain_refusal(*census.refused(), kinds.front()->resource, found->access));
  auto out = census.seen();
  for (std::size_t i = 0; i < kinds.size(); ++i) out[i].fit = checks.of(*kinds[i]);
  return out;
}

JsonArray strings(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

int list(const KindsFlags& flags) {
  const auto kinds = all_kinds(flags.directory);
  if (!kinds) return failure(kinds.error().message);
  const auto seen = look(flags, *kinds);
  if (flags.format == "json") {
    JsonArray out;
    for (std::size_t i = 0; i < kinds->size(); ++i) {
      const auto& kind = *(*kinds)[i];
      out.push_back(JsonObject{{"kind", kind.kind},
                               {"apiVersion", kind.api_version()},
                               {"resource", kind.resource.resource},
                               {"framework", kind.framework},
                               {"origin", kind.origin},
                               {"served", seen[i].served},
                               {"managed", seen[i].managed ? Json(*seen[i].managed) : Json()},
                               {"fit", std::string(word_for(seen[i].fit.state))},
                               {"reasons", strings(reasons(seen[i].fit))}});
    }
    std::printf("%s\n", to_pretty_string(Json(std::move(out))).c_str());
    return 0;
  }
  constexpr const char* kRow = "%-18s %-32s %-9s %-13s %-8s %s\n";
  std::printf(kRow, "KIND", "API VERSION", "SERVED", "FIT", "QUEUED", "DESCRIBED IN");
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    const auto& kind = *(*kinds)[i];
    std::printf(kRow, kind.kind.c_str(), kind.api_version().c_str(), seen[i].served.c_str(),
                std::string(word_for(seen[i].fit.state)).c_str(),
                seen[i].managed ? std::to_string(*seen[i].managed).c_str() : "-", kind.origin.c_str());
  }
  std::fflush(stdout);
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    for (const auto& reason : reasons(seen[i].fit))
      std::fprintf(stderr, "berth: %s of %s: %s\n", (*kinds)[i]->kind.c_str(), (*kinds)[i]->api_version().c_str(),
                   reason.c_str());
  }
  return 0;
}

// --- check

bool is_of(const Json& object, const jobs::kinds::JobKindSpec& kind) {
  return string_at(object, {"kind"}) == kind.kind && string_at(object, {"apiVersion"}) == kind.api_version();
}

// The object of the kind among those of a file. The only object of a file may have any kind.
Result<Json> read_object(const std::string& path, const JobKindPtr& kind) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto documents = parse_yaml(*text);
  if (!documents) return fail(path + ": " + documents.error().message);
  if (documents->size() == 1) return std::move(documents->front());
  std::erase_if(*documents, [&](const Json& object) { return !is_of(object, *kind); });
  if (documents->size() == 1) return std::move(documents->front());
  return fail(path + ": has " + std::to_string(documents->size()) + " objects of kind " + kind->kind + " of " +
              kind->api_version() + ", expected one");
}

// The Workload of the object, without a cluster: no class is known.
Result<Json> workload_of(const JobKindPtr& kind, const Json& object, const std::string& path) {
  if (!object.is_object()) return fail(path + ": expected a manifest of kind " + kind->kind);
  if (!is_of(object, *kind))
    return fail(path + ": has kind " + std::string(string_at(object, {"kind"})) + " of " +
                std::string(string_at(object, {"apiVersion"})) + ", expected kind " + kind->kind + " of " +
                kind->api_version());
  const api::kueue::ObjectGetter nothing = [](auto&&...) { return nullptr; };
  if (const auto errors = jobs::kinds::refusals_of_new(*kind, object, nothing); !errors.empty())
    return fail(path + ": " + api::to_string(errors));
  const jobs::kinds::DescribedJob adapter(kind, nothing);
  if (const auto checked = adapter.check_status(object); !checked) return fail(path + ": " + checked.error().message);
  jobs::JobFacts facts;
  facts.workload_priority_class = [](std::string_view) { return std::optional<std::int32_t>(0); };
  facts.priority_class = [](std::string_view) { return std::optional<std::int32_t>(0); };
  facts.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
  auto workload = jobs::make_workload(adapter, object, facts);
  if (!workload) return workload;
  if (const auto errors = api::kueue::validate_workload(*workload); !errors.empty())
    return fail(path + ": its Workload would be refused: " + api::to_string(errors));
  return workload;
}

int check(const KindsFlags& flags) {
  const auto kind = read_job_kind_file(flags.file, flags.crd);
  if (!kind) return failure(kind.error().message);
  if (flags.object.empty()) {
    std::printf("%s: describes %s of %s\n", flags.file.c_str(), (*kind)->kind.c_str(), (*kind)->api_version().c_str());
    return 0;
  }
  const auto object = read_object(flags.object, *kind);
  if (!object) return failure(object.error().message);
  const auto workload = workload_of(*kind, *object, flags.object);
  if (!workload) return failure(workload.error().message);
  std::printf("%s", flags.format == "json" ? (to_pretty_string(*workload) + "\n").c_str() : to_yaml(*workload).c_str());
  return 0;
}

// --- rbac

Json rule(const JobKindPtr& kind, const std::string& resource, JsonArray verbs) {
  return JsonObject{{"apiGroups", JsonArray{Json(kind->resource.group)}},
                    {"resources", JsonArray{Json(resource)}},
                    {"verbs", std::move(verbs)}};
}

int rbac(const KindsFlags& flags) {
  const auto kind = read_job_kind_file(flags.file);
  if (!kind) return failure(kind.error().message);
  const std::string name = "berth-" + (*kind)->resource.resource + "." + (*kind)->resource.group;
  const std::string& resource = (*kind)->resource.resource;
  JsonArray rules{rule(*kind, resource, {"list", "watch", "patch", "delete"}),
                  rule(*kind, resource + "/finalizers", {"update"})};
  if ((*kind)->dispatch) rules.push_back(rule(*kind, resource + "/status", {"patch"}));
  for (const auto& lookup : (*kind)->lookups) {
    rules.push_back(JsonObject{{"apiGroups", JsonArray{Json(lookup.resource.group)}},
                               {"resources", JsonArray{Json(lookup.resource.resource)}},
                               {"verbs", JsonArray{"list", "watch"}}});
  }
  const Json role = JsonObject{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                               {"kind", "ClusterRole"},
                               {"metadata", JsonObject{{"name", name}}},
                               {"rules", std::move(rules)}};
  const Json binding = JsonObject{
      {"apiVersion", "rbac.authorization.k8s.io/v1"},
      {"kind", "ClusterRoleBinding"},
      {"metadata", JsonObject{{"name", name}}},
      {"roleRef", JsonObject{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}}},
      {"subjects",
       JsonArray{JsonObject{{"kind", "ServiceAccount"}, {"name", flags.account}, {"namespace", flags.ns}}}}};
  std::printf("%s---\n%s", to_yaml(role).c_str(), to_yaml(binding).c_str());
  return 0;
}

}  // namespace

Command add_kinds(CLI::App& root) {
  auto* app = root.add_subcommand("kinds", "List the kinds of jobs that are described by data, and check descriptions");
  auto flags = std::make_shared<KindsFlags>();
  app->require_subcommand(0, 1);
  add_access_flags(*app, flags->access);
  app->add_option("--job-kinds", flags->directory, "A directory with descriptions of more kinds (*.yaml)");
  add_output_option(*app, flags->format);
  auto* checks = app->add_subcommand("check", "Check a description; with an object, print the Workload that it gets");
  checks->add_option("FILE", flags->file, "The description")->required();
  checks->add_option("OBJECT", flags->object, "An object of the kind");
  checks->add_option(
      "--crd", flags->crd,
      "The file of the kind's CustomResourceDefinition, which paths and expressions are checked against\n"
      "(default: the one that ships with Berth)");
  add_output_option(*checks, flags->format);
  auto* roles = app->add_subcommand("rbac", "Print the permissions that the controller needs for a described kind");
  roles->add_option("FILE", flags->file, "The description")->required();
  roles->add_option("--namespace", flags->ns, "The namespace of the controller")->capture_default_str();
  roles->add_option("--service-account", flags->account, "The account of the controller")->capture_default_str();
  // Subcommands that are added later would show it, too.
  app->footer(
      "docs/job-kinds.md explains descriptions. QUEUED counts the objects that name a queue. FIT tells\n"
      "whether the served definition has the fields that the description reads and writes; jobs of a kind with\n"
      "\"misfit\" or \"other version\" are not managed. The reasons go to standard error, and into -o json.");
  return {app, [flags, checks, roles] {
            if (checks->parsed()) return check(*flags);
            if (roles->parsed()) return rbac(*flags);
            return list(*flags);
          }};
}

}  // namespace berth::cli
