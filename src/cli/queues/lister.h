// Lists objects of an API server for a command, page by page, and prints them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/rest.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/queues/flags.h"
#include "cli/table.h"

namespace berth::cli::queues {

struct Selection {
  api::GroupVersionResource resource;
  std::string kind;  // of the items; they say it themselves only where the server tells them
  std::string ns;    // empty: all namespaces, or cluster-scoped
  std::string labels, fields;
  bool managed_fields = false;  // of the items
};

// The items in the server's order. Shows its progress when there are several pages.
Result<JsonArray> list_objects(const Session& session, Server& server, const Selection& selection);

struct ListFlags {
  CommonFlags common;
  bool all_namespaces = false;
  std::string labels, fields;
};
void add_selector_flags(CLI::App& app, ListFlags& flags);
void add_all_namespaces_flag(CLI::App& app, ListFlags& flags);

// Makes the row of an object. With `wide`, it has the cells of the columns that only -o wide shows.
struct Columns {
  std::vector<std::string> names, wide_names;
  std::function<std::vector<Cell>(const Json& object)> cells;
  std::function<std::vector<Cell>(const Json& object)> wide_cells;
};

// Prints the items in the format. With `namespaces` a table begins with the namespace. "No resources found" goes to
// standard error. `where`: the namespace of the search, empty for all.
int print_list(const Session& session, const Format& format, const api::GroupVersionResource& resource,
               const std::string& kind, JsonArray items, const std::string& where, bool namespaces,
               const Columns& columns);

// The number, as text, or "0".
std::string count_at(const Json& object, std::initializer_list<std::string_view> path);
api::Conditions conditions_of(const Json& object);
Cell age_cell_of(const Json& object, Time now);

}  // namespace berth::cli::queues
