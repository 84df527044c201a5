#include "jobs/kinds/random_jobs.h"

#include <utility>

#include "base/yaml.h"

namespace berth::jobs::kinds::support {
namespace {

const Json& runtime() {
  static const Json value = parse_yaml(R"(
spec:
  mlPolicy: {numNodes: 2}
  template:
    spec:
      replicatedJobs:
        - name: model-initializer
          template: {spec: {template: {spec: {containers: [{name: model-initializer, image: d}]}}}}
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: node, image: i}]}}}
)")
                                .value()
                                .front();
  return value;
}

}  // namespace

JsonPtr random_runtime(const api::GroupVersionResource& resource, std::string_view, std::string_view) {
  return resource.group == "trainer.kubeflow.org" ? std::make_shared<const Json>(runtime()) : nullptr;
}

Json RandomJobs::strings(std::string_view prefix, int most) {
  JsonObject out;
  for (int i = number(0, most); i > 0; --i)
    out[std::string(prefix) + std::to_string(number(0, 9))] = "v" + std::to_string(number(0, 9));
  return out;
}

Json RandomJobs::pod_spec() {
  JsonArray containers;
  for (int i = number(1, 3); i > 0; --i) {
    Json one = JsonObject{{"name", "c" + std::to_string(i)}, {"image", "i"}};
    if (chance(70)) ensure_path(one, {"resources", "requests", "cpu"}) = std::to_string(number(1, 900)) + "m";
    if (chance(30)) ensure_path(one, {"resources", "limits", "memory"}) = std::to_string(number(1, 9)) + "Gi";
    containers.push_back(std::move(one));
  }
  JsonObject spec{{"containers", std::move(containers)}};
  if (chance(40)) spec["nodeSelector"] = strings("n", 2);
  if (chance(40)) spec["tolerations"] = JsonArray();
  for (int i = chance(30) ? number(1, 3) : 0; i > 0; --i) {
    if (!spec.contains("tolerations")) spec["tolerations"] = JsonArray();
    spec["tolerations"].as_array().push_back(
        JsonObject{{"key", "t" + std::to_string(number(0, 5))}, {"operator", "Exists"}});
  }
  if (chance(20)) spec["schedulingGates"] = JsonArray{JsonObject{{"name", "example.com/mine"}}};
  if (chance(20)) spec["priorityClassName"] = "high";
  return spec;
}

Json RandomJobs::pod_template() {
  Json out = JsonObject{{"spec", pod_spec()}};
  if (chance(60)) out.as_object()["metadata"] = JsonObject();
  if (chance(40)) ensure_path(out, {"metadata", "labels"}) = strings("l", 3);
  if (chance(40)) ensure_path(out, {"metadata", "annotations"}) = strings("a", 3);
  return out;
}

Json RandomJobs::replica(bool with_count) {
  JsonObject out{{"template", pod_template()}};
  if (with_count && chance(80)) out["replicas"] = number(0, 20);
  return out;
}

// At least one of these types has pods.
Json RandomJobs::replicas(std::initializer_list<std::string_view> types) {
  JsonObject out;
  for (const auto type : types) {
    if (chance(70)) out[type] = replica();
  }
  if (out.empty()) out[*(types.end() - 1)] = replica();
  return out;
}

Json RandomJobs::ray_cluster() {
  Json cluster = JsonObject{{"rayVersion", "2.9.0"}, {"headGroupSpec", replica(false)}};
  JsonArray groups;
  for (int i = number(0, 4); i > 0; --i) {
    Json group = replica();
    group.as_object()["groupName"] = "g" + std::to_string(i);
    if (chance(30)) group.as_object()["numOfHosts"] = number(0, 4);
    groups.push_back(std::move(group));
  }
  if (chance(90)) cluster.as_object()["workerGroupSpecs"] = std::move(groups);
  if (chance(20)) cluster.as_object()["enableInTreeAutoscaling"] = true;
  if (chance(20)) cluster.as_object()["gcsFaultToleranceOptions"] = JsonObject();
  return cluster;
}

Json RandomJobs::spark_section(bool executor) {
  JsonObject out;
  if (chance(60)) out["cores"] = number(1, 8);
  if (chance(40)) out["coreRequest"] = std::to_string(number(1, 9)) + "00m";
  if (chance(60)) out["memory"] = std::to_string(number(1, 9)) + "g";
  if (chance(40)) out["labels"] = strings("l", 2);
  if (chance(40)) out["annotations"] = strings("a", 2);
  if (chance(30)) out["nodeSelector"] = strings("n", 2);
  if (chance(30)) out["tolerations"] = JsonArray();
  if (chance(30)) out["tolerations"] = JsonArray{JsonObject{{"key", "u"}, {"operator", "Exists"}}};
  if (chance(30)) out["sidecars"] = JsonArray{JsonObject{{"name", "side"}, {"image", "s"}}};
  // An empty node selector in the template cannot be distinguished from none when the application has one of its own.
  if (chance(40)) {
    out["template"] = pod_template();
    const Json* selector = find_path(out["template"], {"spec", "nodeSelector"});
    if (selector != nullptr && selector->as_object().empty()) erase_path(out["template"], {"spec", "nodeSelector"});
  }
  if (executor && chance(80)) out["instances"] = number(1, 20);
  return out;
}

Json RandomJobs::spark_application() {
  JsonObject spec{{"type", chance(50) ? "Scala" : "Python"},
                  {"mode", "cluster"},
                  {"driver", spark_section(false)},
                  {"executor", spark_section(true)}};
  if (chance(20)) spec["nodeSelector"] = strings("m", 2);
  return spec;
}

Json RandomJobs::job_set() {
  JsonArray jobs;
  for (int i = number(1, 5); i > 0; --i) {
    Json one = JsonObject{{"name", "j" + std::to_string(i)}};
    ensure_path(one, {"template", "spec", "template"}) = pod_template();
    if (chance(50)) one.as_object()["replicas"] = number(0, 5);
    if (chance(50)) ensure_path(one, {"template", "spec", "parallelism"}) = number(0, 5);
    if (chance(50)) ensure_path(one, {"template", "spec", "completions"}) = number(1, 5);
    jobs.push_back(std::move(one));
  }
  return JsonObject{{"replicatedJobs", std::move(jobs)}};
}

Json RandomJobs::app_wrapper() {
  JsonArray components;
  for (int i = number(1, 3); i > 0; --i) {
    Json object;
    switch (number(0, 3)) {
      case 0:
        object = JsonObject{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
        ensure_path(object, {"spec", "template"}) = pod_template();
        break;
      case 1:
        object = JsonObject{{"apiVersion", "jobset.x-k8s.io/v1alpha2"}, {"kind", "JobSet"}, {"spec", job_set()}};
        break;
      case 2:
        object = JsonObject{{"apiVersion", "v1"}, {"kind", "Service"}, {"spec", JsonObject()}};
        break;
      default:
        object = JsonObject{{"apiVersion", "ray.io/v1"}, {"kind", "RayCluster"}, {"spec", ray_cluster()}};
    }
    components.push_back(JsonObject{{"template", std::move(object)}});
  }
  JsonObject thing{{"tasks", JsonArray{JsonObject{{"pods", pod_template()}}}}};
  JsonObject named{{"path", "template.spec.tasks[0].pods"}};
  if (chance(50)) named["replicas"] = number(0, 9);
  components.push_back(JsonObject{
      {"template", JsonObject{{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"spec", std::move(thing)}}},
      {"podSets", JsonArray{std::move(named)}}});
  return JsonObject{{"components", std::move(components)}};
}

Json RandomJobs::train_job() {
  Json spec = JsonObject{{"runtimeRef", JsonObject{{"name", "r"}}}};
  if (chance(50)) ensure_path(spec, {"trainer", "numNodes"}) = number(1, 9);
  if (chance(50)) ensure_path(spec, {"trainer", "resourcesPerNode", "requests", "cpu"}) = "2";
  if (chance(30)) ensure_path(spec, {"trainer", "image"}) = "x";
  JsonArray patches;
  for (int i = number(0, 2); i > 0; --i) {
    Json patch = JsonObject{{"manager", "m" + std::to_string(i)}};
    Json job = JsonObject{{"name", "node"}};
    ensure_path(job, {"template", "spec", "template", "metadata", "annotations"}) = strings("a", 2);
    ensure_path(patch, {"trainingRuntimeSpec", "template", "spec", "replicatedJobs"}) = JsonArray{std::move(job)};
    patches.push_back(std::move(patch));
  }
  patches.push_back(JsonObject{{"manager", "kueue.x-k8s.io/manager"},
                               {"trainingRuntimeSpec", JsonObject{{"template", JsonObject{{"spec", JsonObject()}}}}}});
  spec.as_object()["runtimePatches"] = std::move(patches);
  return spec;
}

Json RandomJobs::spec_of(std::string_view kind) {
  const auto suspended = [](Json spec, std::initializer_list<std::string_view> path) {
    ensure_path(spec, path) = true;
    return spec;
  };
  const auto kubeflow = [&](std::string_view member, std::initializer_list<std::string_view> types) {
    Json spec = JsonObject{{member, replicas(types)}};
    if (chance(30)) ensure_path(spec, {"runPolicy", "schedulingPolicy", "priorityClass"}) = "high";
    return suspended(std::move(spec), {"runPolicy", "suspend"});
  };
  if (kind == "TFJob") return kubeflow("tfReplicaSpecs", {"Chief", "Master", "PS", "Worker", "Evaluator"});
  if (kind == "PyTorchJob") return kubeflow("pytorchReplicaSpecs", {"Master", "Worker"});
  if (kind == "XGBoostJob") return kubeflow("xgbReplicaSpecs", {"Master", "Worker"});
  if (kind == "PaddleJob") return kubeflow("paddleReplicaSpecs", {"Master", "Worker"});
  if (kind == "JAXJob") return kubeflow("jaxReplicaSpecs", {"Worker"});
  if (kind == "MPIJob") return kubeflow("mpiReplicaSpecs", {"Launcher", "Worker"});
  if (kind == "JobSet") return suspended(job_set(), {"suspend"});
  if (kind == "RayCluster") return suspended(ray_cluster(), {"suspend"});
  if (kind == "RayService")
    return suspended(JsonObject{{"rayClusterConfig", ray_cluster()}, {"upgradeStrategy", JsonObject{{"type", "None"}}}},
                     {"rayClusterConfig", "suspend"});
  if (kind == "SparkApplication") return suspended(spark_application(), {"suspend"});
  if (kind == "AppWrapper") return suspended(app_wrapper(), {"suspend"});
  if (kind == "TrainJob") return suspended(train_job(), {"suspend"});
  JsonObject spec{{"rayClusterSpec", ray_cluster()}, {"shutdownAfterJobFinishes", true}};
  const std::string_view modes[] = {"HTTPMode", "SidecarMode", "K8sJobMode"};
  if (chance(80)) spec["submissionMode"] = modes[number(0, 2)];
  if (chance(20)) spec["submitterPodTemplate"] = pod_template();
  return suspended(std::move(spec), {"suspend"});  // RayJob
}

Json RandomJobs::job(std::string_view kind) {
  Json out = JsonObject{{"metadata", JsonObject{{"name", "a"},
                                                {"namespace", "ns"},
                                                {"uid", "u"},
                                                {"labels", JsonObject{{"kueue.x-k8s.io/queue-name", "q"}}}}},
                        {"spec", spec_of(kind)}};
  return out;
}

Json RandomJobs::odd_value() {
  switch (number(0, 8)) {
    case 0:
      return nullptr;
    case 1:
      return -1;
    case 2:
      return std::int64_t{1} << 62;
    case 3:
      return "";
    case 4:
      return "x y";
    case 5:
      return JsonArray();
    case 6:
      return JsonObject();
    case 7:
      return JsonArray{JsonObject{{"name", 3}}, 7};
    default:
      return 2.5;
  }
}

void RandomJobs::edit(Json& value, int depth) {
  const bool here = depth > 0 && chance(25);
  if (!here && value.is_object() && !value.get_object().empty()) {
    auto& object = value.get_object();
    auto& member = *(object.begin() + number(0, static_cast<int>(object.size()) - 1));
    if (chance(8)) {
      object.erase(std::string(member.key()));
    } else {
      edit(member.value(), depth + 1);
    }
  } else if (!here && value.is_array() && !value.get_array().empty()) {
    auto& array = value.get_array();
    edit(array[static_cast<std::size_t>(number(0, static_cast<int>(array.size()) - 1))], depth + 1);
  } else {
    value = odd_value();
  }
}

Json RandomJobs::status() {
  return JsonObject{
      {"conditions", JsonArray{JsonObject{{"type", "Failed"}, {"status", chance(50) ? "True" : "False"}}}},
      {"replicaStatuses", JsonObject{{"Worker", JsonObject{{"active", 1}}}}},
      {"replicatedJobsStatus", JsonArray{JsonObject{{"name", "j1"}, {"succeeded", 1}, {"ready", 1}, {"active", 1}}}},
      {"jobsStatus", JsonArray{JsonObject{{"name", "node"}, {"succeeded", 1}, {"ready", 1}, {"active", 1}}}},
      {"state", "ready"},
      {"jobDeploymentStatus", "Running"},
      {"rayClusterStatus", JsonObject{{"state", "ready"}}},
      {"applicationState", JsonObject{{"state", "RUNNING"}}},
      {"executorState", JsonObject{{"e", "RUNNING"}}},
      {"phase", "Failed"}};
}

Json RandomJobs::broken(std::string_view kind, int edits) {
  Json out = job(kind);
  out.as_object()["status"] = status();
  for (int i = 0; i < edits; ++i) edit(out, 0);
  return out;
}

}  // namespace berth::jobs::kinds::support
