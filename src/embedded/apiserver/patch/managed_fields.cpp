#include "embedded/apiserver/patch/managed_fields.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace berth::apiserver {
namespace {

constexpr std::string_view kAncientChanges = "ancient-changes";

std::int64_t seconds(const std::optional<Time>& time) {
  return time ? to_seconds(*time).time_since_epoch() / std::chrono::seconds(1) : 0;
}

// System fields (identity and version), which only the server sets.
const FieldSet& unowned_fields() {
  static const FieldSet set = [] {
    FieldSet out;
    for (std::string_view name : {"apiVersion", "kind", "metadata"}) out.insert({PathElement::field(name)});
    for (std::string_view name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                                  "generation", "managedFields", "resourceVersion"}) {
      out.insert({PathElement::field("metadata"), PathElement::field(name)});
    }
    return out;
  }();
  return set;
}

Result<Ownership> decode_entry(const Json& entry) {
  Ownership out;
  out.manager = string_at(entry, {"manager"});
  out.api_version = string_at(entry, {"apiVersion"});
  out.subresource = string_at(entry, {"subresource"});
  const auto operation = string_at(entry, {"operation"});
  if (operation != "Apply" && operation != "Update") {
    return fail("metadata.managedFields: operation: expected Apply or Update, got \"" + std::string(operation) + "\"");
  }
  out.applied = operation == "Apply";
  if (string_at(entry, {"fieldsType"}) != "FieldsV1") {
    return fail("metadata.managedFields: fieldsType: expected FieldsV1");
  }
  if (const Json* time = find(entry, "time"); time != nullptr && time->is_string()) {
    auto parsed = parse_time(view(time->get_string()));
    if (!parsed) return fail("metadata.managedFields: time: " + parsed.error().message);
    out.time = *parsed;
  }
  if (const Json* fields = find(entry, "fieldsV1"); fields != nullptr && !fields->is_null()) {
    auto decoded = FieldSet::decode(*fields);
    if (!decoded) return tl::unexpected(decoded.error());
    out.fields = *std::move(decoded);
  }
  return out;
}

Json encode_entry(const Ownership& owner) {
  JsonObject out;
  out["manager"] = owner.manager;
  out["operation"] = owner.applied ? "Apply" : "Update";
  out["apiVersion"] = owner.api_version;
  if (owner.time) out["time"] = format_time(*owner.time);
  out["fieldsType"] = "FieldsV1";
  out["fieldsV1"] = owner.fields.encode();
  if (!owner.subresource.empty()) out["subresource"] = owner.subresource;
  return out;
}

// Appliers first, then by time, oldest first.
bool in_order(const Ownership* a, const Ownership* b) {
  const auto rank = [](const Ownership& o) {
    return std::tuple(!o.applied, seconds(o.time), std::string_view(o.manager), std::string_view(o.api_version),
                      std::string_view(o.subresource));
  };
  return rank(*a) < rank(*b);
}

}  // namespace

Result<ManagedFields> ManagedFields::of(const Json& object) {
  ManagedFields out;
  for (const auto& entry : array_at(object, {"metadata", "managedFields"})) {
    auto owner = decode_entry(entry);
    if (!owner) return tl::unexpected(owner.error());
    auto& known = out.at(*owner);
    known.fields.add(owner->fields);
    known.time = owner->time;
  }
  return out;
}

bool ManagedFields::requests_reset(const Json& object) {
  const auto& entries = array_at(object, {"metadata", "managedFields"});
  return entries.size() == 1 && entries[0].is_object() && entries[0].get_object().empty();
}

void ManagedFields::write_to(Json& object) const {
  if (owners_.empty()) {
    erase_path(object, {"metadata", "managedFields"});
    return;
  }
  std::vector<const Ownership*> ordered;
  for (const auto& [key, owner] : owners_) ordered.push_back(&owner);
  std::sort(ordered.begin(), ordered.end(), in_order);
  JsonArray entries;
  for (const auto* owner : ordered) entries.push_back(encode_entry(*owner));
  ensure_path(object, {"metadata", "managedFields"}) = std::move(entries);
}

Ownership* ManagedFields::find(const Ownership& owner) {
  const auto found = owners_.find(owner.owner());
  return found == owners_.end() ? nullptr : &found->second;
}

Ownership& ManagedFields::at(const Ownership& owner) {
  const auto [found, is_new] = owners_.try_emplace(owner.owner(), owner);
  if (is_new) {
    found->second.fields = {};
    found->second.time.reset();
  }
  return found->second;
}

void ManagedFields::take_from_others(const FieldSet& fields, const Ownership* except) {
  if (fields.empty()) return;
  for (auto& [key, owner] : owners_) {
    if (except != nullptr && key == except->owner()) continue;
    owner.fields = FieldSet::subtract(owner.fields, fields);
  }
}

FieldSet ManagedFields::all_fields() const {
  FieldSet out;
  for (const auto& [key, owner] : owners_) out.add(owner.fields);
  return out;
}

void ManagedFields::tidy() {
  for (auto& [key, owner] : owners_) owner.fields = FieldSet::subtract(owner.fields, unowned_fields());
  std::erase_if(owners_, [](const auto& entry) { return entry.second.fields.empty(); });
}

void ManagedFields::cap_updaters() {
  std::vector<Ownership> updaters;
  for (const auto& [key, owner] : owners_) {
    if (!owner.applied) updaters.push_back(owner);
  }
  std::size_t left = updaters.size();
  if (left <= kMaxUpdaters) return;
  std::sort(updaters.begin(), updaters.end(), [](const Ownership& a, const Ownership& b) { return in_order(&a, &b); });
  // The oldest updater of each version, into which later ones are merged; null once it is merged itself.
  std::map<std::string, const Ownership*> first_of_version;
  for (const auto& updater : updaters) {
    if (left <= kMaxUpdaters) return;
    const auto [first, is_first] = first_of_version.emplace(updater.api_version, &updater);
    if (is_first) continue;
    left -= merge_into_ancient(first->second, updater);
    first->second = nullptr;
  }
}

// Returns how many updaters fewer there are.
std::size_t ManagedFields::merge_into_ancient(const Ownership* first, const Ownership& updater) {
  const std::size_t before = owners_.size();
  Ownership bucket;
  bucket.manager = kAncientChanges;
  bucket.api_version = updater.api_version;
  auto& ancient = at(bucket);
  for (const Ownership* merged : {first, &updater}) {
    if (merged == nullptr) continue;
    ancient.fields.add(merged->fields);
    if (merged->owner() != bucket.owner()) owners_.erase(merged->owner());
  }
  ancient.time = updater.time;
  return before - owners_.size();
}

bool ManagedFields::operator==(const ManagedFields& other) const {
  return std::equal(
      owners_.begin(), owners_.end(), other.owners_.begin(), other.owners_.end(), [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.api_version == b.second.api_version && a.second.fields == b.second.fields;
      });
}

Ownership make_owner(const ManagerInfo& manager, bool applied) {
  Ownership out;
  out.manager = manager.manager;
  out.api_version = manager.api_version;
  out.subresource = manager.subresource;
  out.applied = applied;
  return out;
}

std::string describe_owner(const Ownership& owner) {
  std::string out = to_string(Json(owner.manager));
  if (!owner.subresource.empty()) out += " with subresource " + to_string(Json(owner.subresource));
  if (!owner.applied) out += " using " + owner.api_version;
  return out;
}

}  // namespace berth::apiserver
