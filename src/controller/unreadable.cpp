#include "controller/unreadable.h"

#include <utility>

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

}  // namespace

void UnreadableObjects::unreadable(const Json& object, const std::string& why) {
  const kube::ObjectRef ref = ref_of(object);
  Entry& known = unreadable_.try_emplace(ref.uid, Entry{ref, ""}).first->second;
  if (std::exchange(known.why, why) == why) return;
  log::error("cannot read an object; its last readable version counts",
             {{"kind", ref.kind}, {"object", api::object_key(ref.ns, ref.name)}, {"why", why}});
  if (leading_()) report(known);
}

void UnreadableObjects::readable(const Json& object) {
  if (unreadable_.empty()) return;
  if (const auto it = unreadable_.find(string_at(object, {"metadata", "uid"})); it != unreadable_.end())
    unreadable_.erase(it);
}

void UnreadableObjects::report_all() {
  for (const auto& [key, entry] : unreadable_) report(entry);
}

void UnreadableObjects::report(const Entry& entry) {
  events_.record(entry.object, {true,
                                std::string(kReason),
                                "Berth cannot read this object and ignores its present version: " + entry.why,
                                {},
                                {}});
}

}  // namespace berth::controller
