#include "controller/unreadable.h"

#include "api/meta.h"
#include "base/log.h"

namespace berth::controller {
namespace {

constexpr std::string_view kReason = "CannotBeRead";

kube::ObjectRef ref_of(const Json& object) {
  const auto text = [&](std::initializer_list<std::string_view> path) { return std::string(string_at(object, path)); };
  return {text({"apiVersion"}), text({"kind"}), text({"metadata", "namespace"}), text({"metadata", "name"}), text({"metadata", "uid"})};
}

std::pair<std::string, std::string> key_of(const kube::ObjectRef& ref) { return {ref.kind, api::object_key(ref.ns, ref.name)}; }

}  // namespace

void UnreadableObjects::add(const Json& object, const std::string& why) {
  const kube::ObjectRef ref = ref_of(object);
  Entry& known = unreadable_[key_of(ref)];
  if (known.object == ref && known.why == why) return;
  known = {ref, why};
  log::error("cannot read an object; its last readable version counts",
             {{"kind", ref.kind}, {"object", api::object_key(ref.ns, ref.name)}, {"why", why}});
  if (leading_()) tell(known);
}

void UnreadableObjects::remove(const Json& object) {
  if (!unreadable_.empty()) unreadable_.erase(key_of(ref_of(object)));
}

void UnreadableObjects::tell_all() {
  for (const auto& [key, entry] : unreadable_) tell(entry);
}

void UnreadableObjects::tell(const Entry& entry) {
  events_.record(entry.object, {true, std::string(kReason), "Berth cannot read this object and ignores its present version: " + entry.why,
                                {}, {}});
}

}  // namespace berth::controller
