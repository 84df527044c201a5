// Devices on a server with a controller: templates, classes and slices come, change and go.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "api/devices/types.h"
#include "base/random.h"
#include "controller/job_workloads_fixture.h"
#include "jobs/devices/workload_charge.h"
#include "support/sanitized.h"

namespace berth::controller::device_quota_test {
namespace {

using api::Verb;

constexpr std::int64_t kGpus = 6;
constexpr std::string_view kUnresolved = "DRAResourcesUnresolved";

ControllerOptions counting() {
  ControllerOptions out;
  out.devices.mappings = {{"gpus", {"gpu", "big"}, {}}};
  out.engine.wait_for_pods_ready.enabled = false;  // no pod runs here
  return out;
}

// A client whose watch of one resource expires, and whose lists of it fail from then on.
class BrokenReads final : public api::RestClient {
 public:
  BrokenReads(api::RestClient& server, Executor& executor) : server_(server), executor_(executor) {}

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (code_ != 0 && request.resource.resource == resource_)
      return executor_.post([code = code_, done] { done({code, api::make_status(code, "", "no answer today"), {}}); });
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    if (request.resource.resource != resource_)
      return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
    expire_ = [on_event, on_end] {
      on_event({api::WatchEvent::Type::kError,
                std::make_shared<const Json>(api::make_status(410, "Expired", "too old resource version"))});
      on_end();
    };
    if (code_ != 0) {
      executor_.post(expire_);
      return std::make_unique<api::WatchHandle>();
    }
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }
  void fail_reads(int code) {
    code_ = code;
    executor_.post(expire_);
  }

 private:
  api::RestClient& server_;
  Executor& executor_;
  const std::string resource_ = "resourceclaimtemplates";
  int code_ = 0;
  std::function<void()> expire_;
};

class Devices : public job_workloads_fixture::JobWorkloads {
 protected:
  Devices() : JobWorkloads(true, counting()) {
    auto queue = get({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "", "cq").body;
    queue.at("spec").as_object()["resourceGroups"] =
        parse_yaml(
            "[{coveredResources: [cpu, gpus], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 10000}, "
            "{name: gpus, nominalQuota: " +
            std::to_string(kGpus) + "}]}]}]")
            .value()
            .front();
    auto r = request(Verb::kUpdate, {"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "", "cq");
    r.body = queue;
    EXPECT_TRUE(call(std::move(r)).ok());
    pass();
  }

  // Creates the object anew.
  void put(const api::GroupVersionResource& resource, const std::string& kind, const std::string& name,
           const std::string& spec) {
    drop(resource, name);
    auto r = request(Verb::kCreate, resource, ns_of(resource));
    r.body = parse_yaml("{apiVersion: resource.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name +
                        "}, spec: " + spec + "}")
                 .value()
                 .front();
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
  }
  void drop(const api::GroupVersionResource& resource, const std::string& name) {
    call(request(Verb::kDelete, resource, ns_of(resource), name));
  }
  static std::string ns_of(const api::GroupVersionResource& resource) {
    return resource == api::kResourceClaimTemplates ? "default" : "";
  }

  void give_template(const std::string& name, const std::string& device_class, int count,
                     const std::string& more = "") {
    put(api::kResourceClaimTemplates, "ResourceClaimTemplate", name,
        "{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: " + device_class +
            ", count: " + std::to_string(count) + more + "}}]}}}");
  }
  void give_class(const std::string& name, const std::string& extended_resource) {
    put(api::kDeviceClasses, "DeviceClass", name,
        extended_resource.empty() ? "{}" : "{extendedResourceName: " + extended_resource + "}");
  }
  void give_slice(const std::string& name, int devices) {
    std::string list;
    for (int i = 0; i < devices; ++i) list += (i == 0 ? "{name: d" : ", {name: d") + std::to_string(i) + "}";
    put(api::kResourceSlices, "ResourceSlice", name,
        "{driver: d.example.com, nodeName: n, pool: {name: " + name +
            ", generation: 1, resourceSliceCount: 1}, devices: [" + list + "]}");
  }

  // A job whose pod has a claim by this template, or asks for this extended resource.
  void give_job(const std::string& name, const std::string& claim_template, const std::string& extended_resource = "") {
    const std::string amounts = extended_resource.empty() ? "{cpu: '1'}" : "{cpu: '1', " + extended_resource + ": '1'}";
    const std::string limits = extended_resource.empty() ? "" : ", limits: {" + extended_resource + ": '1'}";
    const std::string claims = claim_template.empty()
                                   ? ""
                                   : ", resourceClaims: [{name: d, resourceClaimTemplateName: " + claim_template + "}]";
    auto r = request(Verb::kCreate, api::kJobs, "default");
    r.body =
        parse_yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
                   ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {spec: {restartPolicy: "
                   "Never, containers: [{name: c, image: i, resources: {requests: " +
                   amounts + limits + "}}]" + claims + "}}}}")
            .value()
            .front();
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
  }
  Json workload_of(const std::string& job) {
    for (Json& each : workloads()) {
      if (owner(each) == job) return each;
    }
    return Json();
  }
  std::string said(const std::string& job, std::string_view type) { return condition(workload_of(job), type); }
  std::string usage(const std::string& job) {
    const Json workload = workload_of(job);
    const auto& assignments = array_at(workload, {"status", "admission", "podSetAssignments"});
    return assignments.empty() ? "" : to_string(*find(assignments[0], "resourceUsage"));
  }
  void restart() {
    controller.reset();
    controller.emplace(*server, executor, counting());
    controller->start();
    controller->lead();
  }
};

TEST_F(Devices, WaitForTheirTemplate) {
  give_job("a", "two");
  pass();
  EXPECT_EQ(said("a", "QuotaReserved"), "False DRAResourcesUnresolved");
  EXPECT_TRUE(suspended("a"));
  give_template("two", "gpu", 2);
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"2"})");
  EXPECT_FALSE(suspended("a"));
  EXPECT_EQ(said("a", "Requeued"), "True DRAResourcesResolved");
}

TEST_F(Devices, FollowATemplateThatIsMadeAnew) {
  give_template("t", "gpu", 7);
  give_job("a", "t");
  pass();
  EXPECT_EQ(said("a", "QuotaReserved"), "False ExceedsMaxQuota");
  give_template("t", "gpu", 5);
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"5"})");
  give_template("t", "gpu", 1);
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"5"})") << "what is reserved keeps its charge";
}

TEST_F(Devices, FollowTheClassOfAnExtendedResource) {
  give_job("a", "", "example.com/gpu");
  pass();
  EXPECT_EQ(said("a", "QuotaReserved"), "False NoMatchingFlavor");
  give_class("gpu", "example.com/gpu");
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"1"})");
  give_job("b", "", "example.com/gpu");
  pass();
  drop(api::kDeviceClasses, "gpu");
  give_job("c", "", "example.com/gpu");
  pass();
  EXPECT_EQ(usage("b"), R"({"cpu":"1","gpus":"1"})");
  EXPECT_EQ(said("c", "QuotaReserved"), "False NoMatchingFlavor");
}

TEST_F(Devices, WaitForAsManyAsTheirSelectorsWant) {
  give_class("gpu", "");
  give_template("t", "gpu", 2, ", selectors: [{cel: {expression: 'device.driver == \"d.example.com\"'}}]");
  give_slice("s", 1);
  give_job("a", "t");
  pass();
  EXPECT_EQ(said("a", "QuotaReserved"), "False DRAResourcesUnresolved");
  give_slice("s", 2);
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"2"})");
}

TEST_F(Devices, AreCountedAgainAfterARestart) {
  give_template("t", "gpu", 4);
  give_job("a", "t");
  pass();
  give_job("b", "t");
  pass();
  EXPECT_EQ(said("b", "QuotaReserved"), "False WaitingForQuota");
  restart();
  pass();
  EXPECT_EQ(usage("a"), R"({"cpu":"1","gpus":"4"})");
  EXPECT_EQ(said("b", "QuotaReserved"), "False WaitingForQuota");
  call(request(Verb::kDelete, api::kJobs, "default", "a"));
  pass();
  EXPECT_EQ(usage("b"), R"({"cpu":"1","gpus":"4"})");
}

TEST_F(Devices, AreCountedByWhatIsKnownWhileTheServerIsTroubled) {
  give_template("t", "gpu", 4);
  give_job("a", "t");
  give_job("b", "t");
  for (const int code : {500, 403}) {
    BrokenReads client(*server, executor);
    controller.reset();
    controller.emplace(client, executor, counting());
    controller->start();
    controller->lead();
    pass(10);
    const std::string waiting = usage("a").empty() ? "a" : "b";
    ASSERT_EQ(said(waiting, "QuotaReserved"), "False WaitingForQuota");
    client.fail_reads(code);
    pass(30);
    EXPECT_EQ(said(waiting, "QuotaReserved"), code == 500 ? "False WaitingForQuota" : "False DRAResourcesUnresolved");
    controller.reset();
  }
}

TEST_F(Devices, AreCountedForWhatIfToo) {
  give_template("two", "gpu", 2);
  pass();
  api::kueue::Workload workload;
  workload.meta.ns = "default";
  workload.pod_sets.emplace_back().template_ = std::make_shared<const Json>(
      *parse_json(R"({"spec":{"containers":[{}],"resourceClaims":[{"name":"d","resourceClaimTemplateName":"two"}]}})"));
  const auto charge = controller->device_charge(workload);
  ASSERT_TRUE(charge);
  EXPECT_EQ(charge->pod_sets.at(0).per_pod.at("gpus").to_string(), "2");
}

// --- Any order of changes: what waits says what is true now, what could start has started, and the sum is right.

template <typename T, typename Decode>
jobs::devices::ByName<T> listed(const Json& list, const Decode& decode) {
  jobs::devices::ByName<T> out;
  for (const Json& object : array_at(list, {"items"})) {
    auto value = decode(object);
    if (!value) continue;
    const std::string key = value->meta.ns.empty() ? value->meta.name : api::object_key(value->meta);
    out[key] = std::make_shared<const T>(std::move(*value));
  }
  return out;
}

class DeviceChanges : public Devices {
 protected:
  std::uint64_t below(std::uint64_t n) { return next_random(state_) % n; }
  std::string any(std::initializer_list<const char*> names) { return *(names.begin() + below(names.size())); }

  void step() {
    const std::string claim_template = any({"t0", "t1", "t2"}), extended = any({"example.com/x", "example.com/y"});
    switch (below(10)) {
      case 0:
      case 1:
        return give_template(
            claim_template, any({"gpu", "big", "gpu", "unmapped"}), 1 + static_cast<int>(below(3)),
            below(3) == 0 ? ", selectors: [{cel: {expression: 'device.driver == \"d.example.com\"'}}]" : "");
      case 2:
        return drop(api::kResourceClaimTemplates, claim_template);
      case 3:
        return give_class(any({"gpu", "big"}), below(3) == 0 ? "" : extended);
      case 4:
        return drop(api::kDeviceClasses, any({"gpu", "big"}));
      case 5:
        return give_slice(any({"s0", "s1"}), static_cast<int>(below(3)));
      case 6:
        return drop(api::kResourceSlices, any({"s0", "s1"}));
      case 7:
        call(request(Verb::kDelete, api::kJobs, "default", "j" + std::to_string(below(jobs_ + 1))));
        return;
      default:
        give_job("j" + std::to_string(++jobs_), below(3) == 0 ? "" : claim_template, below(2) == 0 ? extended : "");
    }
  }

  void check() {
    const auto templates = listed<api::ResourceClaimTemplate>(list(api::kResourceClaimTemplates, "").body,
                                                              api::decode_resource_claim_template);
    const auto classes = listed<api::DeviceClass>(list(api::kDeviceClasses, "").body, api::decode_device_class);
    const auto slices = listed<api::ResourceSlice>(list(api::kResourceSlices, "").body, api::decode_resource_slice);
    jobs::devices::Charges charges(counting().devices, {templates, classes, slices});
    std::int64_t used = 0;
    std::map<std::string, std::int64_t> waiting;  // that nothing but quota keeps from starting
    for (const Json& object : workloads()) {
      const auto workload = api::kueue::decode_workload(object);
      ASSERT_TRUE(workload);
      if (api::is_true(workload->status.conditions, api::kueue::kFinished)) continue;
      const auto charge = charges.charge(*workload, jobs::devices::uses_of(*workload));
      const std::string name(string_at(object, {"metadata", "name"}));
      if (workload->status.admission) {
        const auto& usage = workload->status.admission->pod_set_assignments.at(0).resource_usage;
        if (const auto gpus = usage.find("gpus"); gpus != usage.end()) used += gpus->second.value();
        continue;
      }
      const auto* quota = api::find_condition(workload->status.conditions, api::kueue::kQuotaReserved);
      ASSERT_NE(quota, nullptr) << name;
      const bool refused = charge && !charge->refused.empty();
      EXPECT_EQ(quota->reason == kUnresolved, refused) << name << ": " << quota->message;
      if (refused) EXPECT_EQ(quota->message, charge->refused);
      if (refused || quota->reason == "NoMatchingFlavor") continue;
      ASSERT_TRUE(charge) << name << ": " << quota->message;
      std::int64_t wants = 0;
      for (const auto& [logical, amount] : charge->pod_sets.at(0).per_pod) wants += amount.value();
      for (const auto& [resource, logical] : charge->pod_sets.at(0).extended) wants += logical == "gpus" ? 1 : 0;
      waiting[name] = wants;
    }
    EXPECT_LE(used, kGpus);
    for (const auto& [name, wants] : waiting) EXPECT_GT(used + wants, kGpus) << name << " waits for what is there";
  }

  std::uint64_t state_ = 0;
  std::uint64_t jobs_ = 0;
};

TEST_F(DeviceChanges, InAnyOrderEndWithWhatIsTrue) {
  constexpr std::uint64_t kRounds = 200 / testing_support::kFewer;
  for (std::uint64_t round = 1; round <= kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    state_ = round;
    for (std::uint64_t steps = 1 + below(8); steps > 0; --steps) {
      step();
      if (below(3) == 0) pass(static_cast<int>(below(2)));
      if (below(16) == 0) restart();
    }
    pass(20);
    check();
  }
}

}  // namespace
}  // namespace berth::controller::device_quota_test
