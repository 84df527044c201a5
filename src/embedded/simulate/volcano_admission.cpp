#include "embedded/simulate/volcano_admission.h"

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "embedded/apiserver/admission.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "volcano/admission_state.h"

namespace berth::simulate {
namespace {

void report(volcano::AdmissionState& admission_state, const apiserver::Change& change) {
  const std::string_view key = change.key;
  const std::size_t slash = key.find('/');
  const std::string_view group = key.substr(0, slash), rest = key.substr(slash + 1);
  const bool gone = change.type == apiserver::Change::Type::kDeleted;
  const Json* old = gone ? change.object.get() : change.previous.get();
  admission_state.changed(group, rest.substr(0, rest.find('/')), old, gone ? nullptr : change.object.get());
}

// Returns a function that calls `behind`, or `alone` while `past` returns true.
template <typename Answer, typename... Args>
std::function<Answer(Args...)> unless(const std::function<bool()>& past, std::function<Answer(Args...)> behind,
                                      std::function<Answer(Args...)> alone) {
  if (!behind) return behind;
  return [past, behind = std::move(behind), alone = std::move(alone)](Args... args) -> Answer {
    const auto& judge = past() ? alone : behind;
    if constexpr (std::is_void_v<Answer>) {
      if (judge) judge(std::forward<Args>(args)...);
    } else {
      return judge ? judge(std::forward<Args>(args)...) : Answer();
    }
  };
}

}  // namespace

void set_admission(apiserver::ApiServerOptions& options, const api::config::Volcano& config,
                   volcano::HoldersIn holders_in, api::kueue::AdmissionPolicy policy) {
  if (!config.enabled) {
    options.admission = apiserver::kueue_webhooks(std::move(policy));
    return;
  }
  const auto admission_state = std::make_shared<volcano::AdmissionState>(config.admission, std::move(holders_in));
  const auto shared = std::make_shared<const api::kueue::AdmissionPolicy>(policy);
  options.admission = [kueue = apiserver::kueue_webhooks(std::move(policy)), admission_state,
                       shared](apiserver::ResourcePtr resource) {
    auto rules = admission_state->rules(resource->gvr.group, resource->gvr.resource);
    return apiserver::with_rules(kueue(std::move(resource)), std::move(rules), shared);
  };
  options.on_write = [admission_state](const apiserver::Change& change) { report(*admission_state, change); };
}

std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> with_a_way_past(
    std::function<apiserver::ResourcePtr(apiserver::ResourcePtr)> admission, std::function<bool()> past) {
  return [admission = std::move(admission), past = std::move(past)](apiserver::ResourcePtr alone) {
    auto joined = std::make_shared<apiserver::ResourceInfo>(*admission(alone));
    auto& behind = joined->strategy;
    const auto& without = alone->strategy;
    behind.prepare_create = unless(past, std::move(behind.prepare_create), without.prepare_create);
    behind.prepare_update = unless(past, std::move(behind.prepare_update), without.prepare_update);
    behind.validating_admission = unless(past, std::move(behind.validating_admission), without.validating_admission);
    behind.admission_warning = unless(past, std::move(behind.admission_warning), without.admission_warning);
    behind.deletion_admission = unless(past, std::move(behind.deletion_admission), without.deletion_admission);
    return apiserver::ResourcePtr(std::move(joined));
  };
}

}  // namespace berth::simulate
