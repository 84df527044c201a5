// Recorded requests and answers of a real API server, and how to bring a server into the state they started
// from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::conformance {

struct Step {
  std::string title;
  std::string method, path, as;
  std::string content_type;
  std::map<std::string, std::string> headers;
  Json body;  // null: none; a string is sent as it is
  int status = 0;
  std::map<std::string, std::string> response_headers;
  Json response;  // null: not recorded
};

struct Recording {
  std::string name;
  std::vector<Step> steps;
};

// A request that is sent without looking at the answer.
struct Preparation {
  std::string method, path, content_type;
  Json body;
};

// What surrounds one step. `bind` gives placeholders a value that no answer tells: "current" is the revision
// of the store, other texts are taken as they are.
struct Surroundings {
  std::vector<Preparation> before, during;
  std::map<std::string, std::string> bind;
  std::size_t body_bytes = 0;  // not 0: the body is a ConfigMap "big" of that size
  int seconds = 3;             // how long a watch is listened to
  bool eventually = false;     // it was recorded when a change had taken effect: where time is real, that is waited for
  std::string cut;             // the recording kept only some of this list or map of the answer
  bool openapi = false;        // the recording kept one path and the names of the schemas of the document
};

struct Setup {
  std::vector<std::string> play;  // recordings that are played first, answers ignored
  bool kueue = false;             // Kueue's CustomResourceDefinitions are there
  std::vector<Preparation> start;
  std::map<std::string, Surroundings> steps;  // by title
};

// From tests/conformance/recordings/<name>.yaml and setups/<name>.yaml. Throws std::runtime_error with the
// file's name.
Recording load_recording(const std::string& name);
Setup load_setup(const std::string& name);
Json load_yaml_file(const std::string& path);
// The titles of a recording's steps, "" for one that has none; the second of equal ones ends in " (2)".
std::vector<std::string> titles_of(const Json& recording);

}  // namespace berth::conformance
