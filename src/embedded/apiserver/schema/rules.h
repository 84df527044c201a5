// x-kubernetes-validations in schemas: compiling them, estimating their cost, and running them.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
#pragma once

#include <string>
#include <string_view>

#include "api/field_error.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// Compiles the node's own rules, whose `self` is a value of this node. Errors are those that kube-apiserver returns
// for a rule that does not compile, at `path`.x-kubernetes-validations[i].rule.
void compile_rules(Schema& schema, bool is_root, std::string_view path, api::FieldErrors& errors);

// Reports rules whose worst-case cost, within the limits of the schema, exceeds kube-apiserver's budget.
void check_costs(const Schema& root, std::string_view path, api::FieldErrors& errors);

// Runs all rules. Old values are matched through objects, maps and lists of type map. See validate_rules.
void run_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path,
               api::FieldErrors& errors);

}  // namespace berth::apiserver
