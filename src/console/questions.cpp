#include "console/questions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "api/visibility/visibility.h"
#include "base/yaml.h"
#include "console/changes.h"
#include "console/names.h"
#include "console/replies.h"
#include "console/rows/fields.h"
#include "console/rows/pod_row.h"

namespace berth::console {
namespace {

// The core group's events: most roles that may read events name this group, and not events.k8s.io.
const api::GroupVersionResource kCoreEvents{"", "v1", "events"};
// Events have some of these times, by who wrote them.
constexpr std::string_view kEventTimes[] = {"lastTimestamp", "eventTime", "firstTimestamp"};

http::HttpResponse failed(const api::RestResponse& response) {
  if (response.code == 404) return refusal(404, api::failure_text(response));
  if (response.code == 403)
    return refusal(403, "the console's own account may not read this: " + api::failure_text(response));
  return refusal(503, "the API server cannot be asked: " + api::failure_text(response));
}

serve::AccessAttributes attributes_of(std::string verb, const api::GroupVersionResource& resource, std::string_view ns,
                                      std::string_view name) {
  serve::AccessAttributes what;
  what.verb = std::move(verb);
  what.resource = resource;
  what.ns = ns;
  what.name = name;
  return what;
}

std::int64_t event_time(const Json& event) {
  if (const auto last = millis_at(event, {"series", "lastObservedTime"})) return *last;
  for (const std::string_view field : kEventTimes) {
    if (const auto time = millis_at(event, {field})) return *time;
  }
  return millis_at(event, {"metadata", "creationTimestamp"}).value_or(0);
}

JsonObject event_of(const Json& event) {
  const std::int64_t count = std::max(int_at(event, {"series", "count"}), int_at(event, {"count"}));
  std::string_view from = string_at(event, {"reportingComponent"});
  if (from.empty()) from = string_at(event, {"source", "component"});
  return JsonObject{{"time", event_time(event)},
                    {"count", std::max<std::int64_t>(count, 1)},
                    {"type", string_at(event, {"type"})},
                    {"reason", string_at(event, {"reason"})},
                    {"message", string_at(event, {"message"})},
                    {"from", from}};
}

Json events_of(const Json& list, std::string_view kind, std::string_view name) {
  std::vector<JsonObject> events;
  for (const Json& event : array_at(list, {"items"})) {
    if (string_at(event, {"involvedObject", "kind"}) == kind && string_at(event, {"involvedObject", "name"}) == name)
      events.push_back(event_of(event));
  }
  std::stable_sort(events.begin(), events.end(), [](const JsonObject& a, const JsonObject& b) {
    return a.at("time").as_int64() > b.at("time").as_int64();
  });
  if (events.size() > kMaxEvents) events.resize(kMaxEvents);
  JsonArray out;
  for (JsonObject& event : events) out.push_back(std::move(event));
  return JsonObject{{"events", std::move(out)}};
}

}  // namespace

void Questions::when_allowed(const serve::Caller& caller, const serve::AccessAttributes& what, Done done,
                             std::function<void(Done)> then) {
  auth_.authorize(caller, what, [done = std::move(done), then = std::move(then)](const auto& refused) {
    if (!refused) return then(done);
    if (refused->status != 403) return done(refusal(503, "the API server cannot be asked what you may see"));
    const auto status = parse_json(refused->body);
    done(refusal(403, status ? string_at(*status, {"message"}, "forbidden") : std::string_view("forbidden")));
  });
}

void Questions::object(const serve::Caller& caller, const http::Query& query, Done done) {
  const auto known = named_resource(query.get("resource"));
  const std::string_view ns = query.get("namespace"), name = query.get("name");
  if (!known) return done(refusal(400, "resource: there is no such resource here"));
  if (!may_be_name(name)) return done(refusal(400, "name: expected the name of an object"));
  if (known->namespaced != !ns.empty() || (known->namespaced && !may_be_name(ns)))
    return done(refusal(400, known->namespaced ? "namespace: expected the name of a namespace"
                                               : "namespace: these objects are in no namespace"));
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = known->resource;
  request.ns = ns;
  request.name = name;
  when_allowed(caller, attributes_of("get", known->resource, ns, name), std::move(done),
               [this, request](const Done& report) {
                 client_.call(request, [report](api::RestResponse response) {
                   if (!response.ok()) return report(failed(response));
                   erase_path(response.body, {"metadata", "managedFields"});
                   const std::string yaml = to_yaml(response.body);
                   report(json_reply(JsonObject{{"object", std::move(response.body)}, {"yaml", yaml}}));
                 });
               });
}

void Questions::events(const serve::Caller& caller, const http::Query& query, Done done) {
  const std::string ns(query.get("namespace")), kind(query.get("kind")), name(query.get("name"));
  const bool word = !kind.empty() && kind.size() <= 63 && std::all_of(kind.begin(), kind.end(), [](char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  });
  if (!word) return done(refusal(400, "kind: expected the kind of an object"));
  if (!may_be_name(name)) return done(refusal(400, "name: expected the name of an object"));
  if (!ns.empty() && !may_be_name(ns)) return done(refusal(400, "namespace: expected the name of a namespace"));
  api::RestRequest request;
  request.verb = api::Verb::kList;
  request.resource = kCoreEvents;
  // Events of objects without a namespace are in "default".
  request.ns = ns.empty() ? "default" : ns;
  request.field_selector = "involvedObject.kind=" + kind + ",involvedObject.name=" + name;
  when_allowed(caller, attributes_of("list", kCoreEvents, request.ns, ""), std::move(done),
               [this, request, kind, name](const Done& report) {
                 client_.call(request, [report, kind, name](const api::RestResponse& response) {
                   report(response.ok() ? json_reply(events_of(response.body, kind, name)) : failed(response));
                 });
               });
}

void Questions::pods(const serve::Caller& caller, const http::Query& query, Done done) {
  const std::string ns(query.get("namespace")), workload(query.get("workload"));
  if (!may_be_name(ns)) return done(refusal(400, "namespace: expected the name of a namespace"));
  if (!may_be_name(workload)) return done(refusal(400, "workload: expected the name of a workload"));
  api::RestRequest request;
  request.verb = api::Verb::kList;
  request.resource = api::kPods;
  request.ns = ns;
  request.limit = kMaxPods;
  when_allowed(caller, attributes_of("list", api::kPods, ns, ""), std::move(done),
               [this, request, workload](const Done& report) {
                 client_.call(request, [this, report, ns = request.ns, workload](const api::RestResponse& response) {
                   if (!response.ok()) return report(failed(response));
                   JsonArray pods;
                   for (const Json& pod : array_at(response.body, {"items"})) {
                     if (workloads_.name(ns, PodOrigin::of(pod)) == workload) pods.push_back(pod_row(pod));
                   }
                   report(json_reply(JsonObject{{"pods", std::move(pods)}}));
                 });
               });
}

void Questions::may_change(const serve::Caller& caller, const http::Query& query, Done done) {
  const bool of_workload = query.get("resource") == "workloads";
  const auto change = read_change(JsonObject{{"action", of_workload ? "deactivate" : "resume"},
                                             {"resource", query.get("resource")},
                                             {"namespace", query.get("namespace")},
                                             {"name", query.get("name")}});
  if (!change) return done(refusal(400, change.error().message));
  const auto what = attributes_of("patch", change->resource, change->ns, change->name);
  auth_.authorize(caller, what, [done = std::move(done)](const auto& refused) {
    if (!refused) return done(json_reply(JsonObject{{"allowed", true}}));
    if (refused->status != 403) return done(refusal(503, "the API server cannot be asked what you may change"));
    const auto status = parse_json(refused->body);
    done(json_reply(JsonObject{{"allowed", false}, {"message", status ? string_at(*status, {"message"}) : ""}}));
  });
}

void Questions::about(std::string_view subresource, const serve::Caller& caller, const http::Query& query, Done done) {
  const std::string ns(query.get("namespace")), name(query.get("name"));
  if (!may_be_name(ns)) return done(refusal(400, "namespace: expected the name of a namespace"));
  if (!may_be_name(name)) return done(refusal(400, "name: expected the name of a workload"));
  const std::string version(api::visibility::kVersions[0]);
  auto what = attributes_of("get", {std::string(api::visibility::kGroup), version, "workloads"}, ns, name);
  what.subresource = subresource;
  const std::string path = "/apis/" + what.resource.group + "/" + version + "/namespaces/" + ns + "/workloads/" + name +
                           "/" + std::string(subresource);
  when_allowed(caller, what, std::move(done), [this, caller, what, path](const Done& report) {
    // Objects of other namespaces are named only to users who may ask in all namespaces.
    auto everywhere = what;
    everywhere.ns.clear();
    auth_.authorize(caller, everywhere, [this, report, path](const auto& refused) {
      read_(refused ? path : path + "?all=true", [report](const api::RestResponse& response) {
        report(response.ok() ? json_reply(response.body) : failed(response));
      });
    });
  });
}

}  // namespace berth::console
