// Migration from Kueue to Berth with pods in flight: the pods and workloads that Kueue left (as in
// tests/conformance/recordings/kueue) exist when `berth controller` starts. No running pod changes.
#include <gmock/gmock.h>

#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "e2e/controller.h"
#include "e2e/real_cluster.h"
#include "install/manifests.h"
#include "jobs/workload_name.h"

namespace berth::e2e::takeover_test {
namespace {

using install::kind_of;
using testing::HasSubstr;

// Does in the namespace default what Kueue did in a recording.
class KueueWasHere {
 public:
  KueueWasHere(const Cluster& cluster, const std::string& recording)
      : cluster_(cluster),
        recording_(install::read_documents("tests/conformance/recordings/kueue/" + recording).at(0)) {
    for (const Json& step : array_at(recording_, {"steps"})) {
      if (string_at(step, {"do"}) != "create") continue;
      for (Json object : array_at(step, {"objects"})) {
        if (kind_of(object) != "Pod") make(with_answer(std::move(object), step));
      }
    }
  }

  // Creates the pod with everything that Kueue's webhook gave it. The pretend cluster runs it for so long.
  void create_pod(const std::string& name, const std::string& run_for) {
    for (const Json& step : array_at(recording_, {"steps"})) {
      for (Json object : array_at(step, {"objects"})) {
        if (kind_of(object) != "Pod" || install::name_of(object) != name) continue;
        ensure_path(object, {"metadata", "annotations", "berth.dev/run-for"}) = run_for;
        make(with_answer(std::move(object), step));
        uids_[name] = cluster_.must({"get", "pod", name, "-o", "jsonpath={.metadata.uid}"});
        return;
      }
    }
    throw std::runtime_error("the recording has no pod " + name);
  }

  // Creates the workload with the status that the state `see` of the recording shows. `owner`: one of its pods.
  void create_workload(std::string_view see, const std::string& owner) {
    for (const Json& recorded : array_at(state(see), {"workloads"})) {
      if (!has_owner(recorded, owner)) continue;
      Json workload = filled(recorded, recorded);
      workload.as_object()["apiVersion"] = "kueue.x-k8s.io/v1beta2";
      workload.as_object()["kind"] = "Workload";
      const Json status = *find(workload, "status");
      make(workload);
      const std::string path =
          "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/" + std::string(install::name_of(workload));
      Json made = parse_json(cluster_.must({"get", "--raw", path})).value();
      made.as_object()["status"] = status;
      cluster_.must({"replace", "--raw", path + "/status", "-f", "-"}, to_string(made));
      return;
    }
    throw std::runtime_error("the recording shows no workload of " + owner);
  }

  // Lets the pod go with the labels, annotations, node selector and tolerations that the state `see` shows.
  void let_go(std::string_view see, const std::string& pod) {
    for (const auto& [job, pods] : object_at(state(see), {"pods"})) {
      for (const Json& shown : pods.as_array()) {
        if (string_at(shown, {"name"}) != pod) continue;
        const Json seen = filled(shown, shown);
        Json now = parse_json(cluster_.must({"get", "pod", pod, "-o", "json"})).value();
        JsonArray tolerations = array_at(now, {"spec", "tolerations"});
        for (const Json& one : array_at(seen, {"tolerations"})) tolerations.push_back(one);
        const Json patch = JsonObject{{"metadata", JsonObject{{"labels", object_at(seen, {"labels"})},
                                                              {"annotations", object_at(seen, {"annotations"})}}},
                                      {"spec", JsonObject{{"nodeSelector", object_at(seen, {"nodeSelector"})},
                                                          {"tolerations", std::move(tolerations)},
                                                          {"schedulingGates", nullptr}}}};
        cluster_.must({"patch", "pod", pod, "--type=merge", "-p", to_string(patch)});
        return;
      }
    }
    throw std::runtime_error("the recording shows no pod " + pod);
  }

 private:
  void make(Json object) {
    if (kind_of(object) == "LocalQueue" || kind_of(object) == "Workload" || kind_of(object) == "Pod")
      ensure_path(object, {"metadata", "namespace"}) = "default";
    cluster_.must({"create", "-f", "-"}, to_string(object));
  }

  // The object of a step with what the server's webhooks added to it: "metadata.labels[key]" -> value.
  static Json with_answer(Json object, const Json& step) {
    const std::string on = std::string(kind_of(object)) + "/" + std::string(install::name_of(object));
    for (const Json& answer : array_at(step, {"answers"})) {
      if (string_at(answer, {"on"}) != on) continue;
      for (const auto& [path, value] : object_at(answer, {"changed"})) {
        const std::string where(path);
        const auto dot = where.find('.'), bracket = where.find('[');
        const std::string top = where.substr(0, dot);
        if (top == "status") continue;
        Json& part = ensure_path(object, {top, where.substr(dot + 1, bracket - dot - 1)});
        if (bracket == std::string::npos) {
          part = value;
        } else {
          ensure_path(part, {where.substr(bracket + 1, where.size() - bracket - 2)}) = value;
        }
      }
    }
    return object;
  }

  static bool has_owner(const Json& workload, const std::string& pod) {
    for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
      if (string_at(owner, {"name"}) == pod) return true;
    }
    return false;
  }

  const Json& state(std::string_view see) const {
    for (const Json& step : array_at(recording_, {"steps"})) {
      if (string_at(step, {"see"}) == see) return step;
    }
    throw std::runtime_error("the recording never shows: " + std::string(see));
  }

  // A recorded value with the values of this cluster for its placeholders. `workload` has the owner references, which
  // tell the pod of each <uidN>.
  Json filled(const Json& value, const Json& workload) const {
    std::string text = to_string(value);
    const auto put = [&](const std::string& placeholder, const std::string& to) {
      boost::replace_all(text, placeholder, to);
    };
    for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"}))
      put(std::string(string_at(owner, {"uid"})), uids_.at(std::string(string_at(owner, {"name"}))));
    for (const auto& [pod, uid] : uids_) put("<workload of " + pod + ">", jobs::workload_name("", "Pod", pod, uid));
    put("<time>", cluster_.must({"get", "namespace", "kueue-system", "-o", "jsonpath={.metadata.creationTimestamp}"}));
    return parse_json(text).value();
  }

  const Cluster& cluster_;
  const Json recording_;
  std::map<std::string, std::string> uids_;  // of pods
};

class Takeover : public OnBoth {
 protected:
  void SetUp() override {
    OnBoth::SetUp();
    if (IsSkipped()) return;
    cluster_ = make_cluster_without_controller(GetParam());
    must({"create", "namespace", "kueue-system"});
    ASSERT_TRUE(eventually([&] { return must({"get", "nodes", "-o", "name"}).size() > 1; }));
    must({"label", "nodes", "--all", "tier=a"});
  }

  std::string must(const std::vector<std::string>& arguments) { return cluster_->must(arguments); }
  std::string phase(const std::string& pod) { return must({"get", "pod", pod, "-o", "jsonpath={.status.phase}"}); }
  bool becomes(const std::string& pod, const std::string& what) {
    return eventually([&] { return phase(pod) == what; });
  }
  std::string gates(const std::string& pod) {
    return must({"get", "pod", pod, "-o", "jsonpath={.spec.schedulingGates[*].name}"});
  }
  std::string all_of(const std::string& pod) { return must({"get", "pod", pod, "-o", "json"}); }
  // Whether the ClusterQueue shows so much cpu in use and so many waiting workloads.
  bool shows(const std::string& queue, const std::string& cpu, const std::string& pending) {
    const std::string path = "jsonpath={.status.flavorsReservation[0].resources[0].total} {.status.pendingWorkloads}";
    return eventually([&] { return must({"get", "clusterqueue", queue, "-o", path}) == cpu + " " + pending; });
  }
  std::string everything() { return must({"get", "clusterqueues,workloads,pods", "-A", "-o", "yaml"}); }

  void berth_takes_over() {
    controller_ = std::make_unique<ControllerProcess>(*cluster_);
    ASSERT_TRUE(controller_->wait_until_leading()) << controller_->process().err();
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ControllerProcess> controller_;
};

INSTANTIATE_TEST_SUITE_P(Clusters, Takeover, both(), name_of);

// a runs. b ended after Kueue stopped. c waits for the quota of b.
TEST_P(Takeover, SinglePodsRunOnEndAndFollow) {
  KueueWasHere kueue(*cluster_, "pod.yaml");
  kueue.create_pod("a", "1h");
  kueue.create_workload("the one with a queue is admitted, the other is not touched", "a");
  kueue.let_go("the one with a queue is admitted, the other is not touched", "a");
  kueue.create_pod("b", "1s");
  kueue.create_workload("b is admitted", "b");
  kueue.let_go("b is admitted", "b");
  kueue.create_pod("c", "1h");
  kueue.create_workload("c waits", "c");
  ASSERT_TRUE(becomes("a", "Running") && becomes("b", "Succeeded")) << everything();
  ASSERT_THAT(gates("c"), HasSubstr("kueue.x-k8s.io/admission"));
  const std::string before = all_of("a");

  berth_takes_over();
  EXPECT_TRUE(becomes("c", "Running")) << everything();
  EXPECT_TRUE(shows("p-cq", "3", "0")) << "a and c hold quota, b gave it back\n" << everything();
  EXPECT_EQ(all_of("a"), before) << "not touched";
  EXPECT_EQ(must({"get", "pod", "b", "-o", "jsonpath={.metadata.finalizers}"}), "") << "released";
  EXPECT_EQ(must({"get", "workloads", "-o",
                  "jsonpath={range .items[*]}{.metadata.ownerReferences[0].name}={.status."
                  "conditions[?(@.type==\"Finished\")].reason} {end}"}),
            "a= b=Succeeded c= ")
      << "no second workload of any pod";

  must({"delete", "pod", "a", "--timeout=100s"});
  EXPECT_TRUE(shows("p-cq", "2", "0")) << everything();
}

// The group a runs in the whole quota. The group w waits for it.
TEST_P(Takeover, GroupsRunOnAndFollow) {
  KueueWasHere kueue(*cluster_, "pod-group.yaml");
  const std::vector<std::string> running = {"a1", "a2", "a3"}, waiting = {"w1", "w2"};
  for (const auto& pod : running) kueue.create_pod(pod, "1h");
  kueue.create_workload("all have arrived: two roles, admitted", "a1");
  for (const auto& pod : running) kueue.let_go("all have arrived: two roles, admitted", pod);
  for (const auto& pod : waiting) kueue.create_pod(pod, "1h");
  kueue.create_workload("w waits for b", "w1");
  for (const auto& pod : running) ASSERT_TRUE(becomes(pod, "Running")) << everything();
  std::map<std::string, std::string> before;
  for (const auto& pod : running) before[pod] = all_of(pod);

  berth_takes_over();
  EXPECT_TRUE(shows("g-cq", "4", "1")) << everything();
  EXPECT_TRUE(eventually([&] {
    return must({"get", "workload", "a", "-o", "jsonpath={.status.conditions[?(@.type==\"PodsReady\")].status}"}) ==
           "True";
  })) << "Berth looked at the group\n"
      << everything();
  for (const auto& pod : running) EXPECT_EQ(all_of(pod), before[pod]) << "not touched";
  for (const auto& pod : waiting) EXPECT_THAT(gates(pod), HasSubstr("kueue.x-k8s.io/admission"));

  must({"delete", "pods", "a1", "a2", "a3", "--timeout=100s"});
  for (const auto& pod : waiting) EXPECT_TRUE(becomes(pod, "Running")) << everything();
  EXPECT_TRUE(shows("g-cq", "4", "0")) << everything();
}

}  // namespace
}  // namespace berth::e2e::takeover_test
