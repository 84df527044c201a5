#include "jobs/kinds/read/read_kind.h"

#include <algorithm>
#include <utility>

#include "api/config/fields.h"
#include "api/config/frameworks.h"
#include "api/field_error.h"
#include "base/yaml.h"
#include "jobs/kinds/pod_sets.h"
#include "jobs/kinds/read/hook_list.h"

namespace berth::jobs::kinds {
namespace {

using api::config::Fields;
using api::config::Findings;
using cel::Kind;

// The type of the value at a path below a type; null: any.
cel::TypePtr type_below(cel::TypePtr type, const Path& path) {
  for (const auto& name : path) {
    if (!type) return nullptr;
    if (type->kind == Kind::kObject) {
      type = cel::field_type(*type, name);
    } else {
      type = type->kind == Kind::kMap ? type->element : nullptr;
    }
  }
  return type;
}

// Kinds that have code of their own: a description beside it would manage each job twice.
constexpr std::pair<std::string_view, std::string_view> kHaveCode[] = {
    {"batch", "Job"}, {"apps", "Deployment"}, {"apps", "StatefulSet"}, {"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}};

bool has_code(const JobKindSpec& kind) {
  return std::ranges::any_of(
      kHaveCode, [&](const auto& one) { return one.first == kind.resource.group && one.second == kind.kind; });
}

class Reader {
 public:
  Reader(Findings& findings, cel::TypePtr self, SchemaCheck check)
      : findings_(findings), self_(std::move(self)), check_(check) {}

  std::shared_ptr<JobKindSpec> read(const Json& document, std::string_view origin) {
    auto kind = std::make_shared<JobKindSpec>();
    kind->origin = origin;
    Fields top(document, "", findings_);
    read_header(top);
    Fields spec = top.object("spec");
    top.done();
    read_names(spec, *kind);
    read_path(spec, "suspend", kind->suspend, self_, Kind::kBool, true);
    read_pod_sets(spec, *kind);
    read_expressions(spec, *kind);
    for (Fields& one : spec.objects("validations")) read_validation(one, *kind);
    for (Fields& one : spec.objects("lookups")) kind->lookups.push_back(read_lookup(one));
    spec.flag("elastic", kind->elastic);
    read_hook(spec, *kind);
    read_operator(spec.object("operator"), *kind);
    read_dispatch(spec.object("multikueue"), *kind);
    spec.done();
    return kind;
  }

 private:
  void read_header(Fields& top) {
    std::string version, kind;
    top.text("apiVersion", version);
    top.text("kind", kind);
    if (version != kDescriptionVersion)
      top.expected("apiVersion", Json(version), "\"" + std::string(kDescriptionVersion) + "\"");
    if (kind != kDescriptionKind) top.expected("kind", Json(kind), "\"" + std::string(kDescriptionKind) + "\"");
    std::string name;
    Fields metadata = top.object("metadata");
    metadata.text("name", name);
    metadata.done();
  }

  void read_names(Fields& spec, JobKindSpec& kind) {
    required_text(spec, "group", kind.resource.group);
    required_text(spec, "version", kind.resource.version);
    required_text(spec, "kind", kind.kind);
    kind.resource.resource = kind.lower_kind() + "s";
    spec.text("resource", kind.resource.resource);
    read_framework(spec, kind);
    kind.webhook_name = "v" + kind.lower_kind() + ".kb.io";
    if (const auto broken = api::check_dns_subdomain(kind.resource.group);
        !broken.empty() && !kind.resource.group.empty())
      spec.expected("group", Json(kind.resource.group), "a group of the API: " + broken);
    if (const auto broken = api::check_dns_label(kind.resource.version);
        !broken.empty() && !kind.resource.version.empty())
      spec.expected("version", Json(kind.resource.version), "a version of the API: " + broken);
    if (const auto broken = api::check_dns_label(kind.lower_kind()); !broken.empty() && !kind.kind.empty())
      spec.expected("kind", Json(kind.kind), "a kind of the API: " + broken);
    if (const auto broken = api::check_dns_label(kind.resource.resource); !broken.empty())
      spec.expected("resource", Json(kind.resource.resource), "the plural name of the resource: " + broken);
    if (has_code(kind))
      spec.error("kind", kind.kind + " of " + kind.resource.group + " cannot be described: Berth has code for it");
  }

  void read_framework(Fields& spec, JobKindSpec& kind) {
    const std::string own = kind.resource.group + "/" + kind.lower_kind();
    kind.framework = own;
    spec.text("framework", kind.framework);
    if (kind.framework != own && api::config::is_framework(kind.framework))
      spec.expected("framework", Json(kind.framework), "a name of its own, such as " + own + ": another kind has this");
  }

  void required_text(Fields& fields, std::string_view name, std::string& out) {
    fields.text(name, out);
    if (out.empty()) fields.error(name, "required");
  }

  // A path of names. `base`: the type that it begins at; the value there must be a `wanted`.
  void read_path(Fields& fields, std::string_view name, Path& out, const cel::TypePtr& base, Kind wanted,
                 bool required = false) {
    std::string text;
    fields.text(name, text);
    if (text.empty()) {
      if (required) fields.error(name, "required: the path of a field of the job, such as spec.suspend");
      return;
    }
    auto path = parse_path(text);
    if (!path) return fields.expected(name, Json(text), path.error().message);
    out = std::move(*path);
    check_path_type(fields, name, text, out, base, wanted);
  }

  void check_path_type(Fields& fields, std::string_view name, const std::string& text, const Path& path,
                       const cel::TypePtr& base, Kind wanted) {
    if (!base) return;
    cel::TypePtr type = base;
    for (std::size_t i = 0; i < path.size() && type && type->kind != Kind::kDyn; ++i) {
      type = type_below(type, {path[i]});
      if (!type)
        return fields.expected(name, Json(text),
                               "a path that the schema of the kind has; " + path[i] + " is not there");
    }
    if (!type || type->kind == Kind::kDyn || wanted == Kind::kDyn || type->kind == wanted) return;
    if (wanted == Kind::kObject && type->kind == Kind::kMap) return;
    fields.expected(
        name, Json(text),
        "the path of a " + cel::to_string(*cel::basic_type(wanted)) + "; the schema has a " + cel::to_string(*type));
  }

  // Returns whether there is one, right or wrong.
  bool read_expression(Fields& fields, std::string_view name, Expression& out, Kind wanted, UsedIn where = UsedIn::kJob,
                       bool required = false, const cel::TypePtr& item = nullptr) {
    const Json* value = fields.take(name);
    if (value != nullptr && !value->is_null() && !value->is_string()) {
      fields.expected(name, *value, "a CEL expression as a text, in quotes");
      return true;
    }
    const std::string source(value != nullptr && value->is_string() ? view(value->get_string()) : std::string_view());
    if (source.empty()) {
      if (required) fields.error(name, "required: a CEL expression");
      return false;
    }
    const bool typed = check_ == SchemaCheck::kAll;
    auto compiled = typed ? Expression::compile(source, wanted, where, self_, item ? item : self_)
                          : Expression::compile(source, wanted, where);
    if (compiled) {
      out = std::move(*compiled);
    } else {
      fields.expected(name, Json(source), compiled.error().message);
    }
    return true;
  }

  void read_pod_sets(Fields& spec, JobKindSpec& kind) {
    auto entries = spec.objects("podSets");
    if (entries.size() > kMaxPodSets) spec.error("podSets", "at most " + std::to_string(kMaxPodSets) + " entries");
    for (Fields& entry : entries) kind.pod_sets.push_back(read_pod_set(entry));
  }

  PodSetRule read_pod_set(Fields& entry) {
    PodSetRule rule;
    read_path(entry, "items", rule.items, self_, Kind::kList);
    read_path(entry, "item", rule.item, self_, Kind::kDyn);
    if (!rule.items.empty() && !rule.item.empty()) entry.error("item", "give either item or items");
    cel::TypePtr item = type_below(self_, rule.items.empty() ? rule.item : rule.items);
    if (!rule.items.empty() && item) item = item->kind == Kind::kList ? item->element : nullptr;
    entry.text("name", rule.name);
    const bool from = read_expression(entry, "nameFrom", rule.name_from, Kind::kString, UsedIn::kPodSet, false, item);
    if (rule.name.empty() != from) entry.error("name", "give either name or nameFrom");
    if (const auto broken = api::check_dns_label(rule.name); !rule.name.empty() && !broken.empty())
      entry.expected("name", Json(rule.name), "the name of a pod set: " + broken);
    if (!rule.name.empty() && !rule.items.empty()) entry.error("name", "the pod sets of a list need nameFrom");
    read_path(entry, "template", rule.pod_template, item, Kind::kObject, true);
    entry.text("field", rule.field);
    read_path(entry, "countField", rule.count_field, item, Kind::kInt);
    read_expression(entry, "when", rule.when, Kind::kBool, UsedIn::kPodSet, false, item);
    read_expression(entry, "count", rule.count, Kind::kInt, UsedIn::kPodSet, false, item);
    read_expression(entry, "minCount", rule.min_count, Kind::kInt, UsedIn::kPodSet, false, item);
    read_expression(entry, "reclaimable", rule.reclaimable, Kind::kInt, UsedIn::kPodSet, false, item);
    read_label(entry, "podIndexLabel", rule.pod_index_label);
    read_label(entry, "subGroupIndexLabel", rule.sub_group_index_label);
    read_expression(entry, "subGroupCount", rule.sub_group_count, Kind::kInt, UsedIn::kPodSet, false, item);
    check_independent_of_status(entry, rule);
    if (rule.min_count && rule.count_field.empty())
      entry.error("countField", "required with minCount: the field that gets the admitted count");
    entry.done();
    return rule;
  }

  void read_label(Fields& fields, std::string_view name, std::string& out) {
    fields.text(name, out);
    if (out.empty()) return;
    if (const auto broken = api::check_qualified_name(out); !broken.empty())
      fields.expected(name, Json(out), "the key of a label: " + broken);
  }

  // Pod sets that change with the status would stop the job that they describe, and start it again.
  static void check_independent_of_status(Fields& entry, const PodSetRule& rule) {
    const bool item_is_job = rule.items.empty() && rule.item.empty();
    for (const auto& [name, expression] : {std::pair<std::string_view, const Expression&>("nameFrom", rule.name_from),
                                           {"when", rule.when},
                                           {"count", rule.count},
                                           {"minCount", rule.min_count},
                                           {"subGroupCount", rule.sub_group_count}}) {
      if (expression.reads_status(item_is_job))
        entry.error(name, "must not read the status: the job would be stopped whenever its pod sets change");
    }
  }

  void read_expressions(Fields& spec, JobKindSpec& kind) {
    read_expression(spec, "priorityClass", kind.priority_class, Kind::kString);
    read_expression(spec, "finished", kind.finished, Kind::kBool, UsedIn::kJob, true);
    read_expression(spec, "succeeded", kind.succeeded, Kind::kBool);
    read_expression(spec, "message", kind.message, Kind::kString);
    read_expression(spec, "active", kind.active, Kind::kBool, UsedIn::kJob, true);
    read_expression(spec, "ready", kind.ready, Kind::kBool, UsedIn::kJob, true);
    read_expression(spec, "skip", kind.skip, Kind::kBool);
    read_expression(spec, "onHold", kind.on_hold, Kind::kBool);
  }

  void read_validation(Fields& one, JobKindSpec& kind) {
    Validation validation;
    read_expression(one, "rule", validation.rule, Kind::kBool, UsedIn::kValidation, true);
    read_expression(one, "message", validation.message, Kind::kString, UsedIn::kValidation, true);
    required_text(one, "field", validation.field);
    one.flag("updates", validation.updates);
    one.done();
    kind.validations.push_back(std::move(validation));
  }

  Lookup read_lookup(Fields& one) {
    Lookup lookup;
    required_text(one, "group", lookup.resource.group);
    required_text(one, "version", lookup.resource.version);
    required_text(one, "resource", lookup.resource.resource);
    one.flag("owned", lookup.owned);
    one.done();
    return lookup;
  }

  void read_operator(Fields fields, JobKindSpec& kind) {
    OperatorRule& rule = kind.pretend;
    const bool reports = read_expression(fields, "status", rule.status, Kind::kMap, UsedIn::kOperator);
    read_label(fields, "podIndexLabel", rule.pod_index_label);
    fields.texts("decides", rule.decides);
    check_decides(fields, kind);
    fields.flag("serves", rule.serves);
    // The type of `item` differs between the pod sets.
    read_expression(fields, "restartPolicy", rule.restart_policy, Kind::kString, UsedIn::kPodSet, false,
                    cel::basic_type(Kind::kDyn));
    if (fields.present() && !reports) fields.error("status", "required: a CEL expression");
    fields.done();
  }

  // An older version of the kind that lacks such a field is managed without it.
  void read_dispatch(Fields fields, JobKindSpec& kind) {
    DispatchRule& rule = kind.dispatch;
    const cel::TypePtr self = check_ == SchemaCheck::kAll ? self_ : nullptr;
    read_path(fields, "managedBy", rule.managed_by, self, Kind::kString);
    if (fields.present() && rule.managed_by.empty())
      fields.error("managedBy", "required: the path of a field of the job, such as spec.managedBy");
    fields.text("operator", rule.operator_name);
    read_paths(fields, "drop", rule.dropped, self, true);
    read_paths(fields, "sync", rule.synced, self);
    fields.done();
  }

  void read_paths(Fields& fields, std::string_view name, std::vector<Path>& out, const cel::TypePtr& base,
                  bool or_annotations = false) {
    std::vector<std::string> texts;
    fields.texts(name, texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string at = api::index_path(name, i);
      auto path = parse_path(texts[i]);
      if (or_annotations && path && path->size() == 3 && path->at(0) == "metadata" && path->at(1) == "annotations") {
        out.push_back(std::move(*path));
        continue;
      }
      if (!path || path->empty() || path->front() != "spec" || path->size() < 2) {
        fields.expected(at, Json(texts[i]), path ? "the path of a field below spec" : path.error().message);
        continue;
      }
      check_path_type(fields, at, texts[i], *path, base, Kind::kDyn);
      out.push_back(std::move(*path));
    }
  }

  // Hooks and nameFrom may give pod sets any names.
  static void check_decides(Fields& fields, const JobKindSpec& kind) {
    if (kind.hook != nullptr) return;
    std::string names;
    for (const PodSetRule& one : kind.pod_sets) {
      if (one.name.empty()) return;
      names.append(names.empty() ? "" : ", ").append(one.name);
    }
    const auto& decides = kind.pretend.decides;
    for (std::size_t i = 0; i < decides.size(); ++i) {
      if (std::ranges::none_of(kind.pod_sets, [&](const PodSetRule& one) { return one.name == decides[i]; }))
        fields.expected(api::index_path("decides", i), Json(decides[i]), "the name of a pod set: " + names);
    }
  }

  void read_hook(Fields& spec, JobKindSpec& kind) {
    std::string name;
    spec.text("hook", name);
    if (!name.empty()) {
      kind.hook = find_hook(name);
      if (kind.hook == nullptr) spec.expected("hook", Json(name), "one of " + hook_names());
    }
    if (kind.pod_sets.empty() && kind.hook == nullptr) spec.error("podSets", "required: at least one pod set");
  }

  Findings& findings_;
  cel::TypePtr self_;
  SchemaCheck check_;
};

// "origin:12: spec.podSets[0].count: expected ..."
std::string with_lines(const Findings& findings, std::string_view yaml, std::string_view origin) {
  std::string out;
  for (const auto& error : findings.errors) {
    const auto line = yaml_line(yaml, std::string_view(error).substr(0, error.find(": ")));
    out.append(out.empty() ? "" : "\n").append(origin).append(":");
    out.append(line ? std::to_string(*line) + ":" : "").append(" ").append(error);
  }
  return out;
}

}  // namespace

Result<JobKindPtr> read_job_kind(std::string_view yaml, std::string_view origin, const cel::TypePtr& self,
                                 SchemaCheck check) {
  constexpr std::size_t kMaxBytes = 256u << 10;
  auto documents = parse_yaml(yaml, {.max_bytes = kMaxBytes, .max_depth = 64, .max_nodes = 20'000});
  if (!documents) return fail(std::string(origin) + ": " + documents.error().message);
  if (documents->size() != 1)
    return fail(std::string(origin) + ": has " + std::to_string(documents->size()) +
                " documents, expected one JobKind");
  Findings findings;
  auto kind = Reader(findings, self, check).read(documents->front(), origin);
  if (!findings.errors.empty()) return fail(with_lines(findings, yaml, origin));
  kind->text = yaml;
  return JobKindPtr(std::move(kind));
}

}  // namespace berth::jobs::kinds
