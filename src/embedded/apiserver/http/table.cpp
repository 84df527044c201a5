#include "embedded/apiserver/http/table.h"

#include <optional>

#include "api/printing/table.h"
#include "base/json_path.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kNameDescription =
    "The name of the object, unique among the objects of its kind in its namespace.";

Json column_definition(const PrinterColumn& c) {
  return {{"name", c.name},
          {"type", c.type},
          {"format", c.format},
          {"description", c.description},
          {"priority", c.priority}};
}

// A column with its compiled path.
struct Column {
  PrinterColumn definition;
  std::optional<JsonPath> path;  // nullopt for kinds that compute their cells
};

// Kinds without their own columns show their age: custom kinds as "Age", built-in kinds as "Created At".
std::vector<PrinterColumn> definitions_of(const ResourceInfo& info) {
  if (!info.columns.empty()) return info.columns;
  if (info.custom)
    return {{"Age", "date", "", "How long ago the object was created.", ".metadata.creationTimestamp", 0}};
  return {{"Created At", "date", "", "When the object was created.", ".metadata.creationTimestamp", 0}};
}

std::vector<Column> columns_of(const ResourceInfo& info) {
  std::vector<Column> columns;
  for (PrinterColumn& definition : definitions_of(info)) {
    auto path = info.strategy.cells ? Result<JsonPath>(fail("computed")) : JsonPath::compile(definition.json_path);
    columns.push_back({std::move(definition), path ? std::optional(std::move(*path)) : std::nullopt});
  }
  return columns;
}

Json column_definitions(const ResourceInfo& info, const std::vector<Column>& columns) {
  JsonArray all;
  if (!info.name_in_columns) {
    all.push_back(column_definition({"Name", "string", "name", std::string(kNameDescription), "", 0}));
  }
  for (const Column& c : columns) all.push_back(column_definition(c.definition));
  return all;
}

Json cell_of(const Json& value, const PrinterColumn& column, Time now) {
  if (column.type == "string") return value.is_string() ? value : Json(to_string(value));
  if (column.type == "integer") {
    if (value.is_double()) return static_cast<std::int64_t>(value.get_double());
    return value.is_number() ? value : Json(nullptr);
  }
  if (column.type == "number") return value.is_number() ? value : Json(nullptr);
  if (column.type == "boolean") return value.is_bool() ? value : Json(nullptr);
  if (column.type == "date" && value.is_string()) return Json(human_age(view(value.get_string()), now));
  return nullptr;
}

JsonArray cells_of(const Json& object, const ResourceInfo& info, const std::vector<Column>& columns, Time now) {
  if (info.strategy.cells) return info.strategy.cells(object, now);
  JsonArray cells;
  for (const Column& c : columns) {
    const Json* value = c.path ? c.path->find_first(object) : nullptr;
    cells.push_back(value == nullptr ? Json(nullptr) : cell_of(*value, c.definition, now));
  }
  return cells;
}

// Adds apiVersion and kind: list items of built-in kinds do not have them.
Json with_type(const Json& object, const ResourceInfo& info) {
  if (find(object, "kind") != nullptr) return object;
  JsonObject typed;
  typed["kind"] = info.kind;
  typed["apiVersion"] = info.gvr.group.empty() ? info.gvr.version : info.gvr.group + "/" + info.gvr.version;
  for (const auto& [key, value] : object.get_object()) typed[key] = value;
  return typed;
}

Json row_of(const Json& object, const ResourceInfo& info, const std::vector<Column>& columns,
            const TableOptions& options, Time now) {
  JsonArray cells;
  if (!info.name_in_columns) cells.emplace_back(string_at(object, {"metadata", "name"}));
  for (Json& cell : cells_of(object, info, columns, now)) cells.push_back(std::move(cell));
  JsonObject row;
  row["cells"] = std::move(cells);
  switch (options.include) {
    case IncludeObject::kNone:
      row["object"] = nullptr;
      break;
    case IncludeObject::kMetadata:
      row["object"] = to_partial_metadata(object, options.version);
      break;
    case IncludeObject::kObject:
      row["object"] = with_type(object, info);
      break;
  }
  return row;
}

Json list_metadata(const Json& body) {
  JsonObject out;
  for (const std::string_view key : {"resourceVersion", "continue", "remainingItemCount"}) {
    const Json* value = find_path(body, {"metadata", key});
    if (value == nullptr || (value->is_string() && value->get_string().empty())) continue;
    out[key] = *value;
  }
  return out;
}

}  // namespace

std::optional<IncludeObject> parse_include_object(std::string_view text) {
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return std::nullopt;
}

bool is_list(const Json& body) {
  const Json* items = find(body, "items");
  return items != nullptr && items->is_array() && string_at(body, {"kind"}).ends_with("List");
}

Json to_table(const Json& body, const ResourceInfo& info, const TableOptions& options, Time now) {
  const std::vector<Column> columns = columns_of(info);
  JsonObject table;
  table["kind"] = "Table";
  table["apiVersion"] = "meta.k8s.io/" + options.version;
  JsonArray rows;
  if (is_list(body)) {
    table["metadata"] = list_metadata(body);
    for (const Json& item : array_at(body, {"items"})) rows.push_back(row_of(item, info, columns, options, now));
  } else {
    table["metadata"] = JsonObject{{"resourceVersion", string_at(body, {"metadata", "resourceVersion"})}};
    rows.push_back(row_of(body, info, columns, options, now));
  }
  table["columnDefinitions"] = options.columns ? column_definitions(info, columns) : Json(nullptr);
  table["rows"] = std::move(rows);
  return table;
}

Json to_partial_metadata(const Json& object, std::string_view version) {
  JsonObject out;
  out["kind"] = "PartialObjectMetadata";
  out["apiVersion"] = "meta.k8s.io/" + std::string(version);
  const Json* metadata = find(object, "metadata");
  out["metadata"] = metadata == nullptr ? Json(JsonObject{}) : *metadata;
  return out;
}

Json to_partial_metadata_list(const Json& list, std::string_view version) {
  JsonObject out;
  out["kind"] = "PartialObjectMetadataList";
  out["apiVersion"] = "meta.k8s.io/" + std::string(version);
  out["metadata"] = list_metadata(list);
  JsonArray items;
  for (const Json& item : array_at(list, {"items"})) items.push_back(to_partial_metadata(item, version));
  out["items"] = std::move(items);
  return out;
}

std::string human_age(std::string_view time, Time now) {
  if (time.empty()) return "<unknown>";
  const auto at = parse_time(time);
  return at ? api::human_duration(now - *at) : "<invalid>";
}

}  // namespace berth::apiserver::http
