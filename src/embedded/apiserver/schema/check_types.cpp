// Reports values of the wrong type with the messages of Go's typed JSON decoder.
#include <fmt/format.h>

#include <cmath>

#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

// The Go decoder's name for the value that it found.
std::string found(const Json& value) {
  if (value.is_bool()) return "bool";
  if (value.is_double()) return "number " + to_string(value);
  return std::string(value.is_number() ? "number" : kind_of(value));
}

std::string capitalised(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

class TypeCheck {
 public:
  explicit TypeCheck(std::string kind) : kind_(std::move(kind)) {}

  // `owner` is the name of the type that contains the member at `path`.
  Result<void> walk(const Json& value, const Schema& schema, const std::string& owner, const std::string& path,
                    int depth) {
    if (value.is_null()) return {};
    if (auto wanted = mismatch(value, schema); !wanted.empty()) {
      std::string_view into = path.empty() ? "value" : "struct field";
      std::string where = path.empty() ? kind_ : owner + "." + path;
      return fail(fmt::format("json: cannot unmarshal {} into Go {} {}{}", found(value), into,
                              path.empty() ? "of type " : "", path.empty() ? where : where + " of type " + wanted));
    }
    if (value.is_array() && schema.items) {
      for (const Json& item : value.get_array()) {
        if (auto r = walk(item, *schema.items, owner, path, depth); !r) return r;
      }
    }
    if (!value.is_object()) return {};
    const std::string type = schema.properties.empty() ? owner : type_of(schema, path, depth);
    for (const auto& [name, member] : value.get_object()) {
      auto it = schema.properties.find(std::string_view(name));
      const bool known = it != schema.properties.end();
      const Schema* child = known ? it->second.get() : schema.additional.get();
      if (child == nullptr) continue;
      // Go's decoder omits map keys from the path.
      std::string child_path = known ? api::field_path(path, name) : path;
      if (auto r = walk(member, *child, type, child_path, depth + 1); !r) return r;
    }
    return {};
  }

 private:
  // The expected type, or "" when the value has it.
  static std::string mismatch(const Json& value, const Schema& schema) {
    if (schema.int_or_string) return value.is_string() || value.is_number() ? "" : "intstr.IntOrString";
    switch (schema.type) {
      case SchemaType::kAny:
        return "";
      case SchemaType::kString:
        return value.is_string() ? "" : "string";
      case SchemaType::kBoolean:
        return value.is_bool() ? "" : "bool";
      case SchemaType::kNumber:
        return value.is_number() ? "" : "float64";
      case SchemaType::kInteger:
        return fits_integer(value, schema.format) ? "" : schema.format.empty() ? "int64" : schema.format;
      case SchemaType::kArray:
        return value.is_array() ? "" : "[]" + element(schema.items.get());
      case SchemaType::kObject:
        return value.is_object()   ? ""
               : schema.additional ? "map[string]" + element(schema.additional.get())
                                   : struct_name(schema);
    }
    return "";
  }

  static bool fits_integer(const Json& value, std::string_view format) {
    if (!value.is_number() || value.is_double() || value.is_uint64()) return false;
    return format != "int32" || (value.get_int64() >= INT32_MIN && value.get_int64() <= INT32_MAX);
  }

  static std::string struct_name(const Schema& schema) {
    return schema.title.empty() ? "struct" : "v1." + schema.title;
  }

  static std::string element(const Schema* schema) {
    if (schema == nullptr) return "interface {}";
    switch (schema->type) {
      case SchemaType::kString:
        return "string";
      case SchemaType::kBoolean:
        return "bool";
      case SchemaType::kInteger:
        return schema->format.empty() ? "int64" : schema->format;
      case SchemaType::kNumber:
        return "float64";
      case SchemaType::kArray:
        return "[]" + element(schema->items.get());
      case SchemaType::kObject:
        return schema->additional ? "map[string]" + element(schema->additional.get()) : struct_name(*schema);
      case SchemaType::kAny:
        break;
    }
    return "interface {}";
  }

  // The Go type name at `path`: the schema's title, or a guess from Kubernetes' naming conventions.
  std::string type_of(const Schema& schema, const std::string& path, int depth) const {
    if (!schema.title.empty()) return schema.title;
    if (path.empty()) return kind_;
    if (path == "metadata" || path.ends_with(".metadata")) return "ObjectMeta";
    std::string last = capitalised(path.substr(path.rfind('.') + 1));
    return depth == 1 ? kind_ + last : last;
  }

  std::string kind_;
};

}  // namespace

Result<void> check_types(const Json& object, const Schema& schema) {
  std::string kind(string_at(object, {"kind"}));
  return TypeCheck(kind).walk(object, schema, kind, "", 0);
}

}  // namespace berth::apiserver
