#include "api/kueue/unlisted_kinds.h"

#include "api/kueue/job_rules.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

bool gets_its_queue(const Json& object, const Json* old) {
  const std::string_view queue = label_of(object, kQueueLabel);
  return !queue.empty() && (old == nullptr || queue != label_of(*old, kQueueLabel));
}

std::string runs_without_quota(const Json& object, std::string_view kind) {
  std::string_view name = string_at(object, {"metadata", "name"});
  if (name.empty()) name = string_at(object, {"metadata", "generateName"});
  return std::string(kind) + " \"" + std::string(name) + "\" runs without quota, though the label " +
         std::string(kQueueLabel) + " names the queue \"" + std::string(label_of(object, kQueueLabel)) + "\": ";
}

}  // namespace

std::string unlisted_kind_warning(const Json& object, const Json* old, std::string_view kind,
                                  std::string_view framework) {
  if (!gets_its_queue(object, old)) return {};
  return runs_without_quota(object, kind) + "integrations.frameworks does not list \"" + std::string(framework) +
         "\"; add it to Berth's configuration, or remove the label";
}

}  // namespace berth::api::kueue
