#include "controller/writes.h"

#include <utility>

#include "api/kueue/webhooks/admission.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/planted.h"
#include "kube/rights.h"

namespace berth::controller {

Target Target::of(const api::GroupVersionResource& resource, const Json& object) {
  return {resource, std::string(string_at(object, {"metadata", "namespace"})),
          std::string(string_at(object, {"metadata", "name"})), std::string(string_at(object, {"metadata", "uid"})),
          std::string(string_at(object, {"metadata", "resourceVersion"}))};
}

Target Target::of(const api::GroupVersionResource& resource, const api::ObjectMeta& meta) {
  return {resource, meta.ns, meta.name, meta.uid, meta.resource_version};
}

void Writes::patch(const Target& target, std::string_view subresource, Json body, Done done) {
  ensure_path(body, {"metadata", "uid"}) = target.uid;
  if (!planted(Planted::kUnconditionalWrite))
    ensure_path(body, {"metadata", "resourceVersion"}) = target.resource_version;
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kMerge;
  request.resource = target.resource;
  request.ns = target.ns;
  request.name = target.name;
  request.subresource = subresource;
  request.body = std::move(body);
  send(std::move(request), "patch", target.line, std::move(done));
}

void Writes::update_status(const Target& target, std::string_view kind, Json status, Done done) {
  api::RestRequest request;
  request.verb = api::Verb::kUpdate;
  request.resource = target.resource;
  request.ns = target.ns;
  request.name = target.name;
  request.subresource = "status";
  request.body = JsonObject{{"apiVersion", target.resource.group + "/" + target.resource.version},
                            {"kind", kind},
                            {"metadata", JsonObject{{"namespace", target.ns},
                                                    {"name", target.name},
                                                    {"uid", target.uid},
                                                    {"resourceVersion", target.resource_version}}},
                            {"status", std::move(status)}};
  send(std::move(request), "update", target.line, std::move(done));
}

void Writes::create(const api::GroupVersionResource& resource, std::string_view ns, Json object, Done done,
                    const std::string& line) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = resource;
  request.ns = ns;
  request.body = std::move(object);
  send(std::move(request), "create", line, std::move(done));
}

void Writes::remove(const Target& target, Done done) { send(removal(target), "delete", target.line, std::move(done)); }

void Writes::remove_version(const Target& target, Done done) {
  auto request = removal(target);
  ensure_path(request.body, {"preconditions", "resourceVersion"}) = target.resource_version;
  send(std::move(request), "delete", target.line, std::move(done));
}

void Writes::remove_at_once(const Target& target, Done done) {
  auto request = removal(target);
  request.body.as_object()["gracePeriodSeconds"] = 0;
  send(std::move(request), "delete", target.line, std::move(done));
}

api::RestRequest Writes::removal(const Target& target) {
  api::RestRequest request;
  request.verb = api::Verb::kDelete;
  request.resource = target.resource;
  request.ns = target.ns;
  request.name = target.name;
  request.body = JsonObject{{"preconditions", JsonObject{{"uid", target.uid}}}, {"propagationPolicy", "Background"}};
  return request;
}

void Writes::get(const Target& target, Done done) {
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = target.resource;
  request.ns = target.ns;
  request.name = target.name;
  send(std::move(request), "get", target.line, std::move(done));
}

void Writes::send(api::RestRequest request, std::string_view verb, const std::string& line, Done done) {
  if (closed_) return;
  request.field_manager = "berth";
  // Only answers about pods are newer versions of what the caches have (PodController::learn, Ungater::learn).
  if (verb != "get" && request.resource != api::kPods) request.wants_metadata_only = true;
  std::string what(verb);
  what.append(" ").append(request.resource.resource);
  if (!request.subresource.empty()) what.append("/").append(request.subresource);
  const std::string its_line = line.empty() ? request.ns + " " + what : line;
  turns_.push(its_line, {std::move(request), std::move(what), std::move(done)});
  send_waiting();
}

void Writes::send_waiting() {
  while (!turns_.empty() && in_flight_ < kInFlight) send_now(turns_.pop());
}

void Writes::send_now(Waiting one) {
  if (until_ && executor_.now() >= until_()) {
    return executor_.post(lifetime_.guard([done = std::move(one.done)] {
      done({0, api::make_status(0, "", "not sent: this process does not lead any more"), {}});
    }));
  }
  if (one.request.verb != api::Verb::kGet) one.request.not_sent_from = until_;
  ++counts_[one.what];
  ++in_flight_;
  client_.call(std::move(one.request),
               lifetime_.guard([this, what = one.what, done = std::move(one.done),
                                after = lifetime_.guard([this] { answered(); })](const api::RestResponse& response) {
                 const bool lacks_rights = response.code == 403 && !api::kueue::refused_by_webhook(response) &&
                                           !api::refused_by_terminating_namespace(response);
                 if (lacks_rights) refused(what, response);
                 done(response);
                 after();  // nothing when `done` destroyed this
               }));
}

// The administrator must act. Logged once per kind of request.
void Writes::refused(const std::string& what, const api::RestResponse& response) {
  if (!reported_refusals_.insert(what).second) return;
  log::error("the API server refuses: " + std::string(kube::kGrantRights),
             {{"to", what}, {"why", std::string(api::status_message(response))}});
}

void Writes::answered() {
  --in_flight_;
  send_waiting();
  if (in_flight_ == 0 && when_quiet_) std::exchange(when_quiet_, {})();
}

void Writes::close(std::function<void()> done) {
  closed_ = true;
  turns_.clear();
  if (in_flight_ == 0) return done();
  when_quiet_ = std::move(done);
}

}  // namespace berth::controller
