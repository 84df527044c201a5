#include "controller/unreadable.h"

#include "api/meta.h"
#include "base/log.h"

namespace berth::controller {
namespace {

constexpr std::string_view kReason = "CannotBeRead";

kube::ObjectRef ref_of(const Json& object) {
  const auto text = [&](std::initializer_list<std::string_view> path) { return std::string(string_at(object, path)); };
  return {text({"apiVersion"}), text({"kind"}), text({"metadata", "namespace"}), text({"metadata", "name"}),
          text({"metadata", "uid"})};
}

std::pair<std::string, std::string> key_of(const kube::ObjectRef& ref) {
  return {ref.kind, api::object_key(ref.ns, ref.name)};
}

// `last`, which may be null, with the metadata of `now`. Without `last`: an object without content when `now` is
// being deleted, else null.
JsonPtr with_metadata_of(const JsonPtr& last, const Json& now) {
  const Json* metadata = find(now, "metadata");
  if (metadata == nullptr || (!last && find(*metadata, "deletionTimestamp") == nullptr)) return nullptr;
  Json out = last
                 ? *last
                 : Json(JsonObject{{"apiVersion", string_at(now, {"apiVersion"})}, {"kind", string_at(now, {"kind"})}});
  out.as_object()["metadata"] = *metadata;
  return std::make_shared<const Json>(std::move(out));
}

}  // namespace

JsonPtr UnreadableObjects::add(const JsonPtr& old, const JsonPtr& now, const std::string& why) {
  const kube::ObjectRef ref = ref_of(*now);
  const auto [it, is_new] = unreadable_.try_emplace(key_of(ref));
  Entry& known = it->second;
  if (is_new || known.object != ref) known = {ref, "", old && ref_of(*old) == ref ? old : nullptr};
  if (known.why != why) {
    known.why = why;
    log::error("cannot read an object; its last readable version counts",
               {{"kind", ref.kind}, {"object", api::object_key(ref.ns, ref.name)}, {"why", why}});
    if (leading_()) tell(known);
  }
  return with_metadata_of(known.last, *now);
}

void UnreadableObjects::remove(const Json& object) {
  if (!unreadable_.empty()) unreadable_.erase(key_of(ref_of(object)));
}

void UnreadableObjects::tell_all() {
  for (const auto& [key, entry] : unreadable_) tell(entry);
}

void UnreadableObjects::tell(const Entry& entry) {
  events_.record(entry.object, {true,
                                std::string(kReason),
                                "Berth cannot read this object and ignores its present version: " + entry.why,
                                {},
                                {}});
}

}  // namespace berth::controller
