// Removes members that a schema does not specify.
#include <algorithm>

#include "base/json_members.h"
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

// That are reported; a client may send many, below a long key.
constexpr std::size_t kMaxUnknownFields = 100;

bool is_type_meta(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* unknown) : unknown_(unknown) {}

  void walk(Json& value, const Schema& schema, bool is_resource, const std::string& path) {
    if (value.is_object()) {
      object(value.get_object(), schema, is_resource || schema.embedded_resource, path);
    } else if (value.is_array() && schema.items) {
      std::size_t i = 0;
      for (Json& item : value.get_array()) {
        walk(item, *schema.items, false, tracked() ? api::index_path(path, i) : path);
        ++i;
      }
    }
  }

 private:
  bool tracked() const { return unknown_ != nullptr && unknown_->size() < kMaxUnknownFields; }

  void object(JsonObject& members, const Schema& schema, bool is_resource, const std::string& path) {
    erase_members_if(members, [&](auto& member) {
      const std::string_view name = member.key();
      if (is_resource && is_type_meta(name)) return false;
      std::string child_path = tracked() ? api::field_path(path, name) : path;
      if (auto it = schema.properties.find(name); it != schema.properties.end()) {
        walk(member.value(), *it->second, false, child_path);
      } else if (schema.additional) {
        walk(member.value(), *schema.additional, false, child_path);
      } else if (!schema.additional_allowed && !schema.preserve_unknown) {
        if (tracked()) unknown_->push_back(std::move(child_path));
        return true;
      }
      return false;
    });
  }

  std::vector<std::string>* unknown_;
};

}  // namespace

void prune(Json& object, const Schema& schema, bool is_root, std::vector<std::string>* unknown) {
  const std::size_t before = unknown != nullptr ? unknown->size() : 0;
  Pruner(unknown).walk(object, schema, is_root, "");
  if (unknown != nullptr) std::sort(unknown->begin() + static_cast<std::ptrdiff_t>(before), unknown->end());
}

}  // namespace berth::apiserver
