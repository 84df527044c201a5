// One object that several managers write.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/merge_patch.h"
#include "embedded/apiserver/patch/field_set.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/schemas.h"

namespace berth::apiserver::apply_tests {

using patch_tests::yaml;

inline Time at(int seconds) { return Time(std::chrono::seconds(1'700'000'000 + seconds)); }

class Applied {
 public:
  explicit Applied(const Schema& schema, std::string api_version = "v1")
      : schema_(schema), api_version_(std::move(api_version)) {}

  // Returns the conflicts or the error; empty on success.
  std::string apply(std::string_view manager, std::string_view config, bool force = false,
                    const std::string& subresource = {}, const std::vector<std::string>& reset = {}) {
    Json applied = yaml(config);
    return apply_json(manager, std::move(applied), force, subresource, reset);
  }

  std::string apply_json(std::string_view manager, Json applied, bool force = false,
                         const std::string& subresource = {}, const std::vector<std::string>& reset = {}) {
    ensure_path(applied, {"apiVersion"}) = api_version_;
    ensure_path(applied, {"kind"}) = "Thing";
    ensure_path(applied, {"metadata", "name"}) = "x";
    auto result = server_side_apply(live_, applied, schema_, info(manager, subresource), force, reset);
    if (!result) return std::to_string(result.error().code) + " " + result.error().message;
    std::string conflicts;
    for (const auto& c : result->conflicts) conflicts += c.manager + ": " + c.field + "\n";
    if (conflicts.empty()) {
      live_ = std::move(result->object);
      ensure_path(live_, {"metadata", "uid"}) = "u";
    }
    return conflicts;
  }

  void update(std::string_view manager, Json after, const std::string& subresource = {},
              const std::vector<std::string>& reset = {}) {
    track_update(live_, after, schema_, info(manager, subresource), reset);
    live_ = std::move(after);
    ensure_path(live_, {"metadata", "uid"}) = "u";
  }
  void merge(std::string_view manager, std::string_view patch, const std::string& subresource = {}) {
    update(manager, apply_merge_patch(live_, yaml(patch)), subresource);
  }

  // Each entry as "manager operation subresource@seconds {fields}".
  std::vector<std::string> owners() const {
    std::vector<std::string> out;
    for (const auto& entry : array_at(live_, {"metadata", "managedFields"})) {
      std::string text(string_at(entry, {"manager"}));
      text += string_at(entry, {"operation"}) == "Apply" ? " applied" : " updated";
      if (const auto subresource = string_at(entry, {"subresource"}); !subresource.empty()) {
        text += " " + std::string(subresource);
      }
      const auto seconds = parse_time(string_at(entry, {"time"})).value() - at(0);
      text += "@" + std::to_string(seconds / std::chrono::seconds(1));
      std::string fields;
      FieldSet::decode(entry.at("fieldsV1")).value().for_each([&](const FieldPath& path) {
        fields += " " + path_text(path);
      });
      out.push_back(text + fields);
    }
    return out;
  }

  Json content() const {
    Json out = live_;
    for (const char* name : {"metadata", "apiVersion", "kind"}) erase_path(out, {name});
    return out;
  }

  Json live_;
  int clock_ = 0;

 private:
  ManagerInfo info(std::string_view manager, const std::string& subresource) const {
    return {std::string(manager), api_version_, subresource, at(clock_)};
  }
  const Schema& schema_;
  std::string api_version_;
};

}  // namespace berth::apiserver::apply_tests
