#include "embedded/apiserver/requests/requests.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/status.h"
#include "api/verb.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/watches.h"

namespace berth::apiserver {
namespace {

using api::Verb;

bool writes(Verb verb) { return verb != Verb::kGet && verb != Verb::kList && verb != Verb::kWatch; }

bool allows(const ResourceInfo& resource, Verb verb) {
  return resource.verbs.empty() || std::ranges::find(resource.verbs, name_of(verb)) != resource.verbs.end();
}

bool has_extra(const ResourceInfo& resource, std::string_view subresource) {
  return std::ranges::find(resource.extra_subresources, subresource) != resource.extra_subresources.end();
}

// The minimum revision that a read requests, or 0.
Revision wanted_revision(const api::RestRequest& request) {
  if (request.verb != Verb::kGet && request.verb != Verb::kList && request.verb != Verb::kDeleteCollection) return 0;
  if (request.resource_version.empty()) return 0;
  return parse_revision(request.resource_version).value_or(0);
}

}  // namespace

void Requests::call(api::RestRequest request, std::function<void(api::RestResponse)> done) {
  const Revision wanted = wanted_revision(request);
  if (wanted <= core_.store.readable()) return answer(handle(request), std::move(done));
  core_.freshness.wait(
      wanted, [this, wanted, request = std::move(request), done = std::move(done)](bool reached) mutable {
        if (reached) return answer(handle(request), std::move(done));
        answer({version_too_large(wanted, core_.store.readable()), core_.store.readable()}, std::move(done));
      });
}

std::unique_ptr<api::WatchHandle> Requests::watch(const api::RestRequest& request,
                                                  std::function<void(const api::WatchEvent&)> on_event,
                                                  std::function<void()> on_end) {
  return core_.watches->start(core_.registry.find(request.resource), request, std::move(on_event), std::move(on_end));
}

void Requests::answer(Answer verdict, std::function<void(api::RestResponse)> done) {
  // A shared_ptr, because the tasks in the store's waiting list must be copyable.
  auto held = std::make_shared<std::pair<api::RestResponse, std::function<void(api::RestResponse)>>>(
      std::move(verdict.response), std::move(done));
  core_.store.when_durable(verdict.shown, [this, held](bool durable) {
    if (!durable) {
      // Nobody knows the outcome. If the server is only shutting down: code 0.
      held->first =
          core_.store.failure().empty() ? api::RestResponse{0, nullptr, {}} : not_confirmed(core_.store.failure());
    }
    core_.executor.post([held] { held->second(std::move(held->first)); });
  });
}

Answer Requests::handle(api::RestRequest& request) {
  const ResourcePtr resource = core_.registry.find(request.resource);
  if (resource == nullptr) return {not_served(), 0};
  if (!allows(*resource, request.verb)) return {not_allowed(name_of(request.verb)), 0};
  if (writes(request.verb) && !core_.store.failure().empty()) {
    return {refused(*resource, request.name, WriteError::kStopped, core_.store), 0};
  }
  const Verb verb = request.verb;
  const bool dry_run = request.dry_run;
  Answer answer = request.subresource.empty() ? dispatch(*resource, request) : on_subresource(*resource, request);
  if (const auto warning = core_.deprecations.find(resource->gvr); warning != core_.deprecations.end()) {
    answer.response.warnings.push_back(warning->second);
  }
  if (writes(verb) && !dry_run && answer.response.ok() && is_crd(*resource)) {
    const std::string name(string_at(answer.response.body, {"metadata", "name"}));
    crds_.on_written(name.empty() ? request.name : name);
    for (const Json& item : array_at(answer.response.body, {"items"})) {
      crds_.on_written(std::string(string_at(item, {"metadata", "name"})));
    }
  }
  return answer;
}

Answer Requests::dispatch(const ResourceInfo& resource, api::RestRequest& request) {
  switch (request.verb) {
    case Verb::kGet:
      return get_object(core_, resource, request);
    case Verb::kList:
      if (auto refusal = check_list_options(request)) return {std::move(*refusal), 0};
      return list_objects(core_, resource, request);
    case Verb::kCreate:
      return create_object(core_, resource, request);
    case Verb::kUpdate:
      return update_object(core_, resource, request);
    case Verb::kPatch:
      return patch_object(core_, resource, request);
    case Verb::kDelete:
      return delete_object(core_, resource, request);
    case Verb::kDeleteCollection:
      if (auto refusal = check_list_options(request)) return {std::move(*refusal), 0};
      return delete_collection(core_, resource, request);
    case Verb::kWatch:
      break;
  }
  return {not_allowed(name_of(request.verb)), 0};
}

Answer Requests::on_subresource(const ResourceInfo& resource, api::RestRequest& request) {
  const std::string& subresource = request.subresource;
  const bool reads = request.verb == Verb::kGet;
  const bool changes = request.verb == Verb::kUpdate || request.verb == Verb::kPatch;
  if (subresource == "status" && resource.has_status) {
    if (reads) return get_object(core_, resource, request);
    if (changes) return dispatch(resource, request);
    return {not_allowed(name_of(request.verb)), 0};
  }
  if (subresource == "scale" && resource.has_scale) {
    if (reads) return get_scale(core_, resource, request);
    if (changes) return write_scale(core_, resource, request);
    return {not_allowed(name_of(request.verb)), 0};
  }
  if (has_extra(resource, subresource)) {
    if (subresource == "binding" && request.verb == Verb::kCreate) return bind_pod(core_, resource, request);
    if (subresource == "eviction" && request.verb == Verb::kCreate) return evict_pod(core_, resource, request);
    if (subresource == "finalize" && request.verb == Verb::kUpdate) return finalize_namespace(core_, resource, request);
    return {not_allowed(name_of(request.verb)), 0};
  }
  if (resource.custom) return {api::not_found(resource.gvr, request.name), 0};
  return {not_served(), 0};
}

}  // namespace berth::apiserver
