// A small cluster in which a job does not run, and what each screen says about that.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "embedded/simulate/world.h"

namespace berth::cli::why_not {

using std::chrono::minutes;
using std::chrono::seconds;

struct Setting {
  std::string nodes = "1x1x2", node_resources = "cpu=8,memory=32Gi";
  std::string configuration{};  // YAML of parts of Kueue's Configuration
  std::string gates{};          // of features, separated by commas
};

// A batch Job of one container.
struct JobShape {
  std::string requests = "cpu: 1";
  int pods = 1;
  std::string queue = "main";
  std::string labels{}, annotations{};  // more of them, of the job
  std::string pod_annotations{};
  std::string pod{};  // more fields of the pod's spec
};

class Stage {
 public:
  // With the ResourceFlavor default, the ClusterQueue team of 8 cpus and the LocalQueue main.
  explicit Stage(const Setting& setting);

  void apply(const std::string& manifests);  // all documents
  void job(const std::string& name, const JobShape& shape);
  void queue(const std::string& fields, const std::string& cpus = "8");  // of team, besides those of Stage()
  void patch(const std::string& kind, const std::string& name, const std::string& body,
             const std::string& subresource = "");
  void remove(const std::string& kind, const std::string& name);
  void wait(Duration time) { world_->run_for(time); }
  std::string workload_of(const std::string& job);  // its name; "": it has none
  std::vector<Json> list(const std::string& kind);  // of the namespace default
  simulate::World& world() { return *world_; }

 private:
  std::unique_ptr<simulate::World> world_;
};

struct Situation {
  std::string name;  // in the table
  std::function<void(Stage&)> play;
  Setting setting{};
  std::string type = "job", object = "train";  // what berth explain is asked about
};

std::vector<Situation> of_quota();
std::vector<Situation> of_queues();
std::vector<Situation> of_checks();
std::vector<Situation> of_places();
std::vector<Situation> of_pods();

// What each screen says. Names and UIDs that differ from run to run are left out.
struct Said {
  std::string condition, describe, explain, console;
};
Said said_about(Stage& stage, const Situation& situation);

}  // namespace berth::cli::why_not
