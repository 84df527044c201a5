// Checks of parts that many kinds share. Each function appends its errors, with the texts of Kubernetes.
#pragma once

#include <string>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api {

// Checks keys and values. Errors name `path` itself, as in Kubernetes.
void check_labels(const JsonObject& labels, const std::string& path, FieldErrors& errors);
// Checks keys, and that keys and values have at most 256 KiB together.
void check_annotations(const JsonObject& annotations, const std::string& path, FieldErrors& errors);
// metav1.LabelSelector.
void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors);
// An array of core/v1 Toleration.
void check_tolerations(const JsonArray& tolerations, const std::string& path, FieldErrors& errors);
// An array of core/v1 Taint of a flavor: effects must be known, and pairs of key and effect unique.
void check_taints(const JsonArray& taints, const std::string& path, FieldErrors& errors);
// Appends "field is immutable" at `path` unless both are equal; an absent member equals null.
void check_unchanged(const Json* now, const Json* old, const std::string& path, FieldErrors& errors);

}  // namespace berth::api
