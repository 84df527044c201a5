#include "embedded/cluster/apps/writes.h"

#include <algorithm>
#include <utility>

#include "api/outcome.h"
#include "api/status.h"
#include "base/log.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kAppsManager = "kube-controller-manager";
constexpr Duration kFirstCreateRetry = std::chrono::milliseconds(100), kLastCreateRetry = std::chrono::minutes(1);
// Delay after a creation with unknown outcome: until then the watch has shown the object if it exists.
constexpr Duration kUnknownCreation = std::chrono::seconds(10);

kube::EventRecorderOptions recorder_of(const std::string& controller) {
  kube::EventRecorderOptions options;
  options.controller = options.instance = controller;
  return options;
}

}  // namespace

AppWrites::AppWrites(api::RestClient& client, Executor& executor, Looks& looks, std::string controller)
    : client_(client),
      executor_(executor),
      looks_(looks),
      controller_(std::move(controller)),
      recorder_(client, executor, recorder_of(controller_)) {}

api::RestRequest AppWrites::request(api::Verb verb, const api::GroupVersionResource& resource, const Json& object) {
  api::RestRequest out;
  out.verb = verb;
  out.resource = resource;
  out.ns = string_at(object, {"metadata", "namespace"});
  if (verb != api::Verb::kCreate) out.name = string_at(object, {"metadata", "name"});
  out.field_manager = kAppsManager;
  return out;
}

void AppWrites::send(const std::string& key, api::RestRequest r, std::function<bool(const api::RestResponse&)> done) {
  looks_.sent(key);
  client_.call(std::move(r), lifetime_.guard([this, key, done = std::move(done)](const api::RestResponse& response) {
    looks_.answered(key, done(response));
  }));
}

void AppWrites::create(const std::string& key, const api::GroupVersionResource& resource, Json object, OwnWrites& seen,
                       Done done) {
  api::RestRequest r = request(api::Verb::kCreate, resource, object);
  r.body = std::move(object);
  send(key, std::move(r), [this, key, &seen, done = std::move(done)](const api::RestResponse& response) {
    if (response.ok()) {
      seen.wrote(response.body);
      const auto at = creations_.find(key);
      if (at != creations_.end() && executor_.now() >= at->second.after) creations_.erase(at);
    } else {
      creation_failed(key, response);
    }
    if (done) done(response);
    return true;  // only creations wait: the status tells about the failure at once
  });
}

void AppWrites::creation_failed(const std::string& key, const api::RestResponse& response) {
  Creations& item = creations_[key];
  item.why = response.code == 0 ? "the connection was lost" : std::string(api::status_message(response));
  const Time now = executor_.now();
  // The failures of one batch count once.
  if (now >= item.after) item.after = now + doubled(kFirstCreateRetry, item.failed++, kLastCreateRetry);
  if (api::outcome_unknown(response.code)) item.after = std::max(item.after, now + kUnknownCreation);
}

void AppWrites::update(const std::string& key, const api::GroupVersionResource& resource, Json object,
                       std::string_view subresource, OwnWrites& seen, Done done) {
  api::RestRequest r = request(api::Verb::kUpdate, resource, object);
  r.subresource = subresource;
  r.body = std::move(object);
  send(key, std::move(r), [&seen, key, done = std::move(done)](const api::RestResponse& response) {
    // A conflict is normal: the object changed, and the watch will show the change.
    if (response.ok()) {
      seen.wrote(response.body);
    } else {
      log::debug("object not written", {{"for", key}, {"code", response.code}, {"why", api::status_message(response)}});
    }
    if (done) done(response);
    return response.ok();
  });
}

void AppWrites::patch(const std::string& key, const api::GroupVersionResource& resource, const Json& object, Json body,
                      OwnWrites& seen) {
  api::RestRequest r = request(api::Verb::kPatch, resource, object);
  r.patch_type = api::PatchType::kStrategicMerge;
  ensure_path(body, {"metadata", "uid"}) = string_at(object, {"metadata", "uid"});
  r.body = std::move(body);
  send(key, std::move(r),
       [&seen, at = pod_key(object),
        uid = std::string(string_at(object, {"metadata", "uid"}))](const api::RestResponse& response) {
         if (response.ok()) seen.wrote(response.body);
         if (response.code == 404) seen.gone(at, uid);
         return response.ok() || response.code == 404;
       });
}

void AppWrites::remove(const std::string& key, const api::GroupVersionResource& resource, const Json& object,
                       OwnWrites& seen, Done done) {
  api::RestRequest r = request(api::Verb::kDelete, resource, object);
  std::string uid(string_at(object, {"metadata", "uid"}));
  r.body = JsonObject{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", JsonObject{{"uid", uid}}}};
  send(key, std::move(r),
       [&seen, at = pod_key(object), uid = std::move(uid), done = std::move(done)](const api::RestResponse& response) {
         if (response.code == 404) seen.gone(at, uid);
         if (response.ok()) seen.deleted(at, uid, response.body);
         if (done) done(response);
         return response.ok() || response.code == 404;
       });
}

void AppWrites::get(const std::string& key, const api::GroupVersionResource& resource, const Json& object, Done done) {
  send(key, request(api::Verb::kGet, resource, object), [done = std::move(done)](const api::RestResponse& response) {
    done(response);
    return response.ok() || response.code == 404;
  });
}

bool AppWrites::may_create(const std::string& key) const {
  const auto at = creations_.find(key);
  return at == creations_.end() || executor_.now() >= at->second.after;
}

std::optional<Time> AppWrites::create_after(const std::string& key) const {
  if (may_create(key)) return std::nullopt;
  return creations_.find(key)->second.after;
}

std::string AppWrites::failure(const std::string& key) const {
  const auto at = creations_.find(key);
  return at == creations_.end() ? std::string() : at->second.why;
}

void AppWrites::forget(const std::string& key) { creations_.erase(key); }

void AppWrites::record(const Json& about, std::string_view kind, bool warning, std::string reason, std::string note) {
  kube::ObjectRef object{"apps/v1", std::string(kind), std::string(string_at(about, {"metadata", "namespace"})),
                         std::string(string_at(about, {"metadata", "name"})),
                         std::string(string_at(about, {"metadata", "uid"}))};
  kube::EventText text;
  text.warning = warning;
  text.reason = std::move(reason);
  text.note = std::move(note);
  text.by_note = true;
  recorder_.record(object, std::move(text));
}

}  // namespace berth::cluster
