#include "conformance/kueue_left_out.h"

#include <re2/re2.h>

#include <stdexcept>

#include "conformance/recording.h"
#include "source_dir.h"

namespace berth::conformance {

namespace {

// The values in the list `part` of all entries for a recording.
std::set<std::string> listed(const std::string& name, std::string_view part) {
  std::set<std::string> all;
  const Json file = load_yaml_file(source_path("tests/conformance/kueue_left_out.yaml"));
  for (const Json& entry : array_at(file, {"left_out"})) {
    for (const Json& recording : array_at(entry, {"recordings"})) {
      if (view(recording.get_string()) != name) continue;
      for (const Json& value : array_at(entry, {part})) all.emplace(view(value.get_string()));
    }
  }
  return all;
}

void must_have(const std::string& name, const std::set<std::string>& wanted, const std::set<std::string>& present) {
  for (const std::string& one : wanted) {
    if (!present.contains(one))
      throw std::runtime_error("kueue_left_out.yaml: " + name + " has no " + one + "; remove it from the list");
  }
}

}  // namespace

LeftOut::LeftOut(const std::string& name, const Json& recording)
    : kinds_(listed(name, "kinds")), queues_(listed(name, "queues")) {
  std::set<std::string> kinds, queues;
  for (const Json& step : array_at(recording, {"steps"})) {
    if (string_at(step, {"do"}).empty()) continue;
    for (const Json& object : array_at(step, {"objects"})) {
      kinds.emplace(string_at(object, {"kind"}));
      if (string_at(object, {"kind"}).ends_with("Queue")) queues.emplace(string_at(object, {"metadata", "name"}));
      add(object);
    }
  }
  must_have(name, kinds_, kinds);
  must_have(name, queues_, queues);
}

void leave_out_gates(const std::string& name, Json& recording) {
  const std::set<std::string> gates = listed(name, "gates");
  if (gates.empty()) return;
  JsonObject& of_recording = ensure_path(recording, {"gates"}).as_object();
  std::set<std::string> present;
  for (const auto& [gate, on] : of_recording) present.emplace(gate);
  must_have(name, gates, present);
  for (const std::string& gate : gates) of_recording.erase(gate);
}

void LeftOut::add(const Json& object) {
  if (!this->object(object)) return;
  const std::string name(string_at(object, {"metadata", "name"}));
  objects_.insert(std::string(string_at(object, {"kind"})) + "/" + name);
  names_.insert(name);
  const auto group = string_at(object, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"});
  if (!group.empty()) names_.emplace(group);
}

bool LeftOut::object(const Json& object) const {
  if (kinds_.contains(std::string(string_at(object, {"kind"})))) return true;
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (kinds_.contains(std::string(string_at(owner, {"kind"})))) return true;
  }
  return named(string_at(object, {"kind"}), string_at(object, {"metadata", "name"}));
}

bool LeftOut::named(std::string_view kind, std::string_view name) const {
  return objects_.contains(std::string(kind) + "/" + std::string(name)) || kinds_.contains(std::string(kind));
}

bool LeftOut::workload(std::string_view workload) const {
  if (name(workload)) return true;
  std::string of;
  static const re2::RE2 pattern("<workload of (.+?)(?:-pod[0-9]+)?(?: [0-9]+)?>");
  return re2::RE2::FullMatch(re2::StringPiece(workload.data(), workload.size()), pattern, &of) && name(of);
}

bool LeftOut::pod(std::string_view pod) const {
  std::string owner;
  static const re2::RE2 pattern("<?(.+?)-(?:pod)?[0-9]+>?");
  return re2::RE2::FullMatch(re2::StringPiece(pod.data(), pod.size()), pattern, &owner) && name(owner);
}

bool LeftOut::on(std::string_view subject) const {
  const std::size_t slash = subject.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view kind = subject.substr(0, slash), name = subject.substr(slash + 1);
  return kind == "Workload" ? workload(name) : named(kind, name) || (kind == "Pod" && pod(name));
}

}  // namespace berth::conformance
