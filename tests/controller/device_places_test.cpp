// Places that look at devices, on a server with a controller: claims, slices, classes and pods come in any order.
#include <gtest/gtest.h>

#include <string>

#include "controller/job_workloads_fixture.h"

namespace berth::controller::device_places_test {
namespace {

using api::Verb;

ControllerOptions placing() {
  ControllerOptions out;
  out.devices.mappings = {{"gpus", {"gpu", "red"}, {}}};
  out.devices.places = out.devices.taints = true;
  out.engine.wait_for_pods_ready.enabled = false;  // no pod runs here
  return out;
}

class DevicePlacesTest : public job_workloads_fixture::JobWorkloads {
 protected:
  explicit DevicePlacesTest(ControllerOptions options = placing()) : JobWorkloads(true, options) {
    put({"kueue.x-k8s.io", "v1beta2", "topologies"}, "Topology", "t",
        "spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}");
    put({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "ResourceFlavor", "placed",
        "spec: {nodeLabels: {pool: p}, topologyName: t}");
    put({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", "placing",
        "spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu, gpus], flavors: [{name: placed, "
        "resources: [{name: cpu, nominalQuota: 100}, {name: gpus, nominalQuota: 100}]}]}]}");
    put({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", "pq", "spec: {clusterQueue: placing}");
    put(api::kDeviceClasses, "DeviceClass", "gpu", "spec: {}");
    put(api::kDeviceClasses, "DeviceClass", "red",
        R"(spec: {selectors: [{cel: {expression: 'device.attributes["d.example.com"].color == "red"'}}]})");
    for (const std::string name : {"n1", "n2"}) {
      put(api::kNodes, "Node", name,
          "status: {allocatable: {cpu: '8', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}",
          ", labels: {pool: p, rack: r, kubernetes.io/hostname: " + name + "}");
      give_slice(name, {"red", "red", "blue", "blue"});
    }
    pass();
  }

  void put(const api::GroupVersionResource& resource, const std::string& kind, const std::string& name,
           const std::string& rest, const std::string& more = "") {
    call(request(Verb::kDelete, resource, ns_of(resource), name));
    auto r = request(Verb::kCreate, resource, ns_of(resource));
    const std::string version = resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body = parse_yaml("{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + more + "}, " +
                        rest + "}")
                 .value()
                 .front();
    const auto made = call(std::move(r));
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    const Json asked = parse_yaml("{" + rest + "}").value().front();
    const Json* status = find(asked, "status");
    if (status == nullptr) return;
    for (const std::string_view subresource : {"", "status"}) {  // a new node has a taint until it is ready
      auto update = request(Verb::kUpdate, resource, ns_of(resource), name);
      update.subresource = subresource;
      update.body = get(resource, ns_of(resource), name).body;
      if (resource == api::kNodes) update.body.as_object().erase("spec");
      update.body.as_object()["status"] = *status;
      const auto updated = call(std::move(update));
      EXPECT_TRUE(updated.ok()) << to_string(updated.body);
    }
  }
  static std::string ns_of(const api::GroupVersionResource& resource) {
    const std::set<std::string> namespaced{"localqueues", "resourceclaims", "resourceclaimtemplates", "pods", "jobs"};
    return namespaced.contains(resource.resource) ? "default" : "";
  }
  void give_slice(const std::string& node, const std::vector<std::string>& colors, const std::string& more = "") {
    std::string list;
    for (std::size_t i = 0; i < colors.size(); ++i)
      list += (i == 0 ? "{name: g" : ", {name: g") + std::to_string(i) + ", attributes: {color: {string: " + colors[i] +
              "}}" + more + "}";
    put(api::kResourceSlices, "ResourceSlice", node,
        "spec: {driver: d.example.com, nodeName: " + node + ", pool: {name: " + node +
            ", generation: 1, resourceSliceCount: 1}, devices: [" + list + "]}");
  }
  static std::string requests(const std::string& device_class, int count) {
    return "{devices: {requests: [{name: r, exactly: {deviceClassName: " + device_class +
           ", count: " + std::to_string(count) + "}}]}}";
  }
  // A Job whose pods have such devices each and stay on one rack.
  void give_job(const std::string& name, const std::string& device_class, int count, int pods = 1) {
    put(api::kResourceClaimTemplates, "ResourceClaimTemplate", "for-" + name,
        "spec: {spec: " + requests(device_class, count) + "}");
    put(api::kJobs, "Job", name,
        "spec: {suspend: true, parallelism: " + std::to_string(pods) + ", completions: " + std::to_string(pods) +
            ", template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}, spec: "
            "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}], "
            "resourceClaims: [{name: d, resourceClaimTemplateName: for-" +
            name + "}]}}}",
        ", labels: {kueue.x-k8s.io/queue-name: pq}");
    pass();
  }
  // A pod of the workload of a job (empty: of nobody) runs on the node. Returns its UID.
  std::string give_pod(const std::string& name, const std::string& node, const std::string& job = "") {
    std::string of;
    if (!job.empty())
      of = ", annotations: {kueue.x-k8s.io/workload: " + std::string(string_at(of_job(job), {"metadata", "name"})) +
           "}, labels: {kueue.x-k8s.io/podset: main}";
    put(api::kPods, "Pod", name,
        "spec: {nodeName: " + node +
            ", containers: [{name: c, image: i}], resourceClaims: [{name: d, resourceClaimTemplateName: any}]}",
        of);
    return std::string(string_at(get(api::kPods, "default", name).body, {"metadata", "uid"}));
  }
  void give_claim(const std::string& name, const std::string& device_class, const std::string& node,
                  const std::vector<int>& devices, const std::string& pod = "") {
    std::string results;
    for (const int each : devices)
      results += (results.empty() ? "" : ", ") + ("{request: r, driver: d.example.com, pool: " + node + ", device: g") +
                 std::to_string(each) + "}";
    const std::string reserved = pod.empty() ? "" : ", reservedFor: [{resource: pods, name: p, uid: " + pod + "}]";
    put(api::kResourceClaims, "ResourceClaim", name,
        "spec: " + requests(device_class, static_cast<int>(devices.size())) +
            ", status: {allocation: {devices: {results: [" + results + "]}}" + reserved + "}");
    pass();
  }
  Json of_job(const std::string& job) {
    for (Json& each : workloads()) {
      if (owner(each) == job) return each;
    }
    return Json();
  }
  // "n1" or "n1 n2", or the message why it waits.
  std::string where(const std::string& job) {
    std::string out;
    const Json workload = of_job(job);
    for (const Json& each : array_at(workload, {"status", "admission", "podSetAssignments"})) {
      for (const Json& slice : array_at(each, {"topologyAssignment", "slices"})) {
        const Json& values = array_at(slice, {"valuesPerLevel"})[0];
        if (const auto all = string_at(values, {"universal"}); !all.empty()) out += all;
        for (const Json& root : array_at(values, {"individual", "roots"}))
          out += (out.empty() ? "" : " ") + std::string(string_at(values, {"individual", "prefix"})) +
                 std::string(root.as_string());
      }
    }
    if (!out.empty()) return out;
    for (const Json& each : array_at(workload, {"status", "conditions"})) {
      if (string_at(each, {"type"}) == "QuotaReserved") return std::string(string_at(each, {"message"}));
    }
    return "nobody looked at it";
  }
  void restart(ControllerOptions options = placing()) {
    controller.reset();
    controller.emplace(*server, executor, std::move(options));
    controller->start();
    controller->lead();
    pass();
  }
};

TEST_F(DevicePlacesTest, GangsAreSpreadByTheirDevices) {
  give_job("a", "gpu", 3, 2);
  EXPECT_EQ(where("a"), "n1 n2");
  give_job("b", "gpu", 2);
  EXPECT_NE(where("b").find(R"(device class "gpu" (2 per pod, at most 1 free on a node): 2)"), std::string::npos)
      << where("b");
  give_slice("n2", {"red", "red", "red", "red", "red"});
  pass();
  EXPECT_EQ(where("b"), "n2");
}

TEST_F(DevicePlacesTest, NarrowerRequestsTakeOfWiderOnes) {
  give_job("red", "red", 2);
  EXPECT_EQ(where("red"), "n1");
  give_job("any", "gpu", 3);
  EXPECT_EQ(where("any"), "n2") << "only two are left on n1";
  give_job("more", "red", 1);
  EXPECT_EQ(where("more"), "n2");
}

TEST_F(DevicePlacesTest, ClaimsOfTheirPodsAreNotCountedTwice) {
  give_job("a", "gpu", 2);
  EXPECT_EQ(where("a"), "n1");
  give_claim("c", "gpu", "n1", {0, 1}, give_pod("p", "n1", "a"));
  give_job("b", "gpu", 2);
  EXPECT_EQ(where("b"), "n1");
  give_job("red", "red", 1);
  EXPECT_EQ(where("red"), "n2") << "the pod of a got both red ones";
}

TEST_F(DevicePlacesTest, ClaimsOfStrangersCountUntilTheyAreGone) {
  give_claim("c1", "gpu", "n1", {0}, give_pod("p", "n1"));
  give_claim("c2", "gpu", "n2", {3});  // of nobody
  give_job("a", "gpu", 4);
  EXPECT_NE(where("a").find("4 per pod, at most 3 free on a node"), std::string::npos) << where("a");
  call(request(Verb::kDelete, api::kResourceClaims, "default", "c2"));
  pass();
  EXPECT_EQ(where("a"), "n2");
}

TEST_F(DevicePlacesTest, WornDevicesAreNotFree) {
  give_slice("n1", {"red", "red"}, ", taints: [{key: worn, effect: NoSchedule}]");
  pass();
  give_job("a", "red", 1);
  EXPECT_EQ(where("a"), "n2");
}

TEST_F(DevicePlacesTest, ARestartKnowsWhatIsPromisedAndWhatIsTaken) {
  give_job("a", "gpu", 3);
  give_job("b", "gpu", 3);
  EXPECT_EQ(where("a") + where("b"), "n1n2");
  give_claim("c", "gpu", "n1", {0, 1, 2}, give_pod("p", "n1", "a"));
  restart();
  give_job("c", "gpu", 2);
  EXPECT_NE(where("c").find("2 per pod, at most 1 free on a node): 2"), std::string::npos) << where("c");
  call(request(Verb::kDelete, api::kResourceClaims, "default", "c"));
  call(request(Verb::kDelete, api::kPods, "default", "p"));
  call(request(Verb::kDelete, api::kJobs, "default", "a"));
  pass(30);
  EXPECT_EQ(where("c"), "n1");
}

TEST_F(DevicePlacesTest, AChangedClassCountsAnew) {
  give_job("a", "red", 2);
  EXPECT_EQ(where("a"), "n1");
  put(api::kDeviceClasses, "DeviceClass", "red", R"(spec: {selectors: [{cel: {expression: 'false'}}]})");
  pass();
  give_job("b", "red", 1);
  EXPECT_NE(where("b").find("1 per pod, at most 0 free"), std::string::npos) << where("b");
  put(api::kDeviceClasses, "DeviceClass", "red", "spec: {}");
  pass();
  EXPECT_EQ(where("b"), "n1");
}

TEST_F(DevicePlacesTest, WithoutTheGateNobodyLooksAtDevices) {
  ControllerOptions options = placing();
  options.devices.places = false;
  restart(options);
  give_job("a", "gpu", 3, 2);
  EXPECT_EQ(where("a"), "n1") << "the node has the cpu for both";
}

}  // namespace
}  // namespace berth::controller::device_places_test
