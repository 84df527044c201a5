#include "jobs/kinds/hook.h"

#include <algorithm>
#include <map>

namespace berth::jobs::kinds {
namespace {

const std::map<std::string_view, const KindHook*>& hooks() {
  static const std::map<std::string_view, const KindHook*> all = {};
  return all;
}

}  // namespace

void KindHook::find(const Json&, const api::kueue::ObjectGetter&, std::vector<FoundPodSet>&, api::FieldErrors&) const {}
std::optional<Result<void>> KindHook::start(Json&, const std::vector<FoundPodSet>&,
                                            const std::vector<PodSetInfo>&) const {
  return std::nullopt;
}
bool KindHook::restore(Json&, const std::vector<FoundPodSet>&, const std::vector<api::kueue::PodSet>&) const {
  return false;
}
std::optional<bool> KindHook::carries_admission(const Json&) const { return std::nullopt; }
void KindHook::set_defaults(Json&) const {}
void KindHook::check(const Json&, const Json*, const api::kueue::ObjectGetter&, api::FieldErrors&) const {}

const KindHook* find_hook(std::string_view name) {
  const auto it = hooks().find(name);
  return it == hooks().end() ? nullptr : it->second;
}

std::string hook_names() {
  std::string out;
  for (const auto& [name, hook] : hooks()) out.append(out.empty() ? "" : ", ").append(name);
  return out.empty() ? "none" : out;
}

}  // namespace berth::jobs::kinds
