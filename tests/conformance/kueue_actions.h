// Performs the actions of a recording of Kueue.
#pragma once

#include <optional>
#include <string>

#include "conformance/kueue_left_out.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

class Actions {
 public:
  // `targets`: the objects of actions that the recording describes only in words (kueue_targets.yaml). With
  // `webhooks`, act() returns what the webhooks did; without, a refused action is an error.
  Actions(Stage& stage, const LeftOut& left_out, const Json& targets, bool webhooks)
      : stage_(stage), left_out_(left_out), targets_(targets), webhooks_(webhooks) {}

  // Performs the action and returns its results in the form of the recording's `answers`, by object: {"Job/a":
  // {"changed": ...}}. None when the whole action is left out. Throws std::runtime_error when the action fails.
  std::optional<Json> act(const Json& step);

 private:
  std::optional<Json> create(const Json& objects);
  std::optional<Json> in_words(const Json& step, const std::string& action);
  std::optional<Json> send(const Json& target, const Json& step);
  void wait_for_gates(const std::string& pod);
  void report(Json& answers, const std::string& on, api::RestRequest request);
  void become_ready(std::string_view node);
  std::string newest_request();
  void set_phases(int count, const std::string& name, const std::string& phase);
  void bind_pods(const std::string& name);
  void fail_pods_of(std::string_view node);
  void change_pod(const Json& pod, api::Verb verb, std::string_view subresource, Json body);

  Stage& stage_;
  const LeftOut& left_out_;
  const Json& targets_;
  const bool webhooks_;
  std::string last_node_;
};

}  // namespace berth::conformance
