// Migration from Kueue to Berth with pods in flight: the pods and workloads that Kueue left (as in
// tests/conformance/recordings/kueue) exist when `berth controller` starts. No running pod changes.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
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

// Does in the namespace default what Kueue did in a recording. Of the sets that make pods, only those before its first
// state are there.
class KueueWasHere {
 public:
  KueueWasHere(const Cluster& cluster, const std::string& recording)
      : cluster_(cluster),
        recording_(install::read_documents("tests/conformance/recordings/kueue/" + recording).at(0)) {
    bool began = false;
    for (const Json& step : array_at(recording_, {"steps"})) {
      began = began || find(step, "see") != nullptr;
      if (string_at(step, {"do"}) != "create") continue;
      for (const Json& object : array_at(step, {"objects"})) {
        const bool makes_pods = kind_of(object) == "StatefulSet" || kind_of(object) == "LeaderWorkerSet";
        if (makes_pods && began) continue;
        if (kind_of(object) == "StatefulSet") {
          make_stateful_set(with_answer(object, step));
        } else if (kind_of(object) != "Pod") {
          make(with_answer(object, step));
        }
        if (kind_of(object) == "LeaderWorkerSet") remember_group(std::string(install::name_of(object)));
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
        remember("", "Pod", name);
        return;
      }
    }
    throw std::runtime_error("the recording has no pod " + name);
  }

  // Creates the pods that the state `see` shows of the StatefulSet, as its controller and Kueue's webhook made them,
  // and gives the set as many replicas.
  void create_pods_of(const std::string& set, std::string_view see) {
    const Json owner = parse_json(cluster_.must({"get", "statefulset", set, "-o", "json"})).value();
    const JsonArray& shown = array_at(state(see), {"pods", set});
    for (const Json& one : shown) {
      const Json seen = filled(one, one);
      const std::string name(string_at(seen, {"name"}));
      Json pod = *find_path(owner, {"spec", "template"});
      pod.as_object()["apiVersion"] = "v1";
      pod.as_object()["kind"] = "Pod";
      Json& meta = ensure_path(pod, {"metadata"});
      meta.as_object()["name"] = name;
      meta.as_object()["annotations"] = object_at(seen, {"annotations"});
      for (const auto& [key, value] : object_at(seen, {"labels"})) ensure_path(meta, {"labels", key}) = value;
      ensure_path(meta, {"labels", "statefulset.kubernetes.io/pod-name"}) = name;
      ensure_path(meta, {"labels", "apps.kubernetes.io/pod-index"}) = name.substr(set.size() + 1);
      ensure_path(meta, {"labels", "controller-revision-hash"}) = string_at(owner, {"status", "updateRevision"});
      ensure_path(pod, {"spec", "schedulingGates"}) = JsonArray{JsonObject{{"name", "kueue.x-k8s.io/admission"}}};
      make(std::move(pod));
      remember("", "Pod", name);
    }
    cluster_.must({"scale", "statefulset", set, "--replicas=" + std::to_string(shown.size())});
    const bool adopted = eventually([&] {
      const std::string owners = cluster_.must(
          {"get", "pods", "-l", "app=" + set, "-o", "jsonpath={.items[*].metadata.ownerReferences[0].name}"});
      return std::ranges::count(owners, ' ') + 1 == std::ssize(shown) && owners.starts_with(set);
    });
    if (!adopted) throw std::runtime_error("the StatefulSet " + set + " did not adopt its pods");
  }

  // A pod that a controller made.
  void found_pod(const std::string& name) { remember("", "Pod", name); }

  // Creates the workload with the status that the state `see` of the recording shows. `owner`: one of its pods.
  void create_workload(std::string_view see, const std::string& owner) {
    for (const Json& recorded : array_at(state(see), {"workloads"})) {
      if (!has_owner(recorded, owner)) continue;
      Json workload = filled(recorded, recorded);
      workload.as_object()["apiVersion"] = "kueue.x-k8s.io/v1beta2";
      workload.as_object()["kind"] = "Workload";
      Json& spec = ensure_path(workload, {"spec"});
      if (find(spec, "podSets") == nullptr) spec.as_object()["podSets"] = pod_sets_of(install::name_of(recorded));
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

  // Gives the pod the labels and annotations that the state `see` shows and, if it has gates, lets it go with the node
  // selector and tolerations.
  void let_go(std::string_view see, const std::string& pod) {
    for (const auto& [job, pods] : object_at(state(see), {"pods"})) {
      for (const Json& shown : pods.as_array()) {
        if (string_at(shown, {"name"}) != pod) continue;
        const Json seen = filled(shown, shown);
        Json now = parse_json(cluster_.must({"get", "pod", pod, "-o", "json"})).value();
        JsonArray tolerations = array_at(now, {"spec", "tolerations"});
        for (const Json& one : array_at(seen, {"tolerations"})) tolerations.push_back(one);
        Json patch = JsonObject{{"metadata", JsonObject{{"labels", object_at(seen, {"labels"})},
                                                        {"annotations", object_at(seen, {"annotations"})}}}};
        if (!array_at(now, {"spec", "schedulingGates"}).empty())
          patch.as_object()["spec"] = JsonObject{{"nodeSelector", object_at(seen, {"nodeSelector"})},
                                                 {"tolerations", std::move(tolerations)},
                                                 {"schedulingGates", nullptr}};
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

  // At first without pods: its controller would make them without what Kueue's webhook adds.
  void make_stateful_set(Json set) {
    const std::string name(install::name_of(set));
    ensure_path(set, {"spec", "replicas"}) = 0;
    make(std::move(set));
    remember("apps", "StatefulSet", name);
    const bool counted = eventually([&] {
      return !cluster_.must({"get", "statefulset", name, "-o", "jsonpath={.status.updateRevision}"}).empty();
    });
    if (!counted) throw std::runtime_error("no controller looked at the StatefulSet " + name);
  }

  void remember(const std::string& group, const std::string& kind, const std::string& name) {
    const std::string uid = cluster_.must({"get", kind, name, "-o", "jsonpath={.metadata.uid}"});
    made_[name] = {uid, jobs::workload_name(group, kind, name, uid)};
  }
  // A LeaderWorkerSet has a workload for each of its groups: this is the one of group 0.
  void remember_group(const std::string& set) {
    const std::string uid = cluster_.must({"get", "leaderworkerset", set, "-o", "jsonpath={.metadata.uid}"});
    made_[set] = {uid, jobs::workload_name("leaderworkerset.x-k8s.io", "LeaderWorkerSet", set + "-0", uid)};
  }

  // The object of a step with what the server's webhooks added to it: "metadata.labels[key]" -> value.
  static Json with_answer(Json object, const Json& step) {
    const std::string on = std::string(kind_of(object)) + "/" + std::string(install::name_of(object));
    for (const Json& answer : array_at(step, {"answers"})) {
      if (string_at(answer, {"on"}) != on) continue;
      for (const auto& [path, value] : object_at(answer, {"changed"})) {
        const std::string where(path), fields = where.substr(0, where.find('['));
        if (fields.starts_with("status")) continue;
        Json* part = &object;
        std::istringstream names(fields);
        for (std::string name; std::getline(names, name, '.');) part = &ensure_path(*part, {name});
        if (fields == where) {
          *part = value;
        } else {
          ensure_path(*part, {where.substr(fields.size() + 1, where.size() - fields.size() - 2)}) = value;
        }
      }
    }
    return object;
  }

  // A state shows the pod sets of a workload when they are new.
  const JsonArray& pod_sets_of(std::string_view workload) const {
    for (const Json& step : array_at(recording_, {"steps"})) {
      for (const Json& shown : array_at(step, {"workloads"})) {
        const JsonArray& pod_sets = array_at(shown, {"spec", "podSets"});
        if (!pod_sets.empty() && install::name_of(shown) == workload) return pod_sets;
      }
    }
    throw std::runtime_error("the recording never shows the pod sets of " + std::string(workload));
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
  // tell the object of each <uidN>.
  Json filled(const Json& value, const Json& workload) const {
    std::string text = to_string(value);
    const auto put = [&](const std::string& placeholder, const std::string& to) {
      boost::replace_all(text, placeholder, to);
    };
    for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"}))
      put(std::string(string_at(owner, {"uid"})), made_.at(std::string(string_at(owner, {"name"}))).uid);
    for (const auto& [name, made] : made_) put("<workload of " + name + ">", made.workload);
    put("<time>", cluster_.must({"get", "namespace", "kueue-system", "-o", "jsonpath={.metadata.creationTimestamp}"}));
    return parse_json(text).value();
  }

  struct Made {
    std::string uid, workload;
  };
  const Cluster& cluster_;
  const Json recording_;
  std::map<std::string, Made> made_;  // pods and their owners, by name
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

  // All workloads are one: that of these pods, which run and have one cpu each.
  void takes_over_a_group_that_runs(const std::string& queue, const std::vector<std::string>& pods) {
    std::map<std::string, std::string> before;
    for (const auto& pod : pods) before[pod] = all_of(pod);
    berth_takes_over();
    EXPECT_TRUE(shows(queue, std::to_string(pods.size()), "0")) << everything();
    EXPECT_TRUE(eventually([&] {
      return must({"get", "workloads", "-o",
                   "jsonpath={.items[*].status.conditions[?(@.type==\"PodsReady\")].status}"}) == "True";
    })) << "one workload, of a group whose pods are ready\n"
        << everything();
    for (const auto& pod : pods) EXPECT_EQ(all_of(pod), before[pod]) << "not touched";
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

// The pods of a StatefulSet run as one group. At 0 replicas the group is on hold and returns its quota.
TEST_P(Takeover, StatefulSetsRunOnAndEnd) {
  const char* running = "a is admitted; the one without a queue is not touched";
  KueueWasHere kueue(*cluster_, "statefulset.yaml");
  const std::vector<std::string> pods = {"a-0", "a-1"};
  kueue.create_pods_of("a", running);
  kueue.create_workload(running, "a-0");
  for (const auto& pod : pods) kueue.let_go(running, pod);
  for (const auto& pod : pods) ASSERT_TRUE(becomes(pod, "Running")) << everything();
  const auto replicas = [&](const std::string& which) {
    return must({"get", "statefulset", "a", "-o", "jsonpath={.status." + which + "}"});
  };
  ASSERT_TRUE(eventually([&] { return replicas("readyReplicas") == "2"; })) << everything();
  takes_over_a_group_that_runs("ss-cq", pods);

  must({"scale", "statefulset", "a", "--replicas=0"});
  EXPECT_TRUE(eventually([&] { return must({"get", "pods", "-l", "app=a", "-o", "name"}).empty(); })) << everything();
  EXPECT_TRUE(shows("ss-cq", "0", "0")) << everything();
}

// The leader and the workers of a group have one workload.
TEST_P(Takeover, LeaderWorkerSetsRunOnAndEnd) {
  const char* running = "group 0 is let go";
  KueueWasHere kueue(*cluster_, "leaderworkerset.yaml");
  const std::vector<std::string> pods = {"a-0", "a-0-1", "a-0-2"};
  const std::string names = "a-0 a-0-1 a-0-2";
  const std::vector<std::string> group = {
      "get", "pods", "-l", "leaderworkerset.sigs.k8s.io/name=a", "-o", "jsonpath={.items[*].metadata.name}"};
  ASSERT_TRUE(eventually([&] { return must(group) == names; })) << everything();
  for (const auto& pod : pods) kueue.found_pod(pod);
  kueue.create_workload(running, "a-0");
  for (const auto& pod : pods) kueue.let_go(running, pod);
  for (const auto& pod : pods) ASSERT_TRUE(becomes(pod, "Running")) << everything();
  takes_over_a_group_that_runs("lw-cq", pods);

  must({"scale", "leaderworkerset", "a", "--replicas=0"});
  EXPECT_TRUE(eventually([&] { return must(group).empty(); })) << everything();
  EXPECT_TRUE(shows("lw-cq", "0", "0")) << everything();
}

}  // namespace
}  // namespace berth::e2e::takeover_test
