// Recorded requests and answers of a real API server, and the preparations that bring a server into the recorded
// initial state.
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
  Json body;  // null: none; a string is sent unchanged
  int status = 0;
  std::map<std::string, std::string> response_headers;
  Json response;  // null: not recorded
};

struct Recording {
  std::string name;
  std::vector<Step> steps;
};

// A request without a recorded answer.
struct Preparation {
  std::string method, path, content_type;
  Json body;
};

// The context of one step. `bind` sets placeholders whose values no answer contains: "current" means the revision of
// the store, other texts are used unchanged.
struct Surroundings {
  std::vector<Preparation> before, during;
  std::map<std::string, std::string> bind;
  std::size_t body_bytes = 0;  // not 0: the body is a ConfigMap "big" of that size
  int seconds = 3;             // how long to listen to a watch
  bool eventually = false;     // recorded after a change took effect: in real time, retry until it does
  std::string cut;             // the recording kept only a part of this list or map of the answer
  bool openapi = false;        // the recording kept one path and the names of the schemas of the document
};

struct Setup {
  std::vector<std::string> play;  // recordings to play first, without comparing answers
  bool kueue = false;             // Kueue's CustomResourceDefinitions are installed
  std::vector<Preparation> start;
  std::map<std::string, Surroundings> steps;  // by title
};

// Reads tests/conformance/recordings/<name>.yaml and setups/<name>.yaml. Throws std::runtime_error with the name of
// the file.
Recording load_recording(const std::string& name);
Setup load_setup(const std::string& name);
Json load_yaml_file(const std::string& path);
// The titles of a recording's steps; "" for a step without a title; the second of two equal titles ends in " (2)".
std::vector<std::string> titles_of(const Json& recording);

}  // namespace berth::conformance
