#include "cli/object_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/read_file.h"
#include "base/yaml.h"

namespace berth::cli {

namespace fs = std::filesystem;

Result<std::vector<ObjectToApply>> parse_objects(std::string_view text, const std::string& origin) {
  auto documents = parse_yaml(text);
  if (!documents) return fail(origin + ": " + documents.error().message);
  std::vector<ObjectToApply> objects;
  int number = 0;
  for (Json& document : *documents) {
    std::string where = origin;
    ++number;
    if (documents->size() > 1) where += ", document " + std::to_string(number);
    if (string_at(document, {"kind"}).ends_with("List") && find(document, "items") != nullptr) {
      for (const Json& item : array_at(document, {"items"})) objects.push_back({item, where});
      continue;
    }
    for (const std::string_view key : {"apiVersion", "kind"}) {
      if (string_at(document, {key}).empty()) return fail(where + ": " + std::string(key) + ": expected a text");
    }
    if (string_at(document, {"metadata", "name"}).empty() && string_at(document, {"metadata", "generateName"}).empty())
      return fail(where + ": metadata.name: expected a name, or a generateName");
    objects.push_back({std::move(document), std::move(where)});
  }
  return objects;
}

Result<std::vector<ObjectToApply>> read_objects(const std::vector<std::string>& paths) {
  std::vector<ObjectToApply> all;
  for (const std::string& path : paths) {
    std::vector<std::string> files;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      for (const auto& entry : fs::directory_iterator(path, error)) {
        const std::string extension = entry.path().extension();
        if (extension == ".yaml" || extension == ".yml" || extension == ".json") files.push_back(entry.path());
      }
      if (error) return fail(path + ": " + error.message());
      if (files.empty()) return fail(path + ": has no .yaml, .yml or .json files");
      std::sort(files.begin(), files.end());
    } else {
      files.push_back(path);
    }
    for (const std::string& file : files) {
      auto text = read_file(file);
      if (!text) return fail(text.error().message);
      auto objects = parse_objects(*text, file);
      if (!objects) return objects;
      all.insert(all.end(), std::make_move_iterator(objects->begin()), std::make_move_iterator(objects->end()));
    }
  }
  return all;
}

}  // namespace berth::cli
