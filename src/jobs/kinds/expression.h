// CEL expressions of a description, and what they are evaluated on. https://kubernetes.io/docs/reference/using-api/cel/
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "cel/program.h"

namespace berth::jobs::kinds {

// What an expression can name; which of them depends on its place.
//   self        the job
//   conditions  the conditions in status.conditions whose status is "True", by type
//   item        the item of a pod set: an entry of its list or its object; the job itself when it has neither
//   index       the index of the item in its list, otherwise 0
//   oldSelf     the job before an update; null for a new one
//   pods        the pods of the job by pod set: {main: {count, active, ready, succeeded, failed}}
//   phase       the phase of the job: "Suspended", "Running", "Succeeded" or "Failed"
enum class UsedIn {
  kJob,         // self, conditions
  kPodSet,      // the same, item and index
  kValidation,  // the same as kJob, and oldSelf
  kOperator     // the same as kJob, pods and phase
};

class Scope {
 public:
  explicit Scope(const Json& job) : job_(&job), item_(&job) {}
  Scope(const Json& job, const Json& item, std::size_t index) : job_(&job), item_(&item), index_(index) {}
  Scope& with_old(const Json& old) {
    old_ = &old;
    return *this;
  }
  Scope& with_pods(const Json& pods, std::string_view phase) {
    pods_ = &pods;
    phase_ = phase;
    return *this;
  }

 private:
  friend class Expression;
  const Json *job_, *item_, *old_ = nullptr, *pods_ = nullptr;
  std::string_view phase_;
  std::size_t index_ = 0;
};

// A compiled expression; empty when the description does not have it.
class Expression {
 public:
  // The most that one evaluation may cost, in the units of CEL (about one per step). Bounds the time of one evaluation
  // to about a millisecond.
  static constexpr std::int64_t kBudget = 50'000;

  Expression() = default;
  // `self`: the type of the job; null: any. Fails when the source does not compile, names what its place does not have,
  // or its type is certainly not `wanted`; the message says where. kDyn: any type.
  static Result<Expression> compile(std::string source, cel::Kind wanted, UsedIn where,
                                    const cel::TypePtr& self = nullptr, const cel::TypePtr& item = nullptr);

  explicit operator bool() const { return program_ != nullptr; }
  const std::string& source() const { return source_; }
  std::string shown() const;  // in one line, cut when it is long
  // Whether it depends on the status of the job: self.status, the conditions, pods or phase. `item_is_job`: so does
  // item.status.
  bool reads_status(bool item_is_job) const;

  // Errors: the expression fails (a missing field, no such key, the budget), or its value has another type. The message
  // names the expression.
  Result<bool> truth(const Scope& scope) const;
  Result<std::int64_t> number(const Scope& scope) const;
  Result<std::string> text(const Scope& scope) const;
  Result<Json> json(const Scope& scope) const;

 private:
  Result<cel::Value> value(const Scope& scope) const;
  std::string failure(std::string_view why) const;

  std::string source_;
  std::shared_ptr<const cel::Program> program_;
};

}  // namespace berth::jobs::kinds
