#include "embedded/apiserver/builtin/schema_loader.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/yaml.h"

namespace berth::apiserver {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t end = text.find(separator);
    if (std::string_view part = text.substr(0, end); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::vector<std::string> arguments(std::string_view flag, std::size_t name_length) {
  std::vector<std::string> names;
  for (auto part : split(flag.substr(name_length + 1, flag.size() - name_length - 2), ',')) names.emplace_back(part);
  return names;
}

// "420", "{}" and "\"\"" are parsed as JSON; "Always" is a string.
Json default_of(std::string_view text) {
  if (auto parsed = parse_json(text)) return *parsed;
  return Json(boost::json::string_view(text.data(), text.size()));
}

Schema scalar(std::string_view type, bool& known) {
  Schema s;
  known = true;
  auto text = [&](std::string_view format, Codec codec) {
    s.type = SchemaType::kString;
    s.format = format;
    s.codec = codec;
  };
  if (type == "string") {
    s.type = SchemaType::kString;
  } else if (type == "int32" || type == "int64") {
    s.type = SchemaType::kInteger;
    s.format = type;
  } else if (type == "bool") {
    s.type = SchemaType::kBoolean;
  } else if (type == "quantity") {
    s.codec = Codec::kQuantity;  // a string or a number
  } else if (type == "time") {
    text("date-time", Codec::kTime);
  } else if (type == "microTime") {
    text("date-time", Codec::kMicroTime);
  } else if (type == "bytes") {
    text("byte", Codec::kBytes);
  } else if (type == "intOrString") {
    s.int_or_string = true;
  } else if (type == "any") {
    s.preserve_unknown = true;
  } else {
    known = false;
  }
  return s;
}

class Loader {
 public:
  Loader() {
    for (const auto& file : embedded::builtin_schemas()) {
      auto documents = parse_yaml(file.content);
      BERTH_INVARIANT(documents.has_value() && documents->size() == 1);
      if (!documents) continue;
      for (const auto& member : documents->front().as_object()) {
        bool added = sources_.emplace(std::string(view_of(member.key())), member.value()).second;
        BERTH_INVARIANT(added);
      }
    }
  }

  SchemaPtr type(std::string_view name) {
    if (auto it = types_.find(name); it != types_.end()) return it->second;
    auto source = sources_.find(name);
    BERTH_INVARIANT(source != sources_.end());
    auto schema = std::make_shared<Schema>();
    schema->type = SchemaType::kObject;
    if (source != sources_.end()) {
      schema->title = string_at(source->second, {"_title"}, name);
      schema->description = string_at(source->second, {"_"});
      schema->atomic_map = find(source->second, "_atomic") != nullptr;
      for (const auto& member : source->second.as_object()) {
        std::string field(view_of(member.key()));
        if (field.starts_with('_')) continue;
        add_field(*schema, field, view(member.value().as_string()));
      }
    }
    types_.emplace(std::string(name), schema);
    return schema;
  }

 private:
  static std::string_view view_of(boost::json::string_view s) { return {s.data(), s.size()}; }

  Schema resolve(std::string_view type_text) {
    if (type_text.ends_with("[]") || type_text.ends_with("{}")) {
      bool list = type_text.ends_with("[]");
      auto inner = std::make_shared<Schema>(resolve(type_text.substr(0, type_text.size() - 2)));
      Schema s;
      s.type = list ? SchemaType::kArray : SchemaType::kObject;
      (list ? s.items : s.additional) = std::move(inner);
      return s;
    }
    bool known = false;
    Schema s = scalar(type_text, known);
    return known ? s : *type(type_text);
  }

  void add_field(Schema& owner, const std::string& field, std::string_view text) {
    std::string_view description;
    if (std::size_t dash = text.find(" -- "); dash != std::string_view::npos) {
      description = text.substr(dash + 4);
      text = text.substr(0, dash);
    }
    auto words = split(text, ' ');
    BERTH_INVARIANT(!words.empty());
    std::string_view type_text = words.front();
    bool optional = type_text.ends_with('?'), always = type_text.ends_with('!');
    if (optional || always) type_text.remove_suffix(1);
    Schema s = resolve(type_text);
    bool is_struct = !s.properties.empty();
    s.zero = always ? Zero::kAlways : (optional || is_struct) ? Zero::kKeep : Zero::kOmit;
    if (!description.empty()) s.description = description;
    for (std::size_t i = 1; i < words.size(); ++i) add_flag(owner, s, field, words[i]);
    owner.properties.emplace(field, std::make_shared<const Schema>(std::move(s)));
  }

  void add_flag(Schema& owner, Schema& s, const std::string& field, std::string_view flag) {
    if (flag == "required") {
      owner.required.push_back(field);
    } else if (flag.starts_with('=')) {
      s.default_value = default_of(flag.substr(1));
    } else if (flag.starts_with("map(")) {
      s.list_type = ListType::kMap;
      s.list_map_keys = arguments(flag, 3);
      s.patch_merge_key = s.list_map_keys.front();
    } else if (flag.starts_with("keys(")) {
      s.list_type = ListType::kMap;
      s.list_map_keys = arguments(flag, 4);
    } else if (flag.starts_with("merge(")) {
      s.patch_merge_key = arguments(flag, 5).front();
    } else if (flag == "set" || flag == "mergeset") {
      s.list_type = ListType::kSet;
      s.patch_merge = flag == "mergeset";
    } else if (flag == "atomic") {
      s.atomic_map = true;
    } else if (flag == "retainKeys") {
      for (const auto& [name, member] : s.items->properties) s.retain_keys.push_back(name);
    } else {
      BERTH_INVARIANT(!"a flag of the notation");
    }
  }

  std::map<std::string, Json, std::less<>> sources_;
  std::map<std::string, SchemaPtr, std::less<>> types_;
};

// Built once. Reading needs no lock, because all types are resolved before the first request.
Loader& loader() {
  static Loader instance;
  return instance;
}

SchemaPtr text_member(std::string description) {
  auto s = std::make_shared<Schema>();
  s->type = SchemaType::kString;
  s->description = std::move(description);
  return s;
}

}  // namespace

SchemaPtr builtin_schema(std::string_view type) { return loader().type(type); }

SchemaPtr builtin_kind_schema(std::string_view type) {
  auto schema = std::make_shared<Schema>(*loader().type(type));
  schema->properties.emplace("apiVersion", text_member("Version of the API in which the object is written."));
  schema->properties.emplace("kind", text_member("Kind of the object."));
  auto metadata = std::make_shared<Schema>(*loader().type("ObjectMeta"));
  metadata->description = "Name, labels and history of the object.";
  metadata->zero = Zero::kKeep;
  schema->properties.emplace("metadata", std::move(metadata));
  return schema;
}

}  // namespace berth::apiserver
