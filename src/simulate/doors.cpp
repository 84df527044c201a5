#include "simulate/doors.h"

#include <memory>
#include <string_view>
#include <utility>

#include "apiserver/admission.h"
#include "apiserver/kueue_webhooks.h"
#include "volcano/doors.h"

namespace berth::simulate {
namespace {

void tell(volcano::Doors& doors, const apiserver::Change& change) {
  const std::string_view key = change.key;
  const std::size_t slash = key.find('/');
  const std::string_view group = key.substr(0, slash), rest = key.substr(slash + 1);
  const bool gone = change.type == apiserver::Change::Type::kDeleted;
  const Json* old = gone ? change.object.get() : change.previous.get();
  doors.changed(group, rest.substr(0, rest.find('/')), old, gone ? nullptr : change.object.get());
}

}  // namespace

void open_doors(apiserver::ApiServerOptions& options, const api::config::Volcano& config,
                volcano::HoldersIn holders_in, api::kueue::AdmissionPolicy policy) {
  if (!config.enabled) {
    options.admission = apiserver::kueue_webhooks(std::move(policy));
    return;
  }
  const auto doors = std::make_shared<volcano::Doors>(config.admission, std::move(holders_in));
  const auto shared = std::make_shared<const api::kueue::AdmissionPolicy>(policy);
  options.admission = [kueue = apiserver::kueue_webhooks(std::move(policy)), doors,
                       shared](apiserver::ResourcePtr resource) {
    auto rules = doors->rules(resource->gvr.group, resource->gvr.resource);
    return apiserver::with_rules(kueue(std::move(resource)), std::move(rules), shared);
  };
  options.on_write = [doors](const apiserver::Change& change) { tell(*doors, change); };
}

}  // namespace berth::simulate
