// Compares the roles of the manifests with what the controller does: each request of each scenario is allowed, and no
// permission is granted that no request needs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "api/verb.h"
#include "embedded/apiserver/http/roles.h"
#include "embedded/simulate/play.h"
#include "embedded/simulate/world.h"
#include "install/manifests.h"
#include "jobs/kinds/read/shipped.h"
#include "kube/leader_election.h"
#include "serve/secret_certificates.h"
#include "source_dir.h"

namespace berth::install::roles_test {
namespace {

using apiserver::http::Action;

constexpr std::string_view kNamespace = "kueue-system";
const api::User kController{"system:serviceaccount:kueue-system:kueue-controller-manager",
                            {"system:serviceaccounts", "system:authenticated"}};

// The roles and bindings of the manifests, as an API server returns them.
apiserver::Lookup installed() {
  apiserver::Lookup lookup;
  const auto kind = [](const api::GroupVersionResource& gvr) {
    return gvr.resource == "roles"          ? "Role"
           : gvr.resource == "clusterroles" ? "ClusterRole"
           : gvr.resource == "rolebindings" ? "RoleBinding"
                                            : "ClusterRoleBinding";
  };
  lookup.list = [kind](const api::GroupVersionResource& gvr, std::string_view ns) {
    std::vector<JsonPtr> found;
    for (const Json* object : all_of(kind(gvr))) {
      if (ns.empty() || namespace_of(*object) == ns) found.push_back(std::make_shared<const Json>(*object));
    }
    return found;
  };
  lookup.get = [list = lookup.list](const api::GroupVersionResource& gvr, std::string_view ns,
                                    std::string_view name) -> JsonPtr {
    for (const JsonPtr& object : list(gvr, ns)) {
      if (name_of(*object) == name) return object;
    }
    return nullptr;
  };
  return lookup;
}

std::string permission(std::string_view verb, std::string_view group, std::string_view resource) {
  return std::string(verb) + " " + std::string(group) + " " + std::string(resource);
}

// Permissions used so far, and those that the roles do not allow.
struct Asked {
  std::set<std::string> used, refused;
};

// A client with the controller's account: a request that its roles do not allow is refused as by a server.
class AccountClient final : public api::RestClient {
 public:
  AccountClient(api::RestClient& server, Executor& executor, Asked& asked)
      : server_(server), executor_(executor), asked_(asked) {
    streamed_lists_not_offered();  // the roles must also suffice for servers without streaming lists
  }

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (!request.path.empty()) return server_.call(std::move(request), std::move(done));  // system:discovery
    const Action action = action_of(request);
    note_owners(request);
    if (note(action)) return server_.call(std::move(request), std::move(done));
    executor_.post(
        [done = std::move(done), refusal = apiserver::http::forbidden_action(kController, action)] { done(refusal); });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    request.verb = api::Verb::kWatch;
    note(action_of(request));
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  static Action action_of(const api::RestRequest& request) {
    const bool named = !request.name.empty();
    return {std::string(api::name_of(request.verb)),
            request.resource,
            request.subresource,
            request.ns,
            named ? request.name : apiserver::http::name_selected(request.field_selector),
            ""};
  }

  // The admission plugin OwnerReferencesPermissionEnforcement: a client that sets blockOwnerDeletion needs permission
  // to update the finalizers of the owner.
  void note_owners(const api::RestRequest& request) {
    for (const Json& owner : array_at(request.body, {"metadata", "ownerReferences"})) {
      if (!bool_at(owner, {"blockOwnerDeletion"})) continue;
      const std::string version(string_at(owner, {"apiVersion"}));
      std::string resource(string_at(owner, {"kind"}));
      std::transform(resource.begin(), resource.end(), resource.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const auto slash = version.find('/');  // none in the core group
      const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
      note({"update",
            {group, version.substr(slash + 1), resource + "s"},
            "finalizers",
            request.ns,
            std::string(string_at(owner, {"name"})),
            ""});
    }
  }

  bool note(const Action& action) {
    std::string resource = action.resource.resource;
    if (!action.subresource.empty()) resource += "/" + action.subresource;
    const std::string what = permission(action.verb, action.resource.group, resource);
    asked_.used.insert(what);
    const auto covered = [&](const std::vector<Json>& rules) {
      return std::any_of(rules.begin(), rules.end(),
                         [&](const Json& rule) { return apiserver::http::covers(rule, action); });
    };
    if (covered(everywhere_) || (action.ns == kNamespace && covered(at_home_))) return true;
    asked_.refused.insert(what);
    return false;
  }

  api::RestClient& server_;
  Executor& executor_;
  Asked& asked_;
  std::vector<Json> everywhere_ = apiserver::http::rules_of(kController, "", installed());
  std::vector<Json> at_home_ = apiserver::http::rules_of(kController, kNamespace, installed());
};

void play_all(Asked& asked) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_path("tests/scenarios"))) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto scenario = simulate::parse_scenario(text);
    ASSERT_TRUE(scenario) << file;
    simulate::PlayOptions options;
    options.between = [&](api::RestClient& server, Executor& executor) {
      return std::make_unique<AccountClient>(server, executor, asked);
    };
    const auto played = simulate::play(*scenario, options);
    ASSERT_TRUE(played) << file << ": " << played.error().message;
    EXPECT_TRUE(played->failures.empty()) << file << ": " << played->failures.front();
  }
}

// A cluster with the manifests applied.
std::unique_ptr<simulate::World> installed_world() {
  simulate::WorldOptions options;
  options.start = parse_time("2026-11-21T09:00:00Z").value();
  options.controller = false;
  auto world = simulate::World::make(options);
  EXPECT_TRUE(world);
  if (!world) return nullptr;
  for (const Json& object : manifests()) {
    const auto applied = (*world)->apply(object);
    EXPECT_TRUE(applied) << name_of(object) << ": " << applied.error().message;
  }
  return std::move(*world);
}

// Acquires, renews and releases the Lease of the configuration.
void lead(Asked& asked) {
  const auto world = installed_world();
  ASSERT_TRUE(world);
  AccountClient client(world->client(), world->executor(), asked);
  bool leads = false, gone = false;
  kube::LeaderElectionOptions options;
  options.identity = "one";
  kube::LeaderElector elector(client, world->executor(), options, {[&] { leads = true; }, [](const std::string&) {}});
  elector.start();
  world->run_for(std::chrono::minutes(1));
  EXPECT_TRUE(leads);
  elector.release([&] { gone = true; });
  world->run_for(std::chrono::seconds(5));
  EXPECT_TRUE(gone);
}

// The CA of the webhooks is created, stored in the Secret of the manifests, and written to all objects that name its
// service.
void certify(Asked& asked) {
  const auto world = installed_world();
  ASSERT_TRUE(world);
  AccountClient client(world->client(), world->executor(), asked);
  serve::SecretCertificatesOptions options;
  options.names = {"kueue-webhook-service.kueue-system.svc"};
  options.targets = serve::installed_targets(true);
  serve::SecretCertificates certificates(client, world->executor(), options);
  certificates.start();
  world->run_for(std::chrono::minutes(1));
  EXPECT_TRUE(certificates.current().has_value()) << certificates.problem();
  EXPECT_TRUE(certificates.published()) << certificates.problem();
  for (const Json& object : manifests()) {
    if (kind_of(object) != "CustomResourceDefinition" && kind_of(object) != "APIService" &&
        !kind_of(object).ends_with("WebhookConfiguration"))
      continue;
    const auto now = world->get(string_at(object, {"apiVersion"}), kind_of(object), "", name_of(object));
    ASSERT_TRUE(now) << name_of(object);
    EXPECT_NE(to_string(*now).find("\"caBundle\""), std::string::npos) << name_of(object);
  }
}

// Permissions that no scenario here uses, and the test that covers each.
const std::set<std::string> kElsewhere = {
    "create authentication.k8s.io tokenreviews",         // DelegatedAuth.*
    "create authorization.k8s.io subjectaccessreviews",  // DelegatedAuth.*
    "delete  podtemplates",                              // Provisioning.*
    "patch  pods/status",                                // UngaterTest.FailsAPodWhosePlaceIsLostAndLetsItsSuccessorGo
    "get  pods",                                         // a write with a conflict: UngaterTest
    "patch kueue.x-k8s.io clusterqueues"                 // the finalizer of a queue that is deleted
};

std::set<std::string> permissions_given() {
  std::set<std::string> given;
  for (const Json& rule : apiserver::http::rules_of(kController, kNamespace, installed())) {
    for (const Json& verb : array_at(rule, {"verbs"})) {
      for (const Json& group : array_at(rule, {"apiGroups"})) {
        for (const Json& resource : array_at(rule, {"resources"}))
          given.insert(permission(view(verb.as_string()), view(group.as_string()), view(resource.as_string())));
      }
    }
  }
  return given;
}

TEST(ControllerRoles, AllowWhatIsDoneAndNoMore) {
  Asked asked;
  play_all(asked);
  lead(asked);
  certify(asked);
  EXPECT_THAT(asked.refused, testing::IsEmpty()) << "needed, and not in config/helm/berth/templates/rbac";
  std::set<std::string> unused = permissions_given();
  for (const std::string& used : asked.used) unused.erase(used);
  for (const std::string& elsewhere : kElsewhere)
    EXPECT_EQ(unused.erase(elsewhere), 1U) << elsewhere << " is not given, or is used by now";
  // objectRetentionPolicies: tests/controller, Retention.*
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) {
    const auto& resource = kind->resource;
    EXPECT_EQ(unused.erase(permission("delete", resource.group, resource.resource)), 1U) << resource.resource;
    if (!kind->dispatch) continue;  // tests/controller, MultiKueueKinds.*
    EXPECT_EQ(unused.erase(permission("patch", resource.group, resource.resource + "/status")), 1U)
        << resource.resource;
  }
  EXPECT_THAT(unused, testing::IsEmpty()) << "given, and not needed";
}

TEST(ControllerRoles, SayNothingOfAnybodyElse) {
  for (const Json& rule : apiserver::http::rules_of({"someone", {"system:authenticated"}}, kNamespace, installed()))
    ADD_FAILURE() << to_string(rule);
  EXPECT_TRUE(apiserver::http::rules_of(kController, "kube-system", installed()).size() ==
              apiserver::http::rules_of(kController, "", installed()).size())
      << "in other namespaces only the cluster's rules";
}

// What a user may do who is bound to one of the roles for people.
bool may_as(std::string_view role, Action action) {
  apiserver::Lookup objects = installed();
  Json binding = JsonObject{{"kind", "ClusterRoleBinding"}};
  ensure_path(binding, {"roleRef", "kind"}) = "ClusterRole";
  ensure_path(binding, {"roleRef", "name"}) = role;
  ensure_path(binding, {"subjects"}) = JsonArray{JsonObject{{"kind", "User"}, {"name", "ann"}}};
  objects.list = [list = objects.list, binding](const api::GroupVersionResource& gvr, std::string_view ns) {
    auto found = list(gvr, ns);
    if (gvr.resource == "clusterrolebindings") found.push_back(std::make_shared<const Json>(binding));
    return found;
  };
  return apiserver::http::may({"ann", {"system:authenticated"}}, action, objects);
}

Action on(std::string verb, std::string group, std::string resource, std::string subresource = "") {
  return {std::move(verb), {std::move(group), "v1beta2", std::move(resource)}, std::move(subresource), "team", "a", ""};
}

TEST(PeoplesRoles, AddUpInBatchAdminAndBatchUser) {
  const std::string admin = "kueue-batch-admin-role", user = "kueue-batch-user-role", kueue = "kueue.x-k8s.io";
  for (const char* resource : {"clusterqueues", "localqueues", "cohorts", "resourceflavors", "topologies", "workloads",
                               "admissionchecks", "workloadpriorityclasses"}) {
    EXPECT_TRUE(may_as(admin, on("update", kueue, resource))) << resource;
    EXPECT_FALSE(may_as(user, on("update", kueue, resource))) << resource;
  }
  EXPECT_TRUE(may_as(user, on("create", "batch", "jobs")));
  EXPECT_TRUE(may_as(user, on("watch", kueue, "workloads")));
  EXPECT_TRUE(may_as(user, on("list", kueue, "localqueues")));
  EXPECT_FALSE(may_as(user, on("list", kueue, "clusterqueues")));
  EXPECT_TRUE(may_as(user, on("get", "visibility.kueue.x-k8s.io", "localqueues", "pendingworkloads")));
  EXPECT_FALSE(may_as(user, on("get", "visibility.kueue.x-k8s.io", "clusterqueues", "pendingworkloads")));
  EXPECT_TRUE(may_as(admin, on("get", "visibility.kueue.x-k8s.io", "clusterqueues", "pendingworkloads")));
  EXPECT_FALSE(may_as(admin, on("get", "", "secrets")));
}

}  // namespace
}  // namespace berth::install::roles_test
