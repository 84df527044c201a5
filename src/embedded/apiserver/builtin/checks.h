// Checks that the validations of several built-in kinds share. Each appends its errors to `errors`.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

using api::FieldErrors;

// "must be greater than or equal to 0"; only when the member is present.
void check_non_negative(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors);
// "must be greater than 0"; only when the member is present.
void check_positive(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors);
// "must be between 1 and 65535, inclusive"
void check_port(std::int64_t port, const std::string& path, FieldErrors& errors);
// A number or percentage of pods, when the member is present: a non-negative number, or a text such as "25%".
void check_share(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors);
// The value must be one of `allowed`; absent or empty is an error only when `is_required`.
void check_enum(const Json& owner, std::string_view key, std::string_view path,
                std::initializer_list<std::string_view> allowed, bool is_required, FieldErrors& errors);
// The member must not be empty. Returns whether it is not.
bool check_required(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors);
// Checks the text, when it is present, with one of api::check_*.
void check_text(const Json& owner, std::string_view key, std::string_view path,
                const std::function<std::string(std::string_view)>& rule, FieldErrors& errors);
// Checks keys and values of labels at `path`.
void check_labels(const JsonObject& labels, const std::string& path, FieldErrors& errors);
// Checks a metav1.LabelSelector.
void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors);
// Checks a key of data or of environment files: alphanumeric, '-', '_' and '.'. Returns the error; empty when valid.
std::string check_config_key(std::string_view key);
// "field is immutable" when the members differ.
void check_immutable(const Json& object, const Json& old, std::string_view key, std::string_view path,
                     FieldErrors& errors);

// The member, or a null value.
const Json& member_or_null(const Json& owner, std::string_view key);
// Whether the members are equal; absent equals null.
bool same_member(const Json& a, const Json& b, std::string_view key);
// Gives `to` the member of `from`, or removes it where `from` has none. Leaves what is no object alone.
void copy_member(Json& to, const Json& from, std::string_view key);

}  // namespace berth::apiserver
