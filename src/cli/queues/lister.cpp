#include "cli/queues/lister.h"

#include <CLI/CLI.hpp>

#include <ostream>
#include <utility>

#include "api/printing/table.h"
#include "api/selector.h"

namespace berth::cli::queues {
namespace {

constexpr std::int64_t kPage = 500;
constexpr int kGone = 410;

// The check of a selector's flag.
template <typename Parse>
std::function<std::string(const std::string&)> selects_with(const std::string& example, Parse parse) {
  return [example, parse](const std::string& text) {
    const auto parsed = parse(text);
    if (parsed) return std::string();
    return "expected a selector such as " + example + ", got " + text + ": " + parsed.error().message;
  };
}

}  // namespace

Result<JsonArray> list_objects(const Session& session, Server& server, const Selection& selection) {
  Progress progress(session);
  JsonArray items;
  std::string page;
  std::int64_t limit = kPage;
  while (true) {
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = selection.resource;
    request.ns = selection.ns;
    request.label_selector = selection.labels;
    request.field_selector = selection.fields;
    request.wants_managed_fields = selection.managed_fields;
    request.limit = limit;
    request.continue_token = page;
    api::RestResponse response = server.call(std::move(request));
    if (response.code == kGone && !page.empty()) {
      // The pages that are left are of a version that the server does not have any more: all at once then.
      items.clear();
      page.clear();
      limit = 0;
      continue;
    }
    if (!response.ok()) return fail(server.explain(response, selection.resource));
    page = string_at(response.body, {"metadata", "continue"});
    if (Json* found = response.body.as_object().if_contains("items"); found != nullptr && found->is_array()) {
      for (Json& item : found->get_array()) {
        if (!item.is_object()) continue;
        JsonObject& object = item.get_object();
        if (!object.contains("kind")) object["kind"] = selection.kind;
        if (!object.contains("apiVersion"))
          object["apiVersion"] =
              (selection.resource.group.empty() ? "" : selection.resource.group + "/") + selection.resource.version;
        items.push_back(std::move(item));
      }
    }
    if (page.empty()) return items;
    progress.show("listing " + selection.resource.resource + ": " + std::to_string(items.size()));
  }
}

void add_selector_flags(CLI::App& app, ListFlags& flags) {
  app.add_option("-l,--selector", flags.labels, "Only objects with these labels: team=a,env in (dev,test)")
      ->check(selects_with("team=a,env in (dev,test)", api::LabelSelector::parse));
  app.add_option("--field-selector", flags.fields, "Only objects with these fields: metadata.name=x")
      ->check(selects_with("metadata.name=x", api::parse_field_selector));
}

void add_all_namespaces_flag(CLI::App& app, ListFlags& flags) {
  app.add_flag("-A,--all-namespaces", flags.all_namespaces, "In all namespaces");
}

int print_list(const Session& session, const Format& format, const api::GroupVersionResource& resource,
               const std::string& kind, JsonArray items, const std::string& where, bool namespaces,
               const Columns& columns) {
  if (items.empty() && (format.text() || format.kind == Format::Kind::kName)) {
    *session.err << "No resources found" << (where.empty() ? "" : " in " + where + " namespace.") << "\n";
    return 0;
  }
  if (!format.text()) {
    const std::string version = (resource.group.empty() ? "" : resource.group + "/") + resource.version;
    *session.out << printed(
        format,
        JsonObject{
            {"apiVersion", version}, {"items", std::move(items)}, {"kind", kind + "List"}, {"metadata", JsonObject()}});
    return 0;
  }
  std::vector<std::string> names;
  if (namespaces) names.emplace_back("NAMESPACE");
  names.insert(names.end(), columns.names.begin(), columns.names.end());
  if (format.wide()) names.insert(names.end(), columns.wide_names.begin(), columns.wide_names.end());
  Table table(std::move(names));
  for (const Json& item : items) {
    std::vector<Cell> row;
    if (namespaces) row.push_back({std::string(string_at(item, {"metadata", "namespace"}))});
    for (Cell& cell : columns.cells(item)) row.push_back(std::move(cell));
    if (format.wide() && columns.wide_cells) {
      for (Cell& cell : columns.wide_cells(item)) row.push_back(std::move(cell));
    }
    table.add(std::move(row));
  }
  *session.out << table.text(session.colour);
  return 0;
}

std::string count_at(const Json& object, std::initializer_list<std::string_view> path) {
  return std::to_string(int_at(object, path));
}

api::Conditions conditions_of(const Json& object) {
  const Json* conditions = find_path(object, {"status", "conditions"});
  return conditions == nullptr ? api::Conditions() : api::decode_conditions(*conditions);
}

Cell age_cell_of(const Json& object, Time now) { return {api::age_of(object, now)}; }

}  // namespace berth::cli::queues
