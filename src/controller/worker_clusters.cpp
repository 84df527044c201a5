#include "controller/worker_clusters.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/base64.h"
#include "base/log.h"

namespace berth::controller {
namespace {

constexpr std::string_view kNotLoaded = "load client config failed: ";
constexpr std::string_view kKubeconfigKey = "kubeconfig";

Unusable unreadable_config(std::string why) { return {"BadKubeConfig", std::string(kNotLoaded) + std::move(why)}; }

const Json* source_of(const Json& object) { return find_path(object, {"spec", "clusterSource", "kubeConfig"}); }

// The name of the Secret, or why there is none to read.
std::variant<std::string, Unusable> location_of(const Json& object) {
  const Json* source = source_of(object);
  if (source == nullptr)
    return Unusable{"MultiKueueClusterProfileFeatureDisabled", "MultiKueueClusterProfile feature gate is disabled"};
  if (string_at(*source, {"locationType"}, "Secret") != "Secret")
    return unreadable_config(
        "kubeconfig files are not read: put the kubeconfig into a Secret and set locationType to Secret");
  return std::string(string_at(*source, {"location"}));
}

// The definition does not require a spec.
bool same_spec(const JsonPtr& a, const JsonPtr& b) {
  if (!a || !b || string_at(*a, {"metadata", "uid"}) != string_at(*b, {"metadata", "uid"})) return false;
  const Json *before = find(*a, "spec"), *now = find(*b, "spec");
  return before != nullptr && now != nullptr ? json_equal(*before, *now) : before == now;
}

}  // namespace

WorkerClusters::WorkerClusters(Shell& shell, WorkerCluster::SenderOf sender, Handlers handlers)
    : shell_(shell),
      sender_(std::move(sender)),
      handlers_(std::move(handlers)),
      objects_(shell.client, shell.executor, api::kMultiKueueClusters, shell.informer_options()),
      conditions_(shell.executor, [this](const std::string& name, WorkQueue::Finish finish) {
        write_active(name, std::move(finish));
      }) {
  objects_.on_change([this](const JsonPtr& old, const JsonPtr& now) { changed(old, now); });
}

void WorkerClusters::start() {
  started_ = true;
  objects_.on_synced([this] { handlers_.state_changed({}); });
  objects_.start();
}

bool WorkerClusters::ready() const { return started_ && objects_.synced(); }

void WorkerClusters::changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string name(string_at(now ? *now : *old, {"metadata", "name"}));
  if (!now) {
    if (const auto it = known_.find(name); it != known_.end())
      absent_[name] = it->second.cluster->connected() ? shell_.executor.now() : it->second.cluster->lost_since();
    known_.erase(name);
    connected_.erase(name);
    return handlers_.state_changed(name);
  }
  update(name, now);
}

void WorkerClusters::update(const std::string& name, const JsonPtr& object) {
  Known& known = known_[name];
  const JsonPtr before = std::exchange(known.object, object);
  conditions_.add(name);
  if (same_spec(before, object)) return;
  if (!known.cluster) {
    absent_.erase(name);
    known.cluster = std::make_unique<WorkerCluster>(
        shell_, name, sender_,
        WorkerCluster::Handlers{[this](const std::string& key) { handlers_.workload_changed(key); },
                                [this, name] { reported(name); }, [this, name] { handlers_.state_changed(name); },
                                [this, name](const std::string& key, WorkQueue::Finish finish) {
                                  handlers_.work(*known_.find(name)->second.cluster, key, std::move(finish));
                                }});
    for (const auto* kind : needed_) known.cluster->need(*kind);
  }
  auto location = location_of(*object);
  if (auto* why = std::get_if<Unusable>(&location)) {
    known.secret.reset();
    known.location.clear();
    known.cluster->leave(std::move(*why));
  } else if (auto& secret = std::get<std::string>(location); secret != known.location) {
    known.location = std::move(secret);
    watch_secret(name, known);
  }
  handlers_.state_changed(name);
}

void WorkerClusters::watch_secret(const std::string& name, Known& known) {
  kube::InformerOptions options = shell_.informer_options();
  options.ns = shell_.options.multikueue.ns;
  options.field_selector = "metadata.name=" + known.location;
  known.secret = std::make_unique<kube::Informer>(shell_.client, shell_.executor, api::kSecrets, std::move(options));
  known.secret->on_change([this, name](const JsonPtr&, const JsonPtr&) {
    if (const auto it = known_.find(name); it != known_.end() && it->second.secret->synced()) read_secret(name);
  });
  known.secret->on_list([this, name](const api::RestResponse& response) {
    const auto it = known_.find(name);
    if (it == known_.end()) return;
    if (response.ok()) return read_secret(name);
    if (it->second.secret->synced()) return;  // what was read goes on to count
    it->second.cluster->leave(
        unreadable_config("Secret \"" + it->second.location + "\" cannot be read: " + api::failure_text(response)));
  });
  known.secret->start();
}

void WorkerClusters::read_secret(const std::string& name) {
  Known& known = known_.find(name)->second;
  const JsonPtr secret = known.secret->get(api::object_key(shell_.options.multikueue.ns, known.location));
  if (!secret) return known.cluster->leave(unreadable_config("Secret \"" + known.location + "\" not found"));
  const Json* data = find_path(*secret, {"data", kKubeconfigKey});
  if (data == nullptr)
    return known.cluster->leave(unreadable_config("key \"kubeconfig\" not found in secret \"" + known.location + "\""));
  const auto text = base64_decode(string_at(*secret, {"data", kKubeconfigKey}));
  if (!text)
    return known.cluster->leave(
        unreadable_config("key \"kubeconfig\" of secret \"" + known.location + "\" is no base64"));
  known.cluster->use(*text);
}

void WorkerClusters::need(const multikueue::RemoteKind& kind) {
  if (std::ranges::find(needed_, &kind) != needed_.end()) return;
  needed_.push_back(&kind);
  for (WorkerCluster* cluster : all()) cluster->need(kind);
}

WorkerCluster* WorkerClusters::find(std::string_view name) {
  const auto it = known_.find(name);
  return it == known_.end() ? nullptr : it->second.cluster.get();
}

std::vector<WorkerCluster*> WorkerClusters::all() {
  std::vector<WorkerCluster*> out;
  for (const auto& [name, known] : known_) {
    if (known.cluster) out.push_back(known.cluster.get());
  }
  return out;
}

Time WorkerClusters::lost_since(const std::string& name) {
  if (const WorkerCluster* cluster = find(name)) return cluster->lost_since();
  return absent_.try_emplace(name, shell_.executor.now()).first->second;
}

void WorkerClusters::reported(const std::string& name) {
  conditions_.add(name);
  const auto it = known_.find(name);
  if (it == known_.end()) return;
  bool& before = connected_[name];
  const bool now = it->second.cluster->connected();
  if (std::exchange(before, now) != now) handlers_.state_changed(name);
}

void WorkerClusters::write_active(const std::string& name, WorkQueue::Finish finish) {
  const auto it = known_.find(name);
  if (it == known_.end() || it->second.cluster->says().reason.empty()) return finish(true);
  const Json& object = *it->second.object;
  const Unusable& says = it->second.cluster->says();
  api::Condition active;
  active.type = "Active";
  active.status = it->second.cluster->is_active();
  active.reason = says.reason;
  active.message = says.message;
  active.observed_generation = int_at(object, {"metadata", "generation"});
  active.last_transition = to_seconds(shell_.executor.now());
  const Json* before = find_path(object, {"status", "conditions"});
  api::Conditions conditions = before == nullptr ? api::Conditions() : api::decode_conditions(*before);
  if (!api::set_condition(conditions, std::move(active))) return finish(true);
  shell_.writes.patch(
      Target::of(api::kMultiKueueClusters, object), "status",
      JsonObject{{"status", JsonObject{{"conditions", api::encode_conditions(conditions)}}}},
      lifetime_.guard([finish](const api::RestResponse& response) { finish(response.ok() || response.code == 404); }));
}

}  // namespace berth::controller
