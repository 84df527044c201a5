#include "jobs/kinds/expression.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"

namespace berth::jobs::kinds {
namespace {

// The slots of the variables, in the order of compile().
enum Slot : int { kSelf, kItem, kIndex, kConditions, kOldSelf, kPods, kPhase, kSlots };

constexpr std::string_view kNames[kSlots] = {"self", "item", "index", "conditions", "oldSelf", "pods", "phase"};

bool knows(UsedIn where, Slot slot) {
  switch (slot) {
    case kItem:
    case kIndex:
      return where == UsedIn::kPodSet;
    case kOldSelf:
      return where == UsedIn::kValidation;
    case kPods:
    case kPhase:
      return where == UsedIn::kOperator;
    default:
      return true;
  }
}

// The first variable that the program names and its place does not have; "" when there is none.
std::string unknown_variable(const cel::Program& program, UsedIn where) {
  std::string known, unknown;
  for (int i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (knows(where, slot)) {
      known.append(known.empty() ? "" : ", ").append(kNames[i]);
    } else if (unknown.empty() && program.uses(slot)) {
      unknown = kNames[i];
    }
  }
  return unknown.empty() ? "" : "a CEL expression of " + known + ", which are known here; found " + unknown;
}

// The expression in one line, cut when it is long.
std::string in_one_line(std::string_view source) {
  constexpr std::size_t kShown = 200;
  std::string out;
  for (const char c : source) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out.size() <= kShown ? out : std::string(cut_text(out, kShown)) + "...";
}

// "line 1, column 7: undeclared reference"
std::string reported(std::string_view source, const std::vector<cel::Problem>& problems) {
  std::string out;
  for (const auto& problem : problems)
    out.append(out.empty() ? "" : "; ").append(describe_position(source, problem.at) + ": " + problem.message);
  return out;
}

cel::Value text_view(std::string_view text) { return cel::Text{nullptr, text}; }

cel::Value true_conditions(const Json& job) {
  auto entries = std::make_shared<std::vector<std::pair<cel::Value, cel::Value>>>();
  for (const Json& condition : array_at(job, {"status", "conditions"})) {
    if (string_at(condition, {"status"}) == "True")
      entries->emplace_back(text_view(string_at(condition, {"type"})), cel::from_json(condition, nullptr));
  }
  return cel::Map{std::move(entries)};
}

std::string_view name_of(cel::Kind kind) {
  switch (kind) {
    case cel::Kind::kBool:
      return "bool";
    case cel::Kind::kInt:
      return "int";
    case cel::Kind::kString:
      return "string";
    default:
      return "map";
  }
}

// Whether the expression or a part of it is the member "status" of a variable in one of these slots.
bool selects_status(const cel::Expr& expr, std::uint64_t slots) {
  using Kind = cel::Expr::Kind;
  const auto of_slots = [&](const cel::Expr& base) {
    return base.kind == Kind::kVariable && base.slot >= 0 && base.slot < kSlots && (slots >> base.slot & 1U) != 0;
  };
  if ((expr.kind == Kind::kSelect || expr.kind == Kind::kHas) && expr.name == "status" && of_slots(*expr.args[0]))
    return true;
  if (expr.kind == Kind::kIndex && of_slots(*expr.args[0])) {
    const auto* key = expr.args[1]->literal.as<cel::Text>();
    if (key == nullptr || key->view == "status") return true;  // a computed key may be "status"
  }
  return std::ranges::any_of(expr.args, [&](const auto& arg) { return selects_status(*arg, slots); });
}

}  // namespace

bool Expression::reads_status(bool item_is_job) const {
  if (!program_) return false;
  const std::uint64_t jobs = std::uint64_t{1} << kSelf | (item_is_job ? std::uint64_t{1} << kItem : 0);
  return program_->uses(kConditions) || program_->uses(kPods) || program_->uses(kPhase) ||
         selects_status(*program_->root, jobs);
}

Result<Expression> Expression::compile(std::string source, cel::Kind wanted, UsedIn where, const cel::TypePtr& self,
                                       const cel::TypePtr& item) {
  const auto dyn = cel::basic_type(cel::Kind::kDyn);
  const auto any_map = cel::map_type(cel::basic_type(cel::Kind::kString), dyn);
  const cel::TypePtr types[kSlots] = {self ? self : dyn, item ? item : dyn, cel::basic_type(cel::Kind::kInt),   any_map,
                                      self ? self : dyn, any_map,           cel::basic_type(cel::Kind::kString)};
  std::array<cel::Variable, kSlots> variables;
  for (int i = 0; i < kSlots; ++i) variables[i] = cel::Variable{std::string(kNames[i]), types[i]};
  std::vector<cel::Problem> problems;
  Expression out;
  const auto program = cel::compile(source, variables, problems);
  if (!program) return fail("a CEL expression: " + reported(source, problems));
  if (auto unknown = unknown_variable(*program, where); !unknown.empty()) return fail(std::move(unknown));
  const cel::Kind kind = program->result->kind;
  const bool fits = kind == wanted || (wanted == cel::Kind::kMap && kind == cel::Kind::kObject);
  if (wanted != cel::Kind::kDyn && kind != cel::Kind::kDyn && !fits)
    return fail("a CEL expression of type " + std::string(name_of(wanted)) + ", found one of type " +
                cel::to_string(*program->result) + ": " + in_one_line(source));
  out.source_ = std::move(source);
  out.program_ = program;
  return out;
}

std::string Expression::shown() const { return in_one_line(source_); }

std::string Expression::failure(std::string_view why) const {
  return "the expression \"" + shown() + "\" fails: " + std::string(why);
}

Result<cel::Value> Expression::value(const Scope& scope) const {
  std::array<cel::Value, kSlots> values;
  const auto wants = [&](Slot slot) { return program_->uses(slot); };
  if (wants(kSelf)) values[kSelf] = cel::from_json(*scope.job_, nullptr);
  if (wants(kItem)) values[kItem] = cel::from_json(*scope.item_, nullptr);
  if (wants(kIndex)) values[kIndex] = static_cast<std::int64_t>(scope.index_);
  if (wants(kConditions)) values[kConditions] = true_conditions(*scope.job_);
  if (wants(kOldSelf) && scope.old_ != nullptr) values[kOldSelf] = cel::from_json(*scope.old_, nullptr);
  static const Json kNothing = JsonObject();
  if (wants(kPods)) values[kPods] = cel::from_json(scope.pods_ != nullptr ? *scope.pods_ : kNothing, nullptr);
  if (wants(kPhase)) values[kPhase] = text_view(scope.phase_);
  cel::Budget budget{kBudget};
  cel::Value value = cel::run(*program_, values, budget);
  if (const auto* failed = value.as<cel::Failure>()) return fail(failure(*failed->message));
  return value;
}

Result<bool> Expression::truth(const Scope& scope) const {
  const auto got = value(scope);
  if (!got) return tl::unexpected(got.error());
  if (const auto* truth = got->as<bool>()) return *truth;
  return fail(failure("its value is no bool but " + std::string(cel::type_name(*got))));
}

Result<std::int64_t> Expression::number(const Scope& scope) const {
  const auto got = value(scope);
  if (!got) return tl::unexpected(got.error());
  if (const auto* number = got->as<std::int64_t>()) return *number;
  return fail(failure("its value is no int but " + std::string(cel::type_name(*got))));
}

Result<std::string> Expression::text(const Scope& scope) const {
  const auto got = value(scope);
  if (!got) return tl::unexpected(got.error());
  if (const auto* text = got->as<cel::Text>()) return std::string(text->view);
  return fail(failure("its value is no string but " + std::string(cel::type_name(*got))));
}

Result<Json> Expression::json(const Scope& scope) const {
  const auto got = value(scope);
  if (!got) return tl::unexpected(got.error());
  auto json = cel::to_json(*got);
  return json ? json : fail(failure(json.error().message));
}

}  // namespace berth::jobs::kinds
