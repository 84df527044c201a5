// x-kubernetes-validations as parts of schemas: compiling them, what they may cost, and running them.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
#pragma once

#include <string>
#include <string_view>

#include "api/field_error.h"
#include "apiserver/schema/schema.h"

namespace berth::apiserver::cel {

// Sets the programs of the node's own rules, whose `self` is a value of this node. Errors are those a server
// answers for a rule that does not compile: at `path`.x-kubernetes-validations[i].rule.
void compile_rules(Schema& schema, bool is_root, std::string_view path, api::FieldErrors& errors);

// Refuses rules whose worst case, by the limits the schema sets, is above a server's budget.
void check_costs(const Schema& root, std::string_view path, api::FieldErrors& errors);

// Runs all rules; the old value is found through objects, maps and lists of type map. See validate_rules.
void run_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path,
               api::FieldErrors& errors);

}  // namespace berth::apiserver::cel
