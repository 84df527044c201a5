// The steps of a workload's provisioning checks, one call at a time.
#include "jobs/provisioning.h"

#include "jobs/provisioning_support.h"

namespace berth::jobs::provisioning_test {
namespace {

using namespace provisioning_test;
using api::kueue::CheckState;
using api::kueue::Workload;

// The objects besides the workload.
struct Around {
  std::vector<ProvisioningCheck> checks = {{"chk", config()}};
  std::vector<api::autoscaling::ProvisioningRequest> requests = {};  // controlled by the workload
  std::vector<api::ObjectMeta> pod_templates = {};  // in the namespace, independent of their controllers
  std::vector<api::ObjectMeta> foreign_requests = {};
  std::string_view edit = "{}";  // of the contents of the templates
};

// What Berth writes for the pod set main, as the API server stores it.
Json contents(std::string_view edit) {
  return apply_merge_patch(yaml(R"(
metadata: {labels: {app: x}, annotations: {a: b}}
spec:
  nodeSelector: {own: "1"}
  restartPolicy: Always
  dnsPolicy: ClusterFirst
  containers: [{name: c, image: i, imagePullPolicy: Always, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 1Gi}}}]
)"),
                           yaml(edit));
}

api::ObjectMeta pod_template(std::string name, std::string_view owner_uid = "wl-uid") {
  api::ObjectMeta meta;
  meta.name = std::move(name);
  meta.ns = "ns";
  meta.uid = meta.name + "-uid";
  meta.labels = {{"kueue.x-k8s.io/managed", "true"}};
  meta.owners = {{"v", "K", "owner", std::string(owner_uid), true, true}};
  return meta;
}

std::optional<api::ObjectMeta> find_in(const std::vector<api::ObjectMeta>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &api::ObjectMeta::name);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::vector<ProvisioningStep> steps(const Workload& w, const Around& around) {
  ProvisioningFacts facts;
  facts.checks = around.checks;
  facts.flavors = [](std::string_view name) -> const api::kueue::ResourceFlavor* {
    static const api::kueue::ResourceFlavor flavor;
    return name == "gpu" ? &flavor : nullptr;
  };
  auto named = around.foreign_requests;
  for (const auto& request : around.requests) {
    facts.requests.push_back(std::make_shared<const api::autoscaling::ProvisioningRequest>(request));
    named.push_back(request.meta);
  }
  for (const auto& one : around.pod_templates) {
    if (one.owners[0].uid == "wl-uid" && !one.deletion) facts.pod_templates.push_back(one);
  }
  facts.find_request = [&named](std::string_view name) { return find_in(named, name); };
  facts.find_pod_template = [&around](std::string_view name) { return find_in(around.pod_templates, name); };
  facts.contents_of_template = [&around](std::string_view) {
    return std::make_shared<const Json>(contents(around.edit));
  };
  return provision(w, facts);
}

std::string line(const ProvisioningStep& step) {
  const auto name = [](const Json& object) { return std::string(string_at(object, {"metadata", "name"})); };
  struct {
    std::function<std::string(const Json&)> name;
    std::string operator()(const CreatePodTemplate& s) const { return "template " + name(s.object); }
    std::string operator()(const CreateProvisioningRequest& s) const { return "request " + name(s.object); }
    std::string operator()(const HandOverPodTemplate& s) const {
      return "hand " + s.pod_template.name + " to " + s.owner.name;
    }
    std::string operator()(const DeleteProvisioningRequest& s) const { return "delete request " + s.request.name; }
    std::string operator()(const DeletePodTemplate& s) const { return "delete template " + s.pod_template.name; }
    std::string operator()(const ReportCheck& s) const {
      static constexpr std::string_view kNames[] = {"Pending", "Ready", "Retry", "Rejected"};
      return s.state.name + " is " + std::string(kNames[static_cast<int>(s.state.state)]) + ": " + s.state.message;
    }
    std::string operator()(const LookAgain&) const { return "look again"; }
  } const words{name};
  return std::visit(words, step);
}

std::vector<std::string> lines(const Workload& w, const Around& around) {
  std::vector<std::string> out;
  for (const auto& step : steps(w, around)) out.push_back(line(step));
  return out;
}

using Lines = std::vector<std::string>;

std::string with_check(std::string_view state) {
  return "{status: {admissionChecks: [{name: chk, message: '', lastTransitionTime: '2026-01-01T00:00:00Z', " +
         std::string(state) + "}]}}";
}

TEST(Provision, MakesTemplatesThenTheRequest) {
  const auto all = steps(workload(R"({metadata: {annotations: {provreq.kueue.x-k8s.io/extra: x, other/annotation: y,
                                      provreq.kueue.x-k8s.io/p: own}}})"),
                         {});
  ASSERT_EQ(all.size(), 2u);
  const auto& made = std::get<CreatePodTemplate>(all[0]);
  EXPECT_EQ(made.check, "chk");
  EXPECT_TRUE(json_equal(made.object, yaml(R"(
apiVersion: v1
kind: PodTemplate
metadata:
  name: ppt-wl-chk-1-main
  namespace: ns
  labels: {kueue.x-k8s.io/managed: "true"}
  ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: wl, uid: wl-uid, controller: true, blockOwnerDeletion: true}]
template:
  metadata: {labels: {app: x}, annotations: {a: b}}
  spec:
    nodeSelector: {own: "1"}
    containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 1Gi}}}]
)"))) << to_string(made.object);
  EXPECT_TRUE(json_equal(std::get<CreateProvisioningRequest>(all[1]).object, yaml(R"(
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata:
  name: wl-chk-1
  namespace: ns
  labels: {kueue.x-k8s.io/managed: "true"}
  ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: wl, uid: wl-uid, controller: true, blockOwnerDeletion: true}]
spec:
  provisioningClassName: class.example.com
  parameters: {p: own, extra: x}
  podSets: [{podTemplateRef: {name: ppt-wl-chk-1-main}, count: 3}]
)"))) << to_string(std::get<CreateProvisioningRequest>(all[1]).object);
}

TEST(Provision, MakesOnlyWhatIsMissing) {
  EXPECT_EQ(lines(workload(), {.pod_templates = {pod_template("ppt-wl-chk-1-main")}}), Lines{"request wl-chk-1"});
  EXPECT_EQ(lines(workload(), {.requests = {request("wl-chk-1")}}), Lines{});
}

// A client may prepare PodTemplates and ProvisioningRequests, with the workload as their controller.
TEST(Provision, UsesNothingPreparedThatDiffersFromTheAdmission) {
  for (const auto edit : {R"({spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "64"}}}]}})",
                          R"({spec: {overhead: {cpu: "64"}}})", R"({spec: {nodeSelector: {own: "2"}}})",
                          R"({spec: {tolerations: [{operator: Exists}]}})", R"({spec: null})"}) {
    Around around{.pod_templates = {pod_template("ppt-wl-chk-1-main")}, .edit = edit};
    EXPECT_EQ(lines(workload(), around), (Lines{"delete template ppt-wl-chk-1-main", "look again"})) << edit;
    around.requests = {request("wl-chk-1")};
    EXPECT_EQ(lines(workload(), around), (Lines{"delete request wl-chk-1", "delete template ppt-wl-chk-1-main"}))
        << edit;
  }
  auto more = request("wl-chk-1");
  more.pod_sets[0].count = 30;
  EXPECT_EQ(lines(workload(), {.requests = {more}}), (Lines{"delete request wl-chk-1", "look again"}));
  auto other = request("wl-chk-1");
  other.pod_sets[0].pod_template = "mine";
  EXPECT_EQ(lines(workload(), {.requests = {other}}), (Lines{"delete request wl-chk-1", "look again"}));
  auto second = request("wl-chk-1");
  second.pod_sets.push_back({"mine", 1});
  EXPECT_EQ(lines(workload(), {.requests = {second}}), (Lines{"delete request wl-chk-1", "look again"}));
}

TEST(Provision, HandsTemplatesOverToTheRequest) {
  const Around around{.requests = {request("wl-chk-1")},
                      .pod_templates = {pod_template("ppt-wl-chk-1-main"), pod_template("ppt-wl-chk-1-other")}};
  EXPECT_EQ(lines(workload(), around), Lines{"hand ppt-wl-chk-1-main to wl-chk-1"});
  const auto owner = std::get<HandOverPodTemplate>(steps(workload(), around)[0]).owner;
  EXPECT_EQ(owner, (api::OwnerReference{"autoscaling.x-k8s.io/v1", "ProvisioningRequest", "wl-chk-1", "wl-chk-1-uid",
                                        true, true}));
}

TEST(Provision, ReportsWhatTheRequestSays) {
  EXPECT_EQ(lines(workload(), {.requests = {request("wl-chk-1", {condition("Provisioned", true, "there")})}}),
            Lines{"chk is Ready: there"});
}

TEST(Provision, TheReportNamesTheRetryCountItWasMadeAt) {
  const Around around{.requests = {request("wl-chk-2", {condition("Failed", true, "no room")})}};
  const auto all = steps(workload(with_check("state: Pending, retryCount: 1")), around);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(std::get<ReportCheck>(all[0]).state.retry_count, 1);
  EXPECT_EQ(std::get<ReportCheck>(all[0]).state.requeue_after_seconds, 100);
}

TEST(Provision, AsksNothingForPodSetsThatNeedNothing) {
  EXPECT_EQ(lines(workload(), {.checks = {{"chk", config("{managedResources: [nvidia.com/gpu]}")}}}),
            Lines{"chk is Ready: the provisioning request is not needed"});
  auto empty = workload();
  empty.status.admission->pod_set_assignments[0].count = 0;
  EXPECT_EQ(lines(empty, {}), Lines{"chk is Ready: the provisioning request is not needed"});
}

TEST(Provision, WithoutAConfigurationTheCheckIsInactive) {
  EXPECT_EQ(lines(workload(), {.checks = {{"chk", nullptr}}}), Lines{"chk is Pending: the check is not active"});
}

TEST(Provision, SaysWhyATemplateCannotBeMade) {
  auto w = workload();
  w.status.admission->pod_set_assignments[0].flavors = {{"cpu", "none"}};
  EXPECT_EQ(lines(w, {}), Lines{"chk is Pending: ResourceFlavor none does not exist"});
}

// --- Attempts.

TEST(Provision, TheNextAttemptFollowsTheCountedOnes) {
  EXPECT_EQ(lines(workload(with_check("state: Pending, retryCount: 1")), {}),
            (Lines{"template ppt-wl-chk-2-main", "request wl-chk-2"}));
}

TEST(Provision, AnAttemptThatWasCountedIsNotCountedAgain) {
  const Around around{.requests = {request("wl-chk-1", {condition("Failed", true, "no room")})}};
  EXPECT_EQ(lines(workload(with_check("state: Pending, retryCount: 1")), around),
            (Lines{"delete request wl-chk-1", "template ppt-wl-chk-2-main", "request wl-chk-2"}));
}

TEST(Provision, TheNewestAttemptCounts) {
  const Around around{.requests = {request("wl-chk-1", {condition("Failed", true, "no room")}),
                                   request("wl-chk-10", {condition("Provisioned", true, "there")}),
                                   request("wl-chk-2", {condition("Failed", true, "no room")})}};
  EXPECT_EQ(lines(workload(), around),
            (Lines{"delete request wl-chk-1", "delete request wl-chk-2", "chk is Ready: there"}));
}

TEST(Provision, ADecidedCheckIsLeftAloneUntilTheWorkloadIsEvicted) {
  const Around around{.requests = {request("wl-chk-1", {condition("Failed", true, "again")})}};
  EXPECT_EQ(lines(workload(with_check("state: Retry")), around), Lines{});
  EXPECT_EQ(lines(workload(with_check("state: Rejected")), around), Lines{});
}

TEST(Provision, AReadyCheckGetsNoSecondRequest) {
  EXPECT_EQ(lines(workload(with_check("state: Ready")), {}), Lines{});
  auto other = request("wl-chk-1");
  other.class_name = "before";  // the configuration has changed
  EXPECT_EQ(lines(workload(with_check("state: Ready")), {.requests = {other}}), Lines{});
}

TEST(Provision, ARequestForSomethingElseIsReplaced) {
  for (const auto change : {"{provisioningClassName: new}", "{parameters: {p: '2'}}", "{parameters: {q: '1'}}"}) {
    Around around{.checks = {{"chk", config(change)}}, .requests = {request("wl-chk-1")}};
    EXPECT_EQ(lines(workload(), around), (Lines{"delete request wl-chk-1", "look again"})) << change;
    around.requests.clear();
    around.pod_templates = {pod_template("ppt-wl-chk-1-main", "wl-chk-1-uid")};  // of the old request, deleted with it
    EXPECT_EQ(lines(workload(), around), Lines{"look again"}) << change;
    around.pod_templates.clear();
    EXPECT_EQ(lines(workload(), around), (Lines{"template ppt-wl-chk-1-main", "request wl-chk-1"})) << change;
  }
}

TEST(Provision, ATemplateOnItsWayOutIsNotUsed) {
  auto going = pod_template("ppt-wl-chk-1-main");
  going.deletion = Time{};
  EXPECT_EQ(lines(workload(), {.pod_templates = {going}}), Lines{"look again"});
}

TEST(Provision, NamesThatOthersUseAreReported) {
  auto foreign = pod_template("ppt-wl-chk-1-main", "somebody");
  foreign.labels.clear();
  EXPECT_EQ(lines(workload(), {.pod_templates = {foreign}}),
            Lines{"chk is Pending: PodTemplate \"ppt-wl-chk-1-main\" exists and was made by somebody else; "
                  "delete it or "
                  "give it another name"});
  foreign.name = "wl-chk-1";
  EXPECT_EQ(lines(workload(), {.foreign_requests = {foreign}}),
            Lines{"chk is Pending: ProvisioningRequest \"wl-chk-1\" exists and was made by somebody else; "
                  "delete it or "
                  "give it another name"});
}

TEST(Provision, EachCheckHasItsOwnRequest) {
  const auto w = workload(R"({status: {admissionChecks: [
      {name: chk, state: Pending, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"},
      {name: foreign, state: Pending, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"},
      {name: chk-1, state: Pending, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}})");
  const Around around{.checks = {{"chk", config()}, {"chk-1", config()}, {"unlisted", config()}},
                      .requests = {request("wl-chk-1-1"), request("wl-unlisted-1")}};
  EXPECT_EQ(lines(w, around),
            (Lines{"delete request wl-unlisted-1", "template ppt-wl-chk-1-main", "request wl-chk-1"}));
}

TEST(Provision, MergedPodSetsMakeOneTemplateAndAllGetTheUpdates) {
  auto w = workload();
  auto second = w.pod_sets[0];
  second.name = "second";
  w.pod_sets.push_back(second);
  auto assignment = w.status.admission->pod_set_assignments[0];
  assignment.name = "second";
  assignment.count = 4;
  w.status.admission->pod_set_assignments.push_back(assignment);
  Around around{.checks = {{"chk", config("{podSetMergePolicy: IdenticalPodTemplates}")}}};
  const auto all = steps(w, around);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(to_string(*find_path(std::get<CreateProvisioningRequest>(all[1]).object, {"spec", "podSets"})),
            R"([{"podTemplateRef":{"name":"ppt-wl-chk-1-main"},"count":7}])");
  around.requests = {request("wl-chk-1", {condition("Provisioned", true, "there")})};
  around.requests[0].pod_sets[0].count = 7;
  const auto ready = steps(w, around);
  ASSERT_EQ(ready.size(), 1u);
  const auto& updates = std::get<ReportCheck>(ready[0]).state.pod_set_updates;
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].name, "main");
  EXPECT_EQ(updates[1].name, "second");
  EXPECT_EQ(updates[0].annotations, updates[1].annotations);
}

// --- Deletion of what is no longer needed.

constexpr std::string_view kNoQuota = "{status: {admission: null, conditions: []}}";
constexpr std::string_view kEvicted = R"({status: {admission: null, conditions: [
    {type: Evicted, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}})";

// Only an eviction or the end: a reservation that was taken by hand may come back.
TEST(Provision, AfterAnEvictionEverythingGoes) {
  const Around around{.requests = {request("wl-chk-1", {condition("Failed", true, "no room")})},
                      .pod_templates = {pod_template("ppt-wl-chk-2-main"), pod_template("kept", "somebody")}};
  const Lines gone{"delete request wl-chk-1", "delete template ppt-wl-chk-2-main"};
  EXPECT_EQ(lines(workload(kEvicted), around), gone);
  EXPECT_EQ(lines(workload(kNoQuota), around), Lines{});
  EXPECT_EQ(lines(workload(R"({status: {conditions: [
      {type: QuotaReserved, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"},
      {type: Finished, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}})"),
                  around),
            gone);
  EXPECT_EQ(lines(workload(kEvicted), {}), Lines{});
}

TEST(Provision, NothingIsDoneForWorkloadsThatAreBeingStopped) {
  const Around around{.requests = {request("wl-chk-1", {condition("CapacityRevoked", true, "gone")})}};
  EXPECT_EQ(lines(workload(R"({status: {conditions: [
      {type: QuotaReserved, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"},
      {type: Evicted, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}})"),
                  around),
            Lines{});
  EXPECT_EQ(lines(workload("{spec: {active: false}}"), around), Lines{});
  EXPECT_EQ(lines(workload("{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}}"), around), Lines{});
}

TEST(Provision, AnAdmittedWorkloadKeepsItsRequestsAndGetsNoNewOnes) {
  auto old = request("wl-chk-1", {condition("Provisioned", true, "there")});
  old.class_name = "before";
  EXPECT_EQ(lines(workload(kAdmittedToo), {.requests = {old}}), Lines{});
  EXPECT_EQ(lines(workload(kAdmittedToo), {}), Lines{});
}

TEST(Provision, AnAdmittedWorkloadStillHearsOfRevokedCapacity) {
  EXPECT_EQ(
      lines(workload(kAdmittedToo), {.requests = {request("wl-chk-1", {condition("Provisioned", true, "there"),
                                                                       condition("CapacityRevoked", true, "gone")})}}),
      Lines{"chk is Rejected: gone"});
}

}  // namespace
}  // namespace berth::jobs::provisioning_test
