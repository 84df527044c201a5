// The plain manifests of config/install, parsed, for a cluster in which Berth also manages Volcano's queues.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "source_dir.h"

namespace berth::install {

inline std::vector<Json> read_documents(const std::string& path) {
  std::ifstream in(source_path(path));
  EXPECT_TRUE(in.good()) << path;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  auto documents = parse_yaml(text);
  EXPECT_TRUE(documents) << path << ": " << documents.error().message;
  return documents ? std::move(*documents) : std::vector<Json>();
}

inline std::string_view kind_of(const Json& object) { return string_at(object, {"kind"}); }
inline std::string_view name_of(const Json& object) { return string_at(object, {"metadata", "name"}); }
inline std::string_view namespace_of(const Json& object) { return string_at(object, {"metadata", "namespace"}); }
inline bool same_object(const Json& a, const Json& b) {
  return kind_of(a) == kind_of(b) && namespace_of(a) == namespace_of(b) && name_of(a) == name_of(b);
}

// The objects of a cluster to which berth.yaml and then volcano.yaml were applied.
inline const std::vector<Json>& manifests() {
  static const std::vector<Json> all = [] {
    std::vector<Json> objects = read_documents("config/install/berth.yaml");
    for (Json& later : read_documents("config/install/volcano.yaml")) {
      const auto there =
          std::find_if(objects.begin(), objects.end(), [&](const Json& one) { return same_object(one, later); });
      if (there == objects.end())
        objects.push_back(std::move(later));
      else
        *there = std::move(later);
    }
    return objects;
  }();
  return all;
}

// The objects of a kind, in the order of the file. The pointers are valid until the program ends.
inline std::vector<const Json*> all_of(std::string_view kind) {
  std::vector<const Json*> found;
  for (const Json& object : manifests()) {
    if (kind_of(object) == kind) found.push_back(&object);
  }
  return found;
}

// The object; when it does not exist, an empty object and a failed test.
inline const Json& the(std::string_view kind, std::string_view name) {
  static const Json kNone = JsonObject();
  for (const Json* object : all_of(kind)) {
    if (name_of(*object) == name) return *object;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return kNone;
}

}  // namespace berth::install
