// ConfigMap, Secret and ServiceAccount.
#include <fmt/format.h>

#include <set>

#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"

namespace berth::apiserver {
namespace {

constexpr std::size_t kMaxDataBytes = 1 << 20;  // limit for all values of one ConfigMap or Secret together

std::size_t base64_size(std::string_view text) {
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() / 4 * 3 - padding;
}

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kAlphabet[group >> (18 - 6 * k) & 63U];
    }
  }
  return text;
}

std::string_view text_of(const Json& value) {
  return value.is_string() ? view(value.get_string()) : std::string_view();
}

void check_data_keys(const JsonObject& data, std::string_view path, FieldErrors& errors) {
  for (const auto& member : data) {
    std::string_view key = member.key();
    if (std::string broken = check_config_key(key); !broken.empty()) {
      errors.push_back(api::invalid_value(api::key_path(path, key), Json(member.key()), broken));
    }
  }
}

FieldErrors validate_config_map(const Json& object, const Lookup&) {
  FieldErrors errors;
  const JsonObject& data = object_at(object, {"data"});
  const JsonObject& binary = object_at(object, {"binaryData"});
  check_data_keys(data, "data", errors);
  check_data_keys(binary, "binaryData", errors);
  std::size_t total = 0;
  for (const auto& member : data) {
    total += text_of(member.value()).size();
    if (binary.contains(member.key())) {
      errors.push_back(api::invalid_value(api::key_path("data", member.key()), Json(member.key()),
                                          "duplicate of key present in binaryData"));
    }
  }
  for (const auto& member : binary) total += base64_size(text_of(member.value()));
  if (total > kMaxDataBytes) errors.push_back(api::too_long("[]", kMaxDataBytes));
  return errors;
}

// Enforces `immutable` of ConfigMaps and Secrets.
FieldErrors validate_data_update(const Json& object, const Json& old, std::initializer_list<std::string_view> fields) {
  FieldErrors errors;
  if (!bool_at(old, {"immutable"})) return errors;
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  if (!bool_at(object, {"immutable"})) errors.push_back(api::forbidden_field("immutable", kWhy));
  for (std::string_view field : fields) {
    if (!same_member(object, old, field)) errors.push_back(api::forbidden_field(std::string(field), kWhy));
  }
  return errors;
}

// Moves stringData into data; stringData is never stored.
Result<void> finish_secret(Json& object) {
  const JsonObject texts = object_at(object, {"stringData"});
  if (!texts.empty()) {
    Json& data = ensure_path(object, {"data"});
    if (!data.is_object()) data = JsonObject();
    for (const auto& member : texts) data.get_object()[member.key()] = to_base64(text_of(member.value()));
  }
  object.as_object().erase("stringData");
  return {};
}

// Some secret types require certain keys.
// https://kubernetes.io/docs/concepts/configuration/secret/#secret-types
void check_secret_type(const Json& object, FieldErrors& errors) {
  std::string_view type = string_at(object, {"type"});
  const JsonObject& data = object_at(object, {"data"});
  auto require = [&](std::string_view key) {
    if (!data.contains(key)) errors.push_back(api::required(api::key_path("data", key), ""));
  };
  if (type == "kubernetes.io/dockerconfigjson") require(".dockerconfigjson");
  if (type == "kubernetes.io/dockercfg") require(".dockercfg");
  if (type == "kubernetes.io/ssh-auth") require("ssh-privatekey");
  if (type == "kubernetes.io/tls") {
    require("tls.crt");
    require("tls.key");
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") && !data.contains("password")) {
    require("username");
    require("password");
  }
  if (type == "kubernetes.io/service-account-token" &&
      string_at(object, {"metadata", "annotations", "kubernetes.io/service-account.name"}).empty()) {
    errors.push_back(api::required("metadata.annotations[kubernetes.io/service-account.name]", ""));
  }
}

FieldErrors validate_secret(const Json& object, const Lookup&) {
  FieldErrors errors;
  const JsonObject& data = object_at(object, {"data"});
  check_data_keys(data, "data", errors);
  std::size_t total = 0;
  for (const auto& member : data) total += base64_size(text_of(member.value()));
  if (total > kMaxDataBytes) errors.push_back(api::too_long("data", kMaxDataBytes));
  check_secret_type(object, errors);
  return errors;
}

FieldErrors validate_secret_update(const Json& object, const Json& old, std::string_view) {
  FieldErrors errors;
  check_immutable(object, old, "type", "", errors);
  for (auto& error : validate_data_update(object, old, {"data"})) errors.push_back(std::move(error));
  return errors;
}

}  // namespace

ResourceInfo config_map_resource() {
  ResourceInfo info = make_kind({"", "v1", "configmaps", "ConfigMap", "configmap", {"cm"}, {}}, "ConfigMap");
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Data", "Number of keys."), api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_config_map;
  info.strategy.validate_update = [](const Json& object, const Json& old, std::string_view) {
    return validate_data_update(object, old, {"data", "binaryData"});
  };
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{object_at(object, {"data"}).size() + object_at(object, {"binaryData"}).size(),
                     Json(api::age_of(object, now))};
  };
  return info;
}

ResourceInfo secret_resource() {
  ResourceInfo info = make_kind({"", "v1", "secrets", "Secret", "secret", {}, {}}, "Secret", finish_secret);
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Type", "What the secret is for."), api::text_column("Data", "Number of keys."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.validate = validate_secret;
  info.strategy.validate_update = validate_secret_update;
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{Json(string_at(object, {"type"})), object_at(object, {"data"}).size(),
                     Json(api::age_of(object, now))};
  };
  info.strategy.selectable_fields = {"type"};
  info.strategy.field = field_paths(info.strategy.selectable_fields);
  return info;
}

ResourceInfo service_account_resource() {
  ResourceInfo info =
      make_kind({"", "v1", "serviceaccounts", "ServiceAccount", "serviceaccount", {"sa"}, {}}, "ServiceAccount");
  info.strategy.counts_generation = false;
  info.extra_subresources = {"token"};
  info.columns = {api::text_column("Secrets", "Number of secrets."),
                  api::text_column("Age", "Time since the creation.")};
  info.strategy.cells = [](const Json& object, Time now) {
    return JsonArray{array_at(object, {"secrets"}).size(), Json(api::age_of(object, now))};
  };
  return info;
}

}  // namespace berth::apiserver
