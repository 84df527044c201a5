// Checks the built-in kinds against recordings: every field that was sent or returned is known, and a response of
// kube-apiserver is already in stored form.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/yaml.h"
#include "embedded/apiserver/builtin/support.h"
#include "embedded/apiserver/schema/structural.h"
#include "source_dir.h"

namespace berth::apiserver::recordings_test {
namespace {

constexpr const char* kTime = "2026-11-21T09:00:00Z";
constexpr const char* kMicroTime = "2026-11-21T09:00:00.000000Z";

// Replaces a text everywhere: recordings contain a placeholder for times.
void replace_texts(Json& value, std::string_view from, const char* to) {
  if (value.is_string() && view(value.get_string()) == from) value = to;
  if (value.is_array()) {
    for (auto& item : value.get_array()) replace_texts(item, from, to);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) replace_texts(member.value(), from, to);
  }
}

ResourcePtr kind_of(const std::vector<ResourcePtr>& all, const Json& object) {
  for (const auto& resource : all) {
    std::string version = resource->gvr.group.empty() ? "v1" : resource->gvr.group + "/v1";
    if (string_at(object, {"kind"}) == resource->kind && string_at(object, {"apiVersion"}) == version) return resource;
  }
  return nullptr;
}

struct Step {
  std::string file, title;
  Json step;
};

std::vector<Step> steps() {
  std::vector<Step> all;
  for (const char* name : {"access", "apply", "crud", "discovery", "jobs_pods_nodes", "lists", "patches"}) {
    std::ifstream file(std::filesystem::path(source_path("tests/conformance/recordings")) /
                       (std::string(name) + ".yaml"));
    std::stringstream text;
    text << file.rdbuf();
    auto documents = parse_yaml(text.str());
    if (!documents) {
      ADD_FAILURE() << name << ": " << documents.error().message;
      continue;
    }
    for (const auto& step : array_at(documents->at(0), {"steps"})) {
      all.push_back({name, std::string(string_at(step, {"title"})), step});
    }
  }
  return all;
}

std::vector<std::string> unknown_fields(const ResourceInfo& resource, Json object) {
  std::vector<std::string> unknown;
  prune(object, *resource.schema, true, &unknown);
  if (Json* metadata = object.as_object().if_contains("metadata")) {
    prune(*metadata, *resource.schema->properties.at("metadata"), false, &unknown);
  }
  return unknown;
}

TEST(Recordings, NameNoFieldThatTheSchemasDoNotKnow) {
  const auto all = builtin_resources();
  int seen = 0;
  for (const Step& step : steps()) {
    if (step.title.starts_with("unknown field") || step.title.ends_with("unknown field, strict")) continue;
    for (const char* side : {"body", "response"}) {
      const Json* object = find(step.step, side);
      ResourcePtr resource = object != nullptr && object->is_object() ? kind_of(all, *object) : nullptr;
      if (!resource) continue;
      ++seen;
      for (const auto& field : unknown_fields(*resource, *object))
        ADD_FAILURE() << step.file << ": " << step.title << ": " << field;
    }
  }
  EXPECT_GT(seen, 150);
}

TEST(Recordings, AnswerObjectsInTheirStoredForm) {
  const auto all = builtin_resources();
  int seen = 0;
  for (const Step& step : steps()) {
    const Json* answer = find(step.step, "response");
    ResourcePtr resource = answer != nullptr && answer->is_object() ? kind_of(all, *answer) : nullptr;
    if (!resource) continue;
    Json expected = *answer;
    replace_texts(expected, "<time>", kTime);
    Json decoded = *answer;
    replace_texts(decoded, "<time>", kMicroTime);  // plain times may have a fraction, the others must
    auto done = resource->strategy.decode(decoded);
    ASSERT_TRUE(done) << step.title << ": " << done.error().message;
    replace_texts(decoded, kMicroTime, kTime);
    EXPECT_TRUE(json_equal(decoded, expected)) << step.file << ": " << step.title << "\n"
                                               << to_string(decoded) << "\n"
                                               << to_string(expected);
    ++seen;
  }
  EXPECT_GT(seen, 80);
}

}  // namespace
}  // namespace berth::apiserver::recordings_test
