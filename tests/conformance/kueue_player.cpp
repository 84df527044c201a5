#include "conformance/kueue_player.h"

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "conformance/kueue_actions.h"
#include "conformance/kueue_commands.h"
#include "conformance/kueue_left_out.h"
#include "conformance/kueue_look.h"
#include "conformance/kueue_shown.h"
#include "conformance/kueue_stage.h"
#include "conformance/recording.h"
#include "source_dir.h"

namespace berth::conformance {
namespace {

class Player {
 public:
  Player(Site& site, const std::string& name, const Satisfied& satisfied)
      : stage_(site),
        satisfied_(satisfied),
        recording_(load_kueue_recording(name)),
        targets_(member(load_yaml_file(source_path("tests/conformance/kueue_targets.yaml")), name)),
        webhooks_(bool_at(recording_, {"webhooks"})),
        left_out_(name, recording_),
        actions_(stage_, left_out_, targets_, webhooks_),
        look_(stage_, left_out_, webhooks_) {}

  std::vector<StepResult> run() {
    const std::vector<std::string> titles = titles_of(recording_);
    const JsonArray& steps = array_at(recording_, {"steps"});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Json& step = steps[i];
      if (const auto ns = string_at(step, {"namespace"}); !ns.empty()) {
        stage_.enter(std::string(ns), member(step, "labels"));
        if (webhooks_) stage_.site().after_action();
      } else if (find(step, "see") != nullptr) {
        look(step, titles[i]);
      } else if (find(step, "command") != nullptr) {
        command(step, titles[i]);
      } else if (find(step, "method") != nullptr) {
        ask(step, titles[i]);
      } else {
        act(step, titles[i]);
        stage_.site().after_action();
      }
    }
    return std::move(results_);
  }

 private:
  void act(const Json& step, const std::string& title) {
    try {
      const auto answers = actions_.act(step);
      if (!answers || !webhooks_) return;
      Json wanted = JsonObject();
      for (const Json& answer : array_at(step, {"answers"})) {
        const std::string on(string_at(answer, {"on"}));
        if (left_out_.on(on)) continue;
        Json parts = answer;
        parts.as_object().erase("on");
        wanted.as_object()[on] = std::move(parts);
      }
      results_.push_back(
          {title, compare(JsonObject{{"answers", wanted}}, JsonObject{{"answers", *answers}}, stage_.bindings())});
    } catch (const std::runtime_error& error) {
      results_.push_back({title, {Difference{"action", error.what()}}});
    }
  }

  void ask(const Json& step, const std::string& title) {
    stage_.bind_workloads();
    retry(title, [&] {
      const HttpAnswer answer =
          stage_.site().ask(std::string(string_at(step, {"method"})), std::string(string_at(step, {"path"})),
                            std::string(string_at(step, {"as"})));
      return compare(JsonObject{{"status", member(step, "status")}, {"body", member(step, "body")}},
                     JsonObject{{"status", answer.status}, {"body", answer.body}}, stage_.bindings());
    });
  }

  // `kubectl kueue ...` is played as `berth ...`. What only reads is repeated until it shows what is expected.
  void command(const Json& step, const std::string& title) {
    stage_.bind_workloads();
    const Json wanted = recorded_command(step);
    const auto play = [&] { return compare(wanted, run_command(stage_, step), stage_.bindings()); };
    if (only_reads(step)) return retry(title, play);
    results_.push_back({title, play()});
    stage_.site().after_action();
  }

  void look(const Json& step, const std::string& title) {
    const std::set<std::string> seen_events = seen_events_;
    retry(title, [&] {
      seen_events_ = seen_events;
      return look_.look(step, seen_events_);
    });
  }

  // Each attempt starts with the bindings from before the first attempt.
  template <typename Compare>
  void retry(const std::string& title, const Compare& differences) {
    const Bindings bindings = stage_.bindings();
    // If no attempt succeeds, the result is the attempt with the fewest differences.
    std::optional<StepResult> nearest;
    stage_.site().until([&] {
      stage_.bindings() = bindings;
      StepResult result{title, differences()};
      const bool satisfied = satisfied_(result);
      if (!nearest || satisfied || result.differences.size() < nearest->differences.size()) nearest = std::move(result);
      return satisfied;
    });
    results_.push_back(std::move(*nearest));
  }

  Stage stage_;
  const Satisfied& satisfied_;
  const Json recording_, targets_;
  const bool webhooks_;
  const LeftOut left_out_;
  Actions actions_;
  Look look_;
  std::set<std::string> seen_events_;
  std::vector<StepResult> results_;
};

}  // namespace

Json load_kueue_recording(const std::string& name) {
  Json recording = load_yaml_file(source_path("tests/conformance/recordings/kueue/") + name + ".yaml");
  leave_out_gates(name, recording);
  return recording;
}

std::vector<StepResult> play_kueue(Site& site, const std::string& name, const Satisfied& satisfied) {
  return Player(site, name, satisfied).run();
}

}  // namespace berth::conformance
