// Checks of the parts that many kinds share. Each appends what it finds; texts are those of Kubernetes.
#pragma once

#include <string>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api {

// Keys and values. Errors name `path` itself, as Kubernetes does.
void check_labels(const JsonObject& labels, const std::string& path, FieldErrors& errors);
// Keys, and at most 256 KiB in all.
void check_annotations(const JsonObject& annotations, const std::string& path, FieldErrors& errors);
// metav1.LabelSelector.
void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors);
// An array of core/v1 Toleration.
void check_tolerations(const JsonArray& tolerations, const std::string& path, FieldErrors& errors);
// An array of core/v1 Taint as flavors have them: known effects, unique by key and effect.
void check_taints(const JsonArray& taints, const std::string& path, FieldErrors& errors);
// "field is immutable" at `path` unless both are equal; a missing member equals null.
void check_unchanged(const Json* now, const Json* old, const std::string& path, FieldErrors& errors);

}  // namespace berth::api
