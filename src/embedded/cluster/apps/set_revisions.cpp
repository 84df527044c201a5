#include "embedded/cluster/apps/set_revisions.h"

#include <algorithm>
#include <utility>

#include "embedded/cluster/apps/objects.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kHashOfRevision = "controller.kubernetes.io/hash";

Json template_of(const Json& object) {
  const Json* found = find_path(object, {"spec", "template"});
  return found == nullptr ? Json(JsonObject()) : *found;
}

// What a revision holds: a patch of the StatefulSet that replaces its template.
Json revision_data(const Json& set) {
  Json pod_template = template_of(set);
  pod_template.as_object()["$patch"] = "replace";
  return JsonObject{{"spec", JsonObject{{"template", std::move(pod_template)}}}};
}

Json template_in(const StoredRevision& revision) {
  const Json* data = find(*revision.object, "data");
  Json out = data == nullptr ? Json(JsonObject()) : template_of(*data);
  if (out.is_object()) out.get_object().erase("$patch");
  return out;
}

Json new_revision(const Json& set, Json data, std::int64_t number) {
  const std::string hash = template_hash(data, int_at(set, {"status", "collisionCount"}));
  JsonObject labels = object_at(set, {"spec", "template", "metadata", "labels"});
  labels[kHashOfRevision] = hash;
  return JsonObject{{"apiVersion", "apps/v1"},
                    {"kind", "ControllerRevision"},
                    {"metadata", JsonObject{{"name", std::string(string_at(set, {"metadata", "name"})) + "-" + hash},
                                            {"namespace", string_at(set, {"metadata", "namespace"})},
                                            {"labels", std::move(labels)},
                                            {"ownerReferences", JsonArray{controller_reference(set, "StatefulSet")}}}},
                    {"data", std::move(data)},
                    {"revision", number}};
}

}  // namespace

StoredRevision::StoredRevision(const JsonPtr& revision)
    : object(revision), name(string_at(*revision, {"metadata", "name"})), number(int_at(*revision, {"revision"})) {}

SetRevisions revisions_of(const Json& set, const std::vector<StoredRevision>& stored) {
  SetRevisions out;
  const Json data = revision_data(set);
  const StoredRevision *updated = nullptr, *newest = nullptr, *current = nullptr;
  for (const StoredRevision& each : stored) {
    const auto later = [&](const StoredRevision* than) {
      return than == nullptr || std::tie(than->number, than->name) < std::tie(each.number, each.name);
    };
    const Json* own = find(*each.object, "data");
    if (own != nullptr && json_equal(*own, data) && later(updated)) updated = &each;
    if (later(newest)) newest = &each;
    if (each.name == string_at(set, {"status", "currentRevision"})) current = &each;
  }
  const std::int64_t next = newest == nullptr ? 1 : newest->number + 1;
  if (updated == nullptr) {
    out.create = new_revision(set, data, next);
    return out;
  }
  if (updated != newest) {  // the set is back at an earlier template
    out.update = *updated->object;
    out.update->as_object()["revision"] = next;
    return out;
  }
  if (current == nullptr) current = updated;
  out.current = current->name;
  out.updated = updated->name;
  out.current_template = template_in(*current);
  out.updated_template = template_in(*updated);
  return out;
}

}  // namespace berth::cluster
