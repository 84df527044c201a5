// Jobs that do not run, and what each screen says: the table of docs/explain.md.
#include <gtest/gtest.h>

#include <exception>
#include <set>
#include <string>
#include <vector>

#include "embedded/commands/why_not/stage.h"
#include "source_dir.h"
#include "support/document_section.h"

namespace berth::cli::why_not {
namespace {

std::vector<Situation> all_situations() {
  std::vector<Situation> out;
  for (const auto& part : {of_quota(), of_queues(), of_checks(), of_places(), of_pods()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Words that answer nothing: the reason of another workload without its text, and states without a cause.
void expect_an_answer(const std::string& screen, const std::string& text) {
  EXPECT_NE(text, "") << screen << " says nothing";
  EXPECT_FALSE(has(text, "like another")) << screen << ": " << text;
  EXPECT_FALSE(text.ends_with("equivalent workload recently failed")) << screen << ": " << text;
  EXPECT_FALSE(has(text, "not considered yet")) << screen << ": " << text;
  EXPECT_FALSE(has(text, "Nothing is missing")) << screen << ": " << text;
}

TEST(WhyNot, EachScreenSaysWhyAJobDoesNotRun) {
  std::string table =
      "| | why it does not run | condition | `kubectl describe` | `berth explain` | console "
      "|\n|---|---|---|---|---|---|\n";
  const auto situations = all_situations();
  EXPECT_GE(situations.size(), 40u);
  std::set<std::string> names;
  int number = 0;
  for (const Situation& situation : situations) {
    SCOPED_TRACE(situation.name);
    EXPECT_TRUE(names.insert(situation.name).second) << "twice";
    Said said;
    try {
      Stage stage(situation.setting);
      situation.play(stage);
      said = said_about(stage, situation);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    expect_an_answer("the condition", said.condition);
    expect_an_answer("kubectl describe", said.describe);
    expect_an_answer("berth explain", said.explain);
    expect_an_answer("the console", said.console);
    table += "| " + std::to_string(++number) + " | " + situation.name + " | " + said.condition + " | " + said.describe +
             " | " + said.explain + " | " + said.console + " |\n";
  }
  testing_support::expect_section(source_path("docs/explain.md"), "situations", table);
}

}  // namespace
}  // namespace berth::cli::why_not
