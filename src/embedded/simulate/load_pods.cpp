#include "embedded/simulate/load_pods.h"

#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"

namespace berth::simulate {
namespace {

kube::InformerOptions metadata_only() {
  kube::InformerOptions options;
  options.keep_objects = false;
  return options;
}

}  // namespace

LoadPods::LoadPods(const Load& load, api::RestClient& client, Executor& executor,
                   std::function<void(const std::string&, const api::RestResponse&)> on_refusal)
    : load_(load),
      client_(client),
      on_refusal_(std::move(on_refusal)),
      informer_(client, executor, api::kPods, metadata_only()) {
  informer_.on_change([this](const JsonPtr& old, const JsonPtr& now) { changed(old, now); });
}

void LoadPods::start() { informer_.start(); }

void LoadPods::submit(const Submission& submission) {
  const auto count = static_cast<std::size_t>(load_.kinds[submission.kind].pods);
  for (std::size_t i = 0; i < count; ++i) create({&submission, i});
}

void LoadPods::create(Pod pod) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = api::kPods;
  request.ns = load_.queues[pod.submission->queue].name;
  request.user = {"load", {"system:masters"}};
  request.wants_metadata_only = true;
  request.body = pod_of(load_, *pod.submission, pod.index, pod.attempt);
  const std::string key = api::object_key(request.ns, std::string(string_at(request.body, {"metadata", "name"})));
  pods_[key] = pod;
  client_.call(std::move(request), lifetime_.guard([this, key](const api::RestResponse& response) {
    if (!response.ok()) on_refusal_(key, response);
  }));
}

void LoadPods::changed(const JsonPtr& old, const JsonPtr& now) {
  const auto it = pods_.find(api::object_key(now ? *now : *old));
  if (it == pods_.end() || it->second.over) return;
  const auto phase = now ? string_at(*now, {"status", "phase"}) : std::string_view();
  const bool grouped = load_.kinds[it->second.submission->kind].pods > 1;
  const bool deleted = now && find_path(*now, {"metadata", "deletionTimestamp"}) != nullptr;
  // A single pod that succeeds after its eviction does not count: its workload has given its quota back.
  if (phase == "Succeeded" && (grouped || !deleted)) {
    it->second.over = true;
    return;
  }
  // Berth may keep a deleted pod of a group until there is another one. A single pod is created again under its name.
  const bool leaves = now && (phase == "Failed" || deleted);
  if (!now || (grouped && leaves)) replace(it->second);
}

void LoadPods::replace(Pod& pod) {
  pod.over = true;
  create({pod.submission, pod.index, pod.attempt + 1});
}

}  // namespace berth::simulate
