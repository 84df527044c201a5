// Compiles the rules of a schema and runs them on objects.
#include "embedded/apiserver/schema/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_path.h"
#include "cel/program.h"
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
// A namespace of its own: the names of cel must not mix with those of other files.
namespace rules {
namespace {

using namespace cel;

using api::FieldErrors;

std::string rules_path(std::string_view path, std::size_t i) {
  return api::index_path(api::field_path(path, "x-kubernetes-validations"), i);
}

// The rule as kube-apiserver prints it, with the field names of its internal type.
Json rule_value(const Rule& rule) {
  return JsonObject{{"Rule", rule.rule},
                    {"Message", rule.message},
                    {"MessageExpression", rule.message_expression},
                    {"Reason", rule.reason.empty() ? Json() : Json(rule.reason)},
                    {"FieldPath", rule.field_path},
                    {"OptionalOldSelf", rule.optional_old_self ? Json(true) : Json()}};
}

bool has_line_break(std::string_view text) { return text.find_first_of("\n\r") != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

class RuleCompiler {
 public:
  RuleCompiler(Schema& schema, bool is_root, std::string_view path, FieldErrors& errors)
      : schema_(schema), self_(type_of_schema(schema, is_root)), path_(path), errors_(errors) {}

  void run() {
    for (std::size_t i = 0; i < schema_.rules.size(); ++i) {
      Rule& rule = schema_.rules[i];
      const std::string at = rules_path(path_, i);
      check_form(rule, at);
      if (trimmed(rule.rule).empty()) continue;
      rule.program = compile_one(rule, rule.rule, Kind::kBool, api::field_path(at, "rule"),
                                 "cel expression must evaluate to a bool");
      if (rule.message_expression.empty()) continue;
      rule.message_program =
          compile_one(rule, rule.message_expression, Kind::kString, api::field_path(at, "messageExpression"),
                      "messageExpression must evaluate to a string");
    }
  }

 private:
  void check_form(const Rule& rule, const std::string& at) {
    if (trimmed(rule.rule).empty())
      errors_.push_back(api::required(api::field_path(at, "rule"), "rule is not specified"));
    if (has_line_break(trimmed(rule.message))) {
      errors_.push_back(api::invalid_value(api::field_path(at, "message"), Json(rule.message),
                                           "message must not contain line breaks"));
    }
    if (has_line_break(trimmed(rule.rule)) && trimmed(rule.message).empty()) {
      errors_.push_back(
          api::required(api::field_path(at, "message"), "message must be specified if rule contains line breaks"));
    }
    static const std::vector<std::string_view> kReasons = {"FieldValueRequired", "FieldValueInvalid",
                                                           "FieldValueForbidden", "FieldValueDuplicate"};
    if (!rule.reason.empty() && std::find(kReasons.begin(), kReasons.end(), rule.reason) == kReasons.end()) {
      errors_.push_back(api::not_supported(api::field_path(at, "reason"), Json(rule.reason), kReasons));
    }
    if (!rule.field_path.empty()) check_field_path(rule, api::field_path(at, "fieldPath"));
  }

  void check_field_path(const Rule& rule, const std::string& at) {
    auto path = JsonPath::compile(rule.field_path);
    const Schema* schema = &schema_;
    if (path && path->is_plain()) {
      for (const std::string& name : path->names()) {
        auto it = schema->properties.find(name);
        schema = it != schema->properties.end() ? it->second.get() : schema->additional.get();
        if (schema == nullptr) break;
      }
    } else {
      schema = nullptr;
    }
    if (schema == nullptr) {
      errors_.push_back(api::invalid_value(at, Json(rule.field_path),
                                           "fieldPath must be a valid path: does not refer to a valid field"));
    }
  }

  std::shared_ptr<const Program> compile_one(const Rule& rule, std::string_view source, Kind wanted,
                                             const std::string& at, std::string_view wrong_type) {
    std::vector<Problem> problems;
    TypePtr old_self = rule.optional_old_self ? optional_type(self_) : self_;
    std::shared_ptr<Program> program = compile(source, self_, old_self, problems);
    if (!program) {
      errors_.push_back(api::invalid_value(at, rule_value(rule), "compilation failed: " + display(source, problems)));
    } else if (program->result->kind != wanted && program->result->kind != Kind::kDyn) {
      errors_.push_back(api::invalid_value(at, rule_value(rule), wrong_type));
      program = nullptr;
    }
    return program;
  }

  Schema& schema_;
  TypePtr self_;
  std::string path_;
  FieldErrors& errors_;
};

// Checks kube-apiserver's cost budgets, per rule and for all rules of a schema, assuming that every object and list
// has its maximum size.
class CostCheck {
 public:
  explicit CostCheck(FieldErrors& errors) : errors_(errors) {}

  void run(const Schema& root, const std::string& path) {
    walk(root, path, 1, true);
    if (total_ <= kSchemaLimit) return;
    std::stable_sort(costly_.begin(), costly_.end(), [](const Costly& a, const Costly& b) { return a.cost > b.cost; });
    constexpr std::size_t kShown = 4;  // the most expensive rules; the rest contribute little
    for (std::size_t i = 0; i < std::min(kShown, costly_.size()); ++i) {
      errors_.push_back(api::forbidden_field(
          costly_[i].path,
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"));
    }
    errors_.push_back(api::forbidden_field(
        path, exceeds("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", total_,
                      kSchemaLimit)));
  }

 private:
  static constexpr std::uint64_t kRuleLimit = 10'000'000, kSchemaLimit = 100'000'000;

  struct Costly {
    std::string path;
    std::uint64_t cost = 0;
  };

  static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    std::uint64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? kUnknownSize : out;
  }

  static std::string exceeds(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
    const std::uint64_t tenths = cost / (limit / 10);  // tenths of the limit
    std::string factor = tenths > 1000 ? "more than 100x" : fmt::format("{}.{}x", tenths / 10, tenths % 10);
    return fmt::format(
        "{} exceeds budget by factor of {} (try simplifying the rule, or adding maxItems, maxProperties, and "
        "maxLength where "
        "arrays, maps, and strings are declared)",
        what, factor);
  }

  // `count`: the maximum number of values of this schema in one object. `correlated`: an old value can be found for
  // each.
  void walk(const Schema& schema, const std::string& path, std::uint64_t count, bool correlated) {
    if (!schema.rules_below) return;
    for (std::size_t i = 0; i < schema.rules.size(); ++i)
      check(schema.rules[i], rules_path(path, i), count, correlated);
    for (const auto& [name, child] : schema.properties) {
      walk(*child, api::key_path(api::field_path(path, "properties"), name), count, correlated);
    }
    if (schema.items) {
      walk(*schema.items, api::field_path(path, "items"), times(count, max_entries(schema)),
           correlated && schema.list_type == ListType::kMap);
    }
    if (schema.additional) {
      walk(*schema.additional, api::field_path(path, "additionalProperties"), times(count, max_entries(schema)),
           correlated);
    }
  }

  void check(const Rule& rule, const std::string& path, std::uint64_t count, bool correlated) {
    if (!rule.program) return;
    const std::string at = api::field_path(path, "rule");
    if (!correlated && rule.program->uses_old_self()) {
      errors_.push_back(api::invalid_value(at, rule_value(rule),
                                           "oldSelf cannot be used on the uncorrelatable portion of the schema"));
    }
    std::uint64_t cost = times(rule.program->worst_cost, count);
    if (cost > kRuleLimit)
      errors_.push_back(api::forbidden_field(at, exceeds("estimated rule cost", cost, kRuleLimit)));
    total_ = total_ > kUnknownSize - cost ? kUnknownSize : total_ + cost;
    costly_.push_back({at, cost});
    if (!rule.message_program) return;
    cost = times(rule.message_program->worst_cost, count);
    if (cost <= kRuleLimit) return;
    errors_.push_back(api::forbidden_field(api::field_path(path, "messageExpression"),
                                           exceeds("estimated messageExpression cost", cost, kRuleLimit)));
  }

  FieldErrors& errors_;
  std::vector<Costly> costly_;
  std::uint64_t total_ = 0;
};

class RuleRunner {
 public:
  explicit RuleRunner(FieldErrors& errors) : errors_(errors) {}

  void walk(const Json& value, const Json* old, const Schema& schema, const std::string& path) {
    if (!schema.rules_below || value.is_null() || left_ < 0) return;
    if (old != nullptr && old->is_null()) old = nullptr;
    for (const Rule& rule : schema.rules) {
      if (left_ >= 0) run_rule(rule, value, old, schema, path);
    }
    if (value.is_array() && schema.items) items(value.get_array(), old, schema, path);
    if (value.is_object()) members(value.get_object(), old, schema, path);
  }

 private:
  void items(const JsonArray& list, const Json* old, const Schema& schema, const std::string& path) {
    MapItems old_items(old, schema);
    for (std::size_t i = 0; i < list.size(); ++i) {
      walk(list[i], old_items.take(list[i]), *schema.items, api::index_path(path, i));
    }
  }

  void members(const JsonObject& object, const Json* old, const Schema& schema, const std::string& path) {
    const JsonObject* before = old != nullptr && old->is_object() ? &old->get_object() : nullptr;
    for (const auto& [name, member] : object) {
      const Json* old_member = before != nullptr ? before->if_contains(name) : nullptr;
      if (auto it = schema.properties.find(std::string_view(name)); it != schema.properties.end()) {
        walk(member, old_member, *it->second, api::field_path(path, name));
      } else if (schema.additional) {
        walk(member, old_member, *schema.additional, api::key_path(path, name));
      }
    }
  }

  void run_rule(const Rule& rule, const Json& value, const Json* old, const Schema& schema, const std::string& path) {
    if (!rule.program) return;
    const bool transition = rule.program->uses_old_self();
    if (transition && old == nullptr && !rule.optional_old_self) return;
    const Value self = from_json(value, &schema);
    Value old_self = old != nullptr ? from_json(*old, &schema) : Value();
    if (rule.optional_old_self)
      old_self = old != nullptr ? Value(Optional{std::make_shared<const Value>(old_self)}) : Value(Optional{});
    Budget budget{std::min(Budget::kPerRule, left_)};
    const std::int64_t before = budget.left;
    Value result = cel::run(*rule.program, self, &old_self, budget);
    left_ -= before - budget.left;
    const auto* holds = result.as<bool>();
    if (holds != nullptr && *holds) return;
    // Ratcheting: an unchanged value stays valid, because it may be older than the rule.
    if (!transition && old != nullptr && json_equal(value, *old)) return;
    if (holds == nullptr) return report_failure(rule, result, schema, path);
    report(rule, value, self, old_self, schema, path);
  }

  static std::string name_of(const Rule& rule) {
    return std::string(trimmed(rule.message.empty() ? rule.rule : rule.message));
  }

  void report_failure(const Rule& rule, const Value& result, const Schema& schema, const std::string& path) {
    const auto* failed = result.as<Failure>();
    const std::string why = failed != nullptr ? *failed->message : "no such overload";
    std::string detail = fmt::format("{} evaluating rule: {}", why, name_of(rule));
    if (why.starts_with("no such overload")) {
      detail = fmt::format(
          "'{}': call arguments did not match a supported operator, function or macro signature for rule: {}", why,
          name_of(rule));
    } else if (why.starts_with("operation cancelled")) {
      detail = fmt::format("'{}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                           why, name_of(rule));
      left_ = -1;
    }
    errors_.push_back(api::invalid_value(shown(path), Json(berth::apiserver::type_name(schema.type)), detail));
  }

  static std::string shown(const std::string& path) { return path.empty() ? "<nil>" : path; }

  void report(const Rule& rule, const Json& value, const Value& self, const Value& old_self, const Schema& schema,
              const std::string& path) {
    const std::string text = message(rule, self, old_self);
    std::string at = path;
    if (!rule.field_path.empty()) {
      std::string_view below = rule.field_path;
      if (below.starts_with('.')) below.remove_prefix(1);
      at = below.starts_with('[') ? at + std::string(below) : api::field_path(at, below);
    }
    at = shown(at);
    const bool large = schema.type == SchemaType::kObject || schema.type == SchemaType::kArray;
    if (rule.reason == "FieldValueRequired") {
      errors_.push_back(api::required(at, text));
    } else if (rule.reason == "FieldValueForbidden") {
      errors_.push_back(api::forbidden_field(at, text));
    } else if (rule.reason == "FieldValueDuplicate") {
      errors_.push_back(api::duplicate(at, value));
    } else if (large) {
      errors_.push_back({api::FieldErrorType::kInvalid, at, "Invalid value: " + text});
    } else {
      errors_.push_back(api::invalid_value(at, value, text));
    }
  }

  std::string message(const Rule& rule, const Value& self, const Value& old_self) {
    if (rule.message_program) {
      Budget budget{std::min(Budget::kPerRule, left_)};
      const std::int64_t before = budget.left;
      Value made = cel::run(*rule.message_program, self, &old_self, budget);
      left_ -= before - budget.left;
      const auto* text = made.as<Text>();
      if (text != nullptr && !trimmed(text->view).empty() && !has_line_break(text->view))
        return std::string(trimmed(text->view));
    }
    if (!trimmed(rule.message).empty()) return std::string(trimmed(rule.message));
    return "failed rule: " + std::string(trimmed(rule.rule));
  }

  FieldErrors& errors_;
  std::int64_t left_ = Budget::kPerObject;
};

}  // namespace
}  // namespace rules

void compile_rules(Schema& schema, bool is_root, std::string_view path, api::FieldErrors& errors) {
  if (!schema.rules.empty()) rules::RuleCompiler(schema, is_root, path, errors).run();
}

void check_costs(const Schema& root, std::string_view path, api::FieldErrors& errors) {
  rules::CostCheck(errors).run(root, std::string(path));
}

void run_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path,
               api::FieldErrors& errors) {
  rules::RuleRunner(errors).walk(object, old, schema, std::string(path));
}

api::FieldErrors validate_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path) {
  api::FieldErrors errors;
  run_rules(object, old, schema, path, errors);
  return errors;
}

}  // namespace berth::apiserver
