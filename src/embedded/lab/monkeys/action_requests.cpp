#include "embedded/lab/monkeys/action_requests.h"

#include <array>
#include <utility>

#include "base/json_patch.h"
#include "base/merge_patch.h"
#include "embedded/lab/monkeys/restore.h"

namespace berth::lab {
namespace {

using api::RestRequest;
using api::Verb;

constexpr std::string_view kMonkey = "monkey";

RestRequest about(const MonkeyKind& kind, const Json& object, Verb verb) {
  RestRequest request = request_about(kind, object, verb);
  request.field_manager = kMonkey;
  return request;
}

// The body of a server-side apply: identity, and the top-level members that are to change.
Json applied(const Json& object, const Json& wanted, MonkeyAction action) {
  Json out = JsonObject{{"apiVersion", string_at(object, {"apiVersion"})}, {"kind", string_at(object, {"kind"})}};
  Json& metadata = ensure_path(out, {"metadata"});
  metadata = JsonObject{{"name", string_at(object, {"metadata", "name"})}};
  if (find_path(object, {"metadata", "namespace"}) != nullptr)
    metadata.as_object()["namespace"] = string_at(object, {"metadata", "namespace"});
  if (action == MonkeyAction::kMetadata) {
    for (const std::string_view member : {"labels", "annotations", "finalizers", "ownerReferences"}) {
      if (const Json* value = find_path(wanted, {"metadata", member})) metadata.as_object()[member] = *value;
    }
    return out;
  }
  for (const auto& member : wanted.get_object()) {
    if (member.key() == "metadata" || out.get_object().contains(member.key())) continue;
    const Json* before = find(object, member.key());
    if (before == nullptr || !json_equal(*before, member.value())) out.as_object()[member.key()] = member.value();
  }
  return out;
}

}  // namespace

RestRequest ActionRequests::create(const MonkeyKind& kind, const Json& pattern,
                                   const std::vector<std::string>& namespaces, Time now) {
  RestRequest request;
  request.verb = Verb::kCreate;
  request.resource = kind.gvr;
  request.field_manager = kMonkey;
  request.body = actions_.make(kind, pattern, now);
  if (kind.namespaced) {
    std::string ns(string_at(pattern, {"metadata", "namespace"}, "default"));
    if (!namespaces.empty() && random_.chance(400)) ns = namespaces[random_.below(namespaces.size())];
    request.ns = ns;
    ensure_path(request.body, {"metadata", "namespace"}) = ns;
  } else {
    erase_path(request.body, {"metadata", "namespace"});
  }
  return request;
}

RestRequest ActionRequests::change(const MonkeyKind& kind, MonkeyAction action, const Json& object, Time now) {
  Json wanted = object;
  const bool status = action == MonkeyAction::kStatus || action == MonkeyAction::kCondition;
  if (action == MonkeyAction::kStatus) actions_.change_status(kind, wanted, now);
  if (action == MonkeyAction::kCondition) actions_.change_condition(wanted, now);
  if (action == MonkeyAction::kMetadata) actions_.change_metadata(wanted);
  if (action == MonkeyAction::kChange) actions_.change(kind, wanted, now);
  RestRequest request = about(kind, object, Verb::kPatch);
  if (status && kind.has_status) request.subresource = "status";
  switch (random_.below(5)) {
    case 0:
      request.verb = Verb::kUpdate;
      if (random_.chance(200)) erase_path(wanted, {"metadata", "resourceVersion"});
      request.body = std::move(wanted);
      break;
    case 1:
      request.patch_type = api::PatchType::kJson;
      request.body = make_json_patch(object, wanted);
      break;
    case 2:
      request.patch_type = api::PatchType::kApply;
      request.force = random_.chance(700);
      request.body = applied(object, wanted, action);
      break;
    default:
      request.patch_type = api::PatchType::kMerge;
      request.body = make_merge_patch(object, wanted);
      if (random_.chance(200))
        ensure_path(request.body, {"metadata", "resourceVersion"}) = string_at(object, {"metadata", "resourceVersion"});
  }
  return request;
}

RestRequest ActionRequests::remove(const MonkeyKind& kind, const Json& object) {
  RestRequest request = about(kind, object, Verb::kDelete);
  Json options_of_deletion = JsonObject();
  auto& body = options_of_deletion.as_object();
  constexpr std::array<std::string_view, 3> kPolicies = {"Background", "Foreground", "Orphan"};
  if (random_.chance(700)) body["propagationPolicy"] = kPolicies[random_.below(kPolicies.size())];
  if (random_.chance(300)) body["gracePeriodSeconds"] = static_cast<std::int64_t>(random_.below(2) * 5);
  if (random_.chance(200)) {
    const bool right = random_.chance(700);
    body["preconditions"] =
        random_.chance(500)
            ? JsonObject{{"uid", right ? string_at(object, {"metadata", "uid"}) : std::string_view("another")}}
            : JsonObject{{"resourceVersion",
                          right ? string_at(object, {"metadata", "resourceVersion"}) : std::string_view("1")}};
  }
  request.body = std::move(options_of_deletion);
  return request;
}

RestRequest ActionRequests::create_as_it_was(const MonkeyKind& kind, const Json& object) {
  RestRequest request = about(kind, object, Verb::kCreate);
  request.name.clear();
  request.body = object;
  return request;
}

RestRequest ActionRequests::create_again(const MonkeyKind& kind, const Json& object, Time now) {
  RestRequest request = create_as_it_was(kind, without_server_metadata(object));
  if (random_.chance(500)) actions_.change(kind, request.body, now);
  if (random_.chance(300)) erase_path(request.body, {"metadata", "finalizers"});
  return request;
}

std::optional<RestRequest> ActionRequests::release_one(const MonkeyKind& kind, const JsonArray& items) {
  std::vector<const Json*> kept;
  for (const auto& item : items) {
    if (find_path(item, {"metadata", "deletionTimestamp"}) != nullptr) kept.push_back(&item);
  }
  if (kept.empty()) return std::nullopt;
  const Json& object = *kept[random_.below(kept.size())];
  RestRequest request = about(kind, object, Verb::kPatch);
  Json wanted = object;
  if (random_.chance(200)) {
    erase_path(wanted, {"metadata", "finalizers"});
  } else {
    without_monkey_finalizers(wanted);
  }
  request.body = make_merge_patch(object, wanted);
  return request;
}

std::optional<RestRequest> ActionRequests::release(const MonkeyKind& kind, const Json& item) {
  if (find_path(item, {"metadata", "deletionTimestamp"}) == nullptr) return std::nullopt;
  Json wanted = item;
  without_monkey_finalizers(wanted);
  if (json_equal(wanted, item)) return std::nullopt;
  RestRequest request = about(kind, item, Verb::kPatch);
  request.body = make_merge_patch(item, wanted);
  return request;
}

std::optional<RestRequest> ActionRequests::remove_many(const MonkeyKind& kind, const Json& object) {
  if (kind.gvr.resource == "namespaces") return std::nullopt;
  RestRequest request = about(kind, object, Verb::kDeleteCollection);
  request.name.clear();
  for (const auto& label : object_at(object, {"metadata", "labels"})) {
    if (label.value().is_string() && random_.chance(500))
      request.label_selector = std::string(label.key()) + "=" + std::string(view(label.value().get_string()));
  }
  if (!kind.namespaced && request.label_selector.empty())
    return std::nullopt;  // without a label selector this would delete all nodes or all queues
  return request;
}

RestRequest ActionRequests::evict(const MonkeyKind& kind, const Json& object) {
  RestRequest request = about(kind, object, Verb::kCreate);
  request.subresource = "eviction";
  request.body = JsonObject{{"apiVersion", "policy/v1"},
                            {"kind", "Eviction"},
                            {"metadata", JsonObject{{"name", request.name}, {"namespace", request.ns}}}};
  return request;
}

}  // namespace berth::lab
