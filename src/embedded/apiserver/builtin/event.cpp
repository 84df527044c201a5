// Events, in both API forms. https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
#include <fmt/format.h>

#include <algorithm>

#include "api/printing/table.h"
#include "base/text.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/event_conversion.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

// Length limits of the texts of events with eventTime (the new form); events without it have no limits.
constexpr std::size_t kMaxReason = 128, kMaxAction = 128, kMaxNote = 1024, kMaxInstance = 128;

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<PrinterColumn> columns_event() {
  auto name = api::text_column("Name", "Name of the event.", 1);
  name.format = "name";
  return {api::text_column("Last Seen", "Time since it was last seen."),
          api::text_column("Type", "Normal or Warning."),
          api::text_column("Reason", "Why, in one word."),
          api::text_column("Object", "What it happened to."),
          api::text_column("Subobject", "Part of the object.", 1),
          api::text_column("Source", "Who reported it.", 1),
          api::text_column("Message", "What happened."),
          api::text_column("First Seen", "Time since it was first seen.", 1),
          api::text_column("Count", "How often it was seen.", 1),
          name};
}

std::string_view first_text(std::string_view a, std::string_view b) { return a.empty() ? b : a; }

std::string source_cell(const Json& event) {
  std::string_view component =
      first_text(string_at(event, {"source", "component"}), string_at(event, {"reportingComponent"}));
  std::string_view host = first_text(string_at(event, {"source", "host"}), string_at(event, {"reportingInstance"}));
  return host.empty() ? std::string(component) : fmt::format("{}, {}", component, host);
}

std::string object_cell(const Json& event) {
  std::string kind = to_lower(string_at(event, {"involvedObject", "kind"}));
  std::string_view name = string_at(event, {"involvedObject", "name"});
  return name.empty() ? kind : fmt::format("{}/{}", kind, name);
}

JsonArray core_cells(const Json& event, Time now) {
  std::string_view first = first_text(string_at(event, {"firstTimestamp"}), string_at(event, {"eventTime"}));
  std::string_view last = first_text(string_at(event, {"lastTimestamp"}), first);
  std::int64_t count = int_at(event, {"count"});
  if (const Json* series = find(event, "series"); series != nullptr && series->is_object()) {
    last = string_at(*series, {"lastObservedTime"});
    count = int_at(*series, {"count"});
  } else if (count == 0) {
    count = 1;
  }
  return {Json(api::age_cell(last, now)),
          Json(string_at(event, {"type"})),
          Json(string_at(event, {"reason"})),
          Json(object_cell(event)),
          Json(string_at(event, {"involvedObject", "fieldPath"})),
          Json(source_cell(event)),
          Json(strip(string_at(event, {"message"}))),
          Json(api::age_cell(first, now)),
          count,
          Json(string_at(event, {"metadata", "name"}))};
}

// Field selectors of events use the field names of core/v1; `source` selects by the reporting component.
std::optional<std::string> core_field(const Json& event, std::string_view field) {
  static const auto paths =
      field_paths({"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
                   "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                   "reportingComponent", "type"});
  if (field == "source") {
    return std::string(first_text(string_at(event, {"source", "component"}), string_at(event, {"reportingComponent"})));
  }
  return paths(event, field);
}

std::optional<std::string> events_field(const Json& event, std::string_view field) {
  static const auto paths =
      field_paths({"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
                   "regarding.resourceVersion", "regarding.fieldPath", "reason", "reportingController", "type"});
  return paths(event, field);
}

void check_length(const Json& event, std::string_view key, std::size_t max, FieldErrors& errors) {
  if (string_at(event, {key}).size() <= max) return;
  errors.push_back(api::invalid_value(std::string(key), "", fmt::format("can have at most {} characters", max)));
}

// The event must be in the namespace of its object; for cluster-scoped objects in "default" or "kube-system".
void check_namespace(const Json& event, std::string_view object, FieldErrors& errors) {
  std::string_view ns = string_at(event, {"metadata", "namespace"}),
                   regarding = string_at(event, {object, "namespace"});
  if (regarding.empty() ? ns == "default" || ns == "kube-system" || ns.empty() : ns == regarding) return;
  errors.push_back(
      api::invalid_value(api::field_path(object, "namespace"), Json(regarding), "does not match event.namespace"));
}

// Validation of events with eventTime (the new form).
FieldErrors validate_new_form(const Json& event) {
  FieldErrors errors;
  check_namespace(event, "regarding", errors);
  if (string_at(event, {"eventTime"}).empty()) errors.push_back(api::required("eventTime", ""));
  if (check_required(event, "reportingController", "", errors)) {
    check_text(event, "reportingController", "", api::check_qualified_name, errors);
  }
  if (check_required(event, "reportingInstance", "", errors))
    check_length(event, "reportingInstance", kMaxInstance, errors);
  if (check_required(event, "action", "", errors)) check_length(event, "action", kMaxAction, errors);
  if (check_required(event, "reason", "", errors)) check_length(event, "reason", kMaxReason, errors);
  check_length(event, "note", kMaxNote, errors);
  check_enum(event, "type", "", {"Normal", "Warning"}, true, errors);
  if (const Json* series = find(event, "series"); series != nullptr) {
    if (int_at(*series, {"count"}) < 2) {
      errors.push_back(api::invalid_value("series.count", int_at(*series, {"count"}), "should be at least 2"));
    }
    if (string_at(*series, {"lastObservedTime"}).empty())
      errors.push_back(api::required("series.lastObservedTime", ""));
  }
  return errors;
}

FieldErrors validate_core(const Json& event, const Lookup&) {
  if (!string_at(event, {"eventTime"}).empty()) return validate_new_form(to_events_event(event));
  FieldErrors errors;
  check_namespace(event, "involvedObject", errors);
  return errors;
}

FieldErrors validate_events(const Json& event, const Lookup&) { return validate_new_form(event); }

// In the new form only the series may change; events in the old form may be changed freely.
FieldErrors validate_events_update(const Json& event, const Json& old, std::string_view) {
  FieldErrors errors;
  for (std::string_view key : {"regarding", "related", "note", "action", "reason", "type", "eventTime",
                               "reportingController", "reportingInstance", "deprecatedSource",
                               "deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount"}) {
    check_immutable(event, old, key, "", errors);
  }
  return errors;
}

}  // namespace

ResourceInfo core_event_resource() {
  ResourceInfo info = make_kind({"", "v1", "events", "Event", "event", {"ev"}, {}}, "Event");
  info.strategy.counts_generation = false;
  info.columns = columns_event();
  info.name_in_columns = true;
  info.strategy.validate = validate_core;
  info.strategy.cells = core_cells;
  info.strategy.selectable_fields = {"involvedObject.kind",
                                     "involvedObject.namespace",
                                     "involvedObject.name",
                                     "involvedObject.uid",
                                     "involvedObject.apiVersion",
                                     "involvedObject.resourceVersion",
                                     "involvedObject.fieldPath",
                                     "reason",
                                     "reportingComponent",
                                     "source",
                                     "type"};
  info.strategy.field = core_field;
  return info;
}

ResourceInfo events_event_resource() {
  ResourceInfo info = make_kind({"events.k8s.io", "v1", "events", "Event", "event", {"ev"}, {}}, "EventsEvent");
  info.strategy.counts_generation = false;
  info.columns = columns_event();
  info.name_in_columns = true;
  info.strategy.validate = validate_events;
  info.strategy.validate_update = validate_events_update;
  info.strategy.cells = [](const Json& event, Time now) { return core_cells(to_core_event(event), now); };
  info.strategy.selectable_fields = {"regarding.kind",       "regarding.namespace",
                                     "regarding.name",       "regarding.uid",
                                     "regarding.apiVersion", "regarding.resourceVersion",
                                     "regarding.fieldPath",  "reason",
                                     "reportingController",  "type"};
  info.strategy.field = events_field;
  return info;
}

}  // namespace berth::apiserver
