#include "jobs/pods/copied_metadata.h"

#include <fmt/format.h>

namespace berth::jobs {
namespace {

// `part`: labels or annotations; `what`: one of them, in words.
Result<api::StringMap> agreed(const std::string& group, const std::vector<ManagedPodPtr>& pods,
                              const std::vector<std::string>& keys, std::string_view part, std::string_view what) {
  api::StringMap out;
  for (const std::string& key : keys) {
    const ManagedPod* first = nullptr;
    for (const ManagedPodPtr& pod : pods) {
      const Json* value = find_path(*pod->object, {"metadata", part, key});
      if (value == nullptr || !value->is_string()) continue;
      const std::string text(value->get_string());
      const auto [known, is_new] = out.emplace(key, text);
      if (is_new) first = pod.get();
      if (known->second != text)
        return fail(
            fmt::format("the pods of group '{}' have different values of the {} {}: '{}' in pod '{}', '{}' in "
                        "pod '{}'; the workload copies it: give all pods the same value",
                        group, what, key, known->second, first->name, text, pod->name));
    }
  }
  return out;
}

}  // namespace

Result<CopiedMetadata> copied_metadata(const std::string& group, const std::vector<ManagedPodPtr>& pods,
                                       const JobFacts& facts) {
  auto labels = agreed(group, pods, facts.label_keys_to_copy, "labels", "label");
  if (!labels) return tl::unexpected(labels.error());
  auto annotations = agreed(group, pods, facts.annotation_keys_to_copy, "annotations", "annotation");
  if (!annotations) return tl::unexpected(annotations.error());
  return CopiedMetadata{std::move(*labels), std::move(*annotations)};
}

}  // namespace berth::jobs
