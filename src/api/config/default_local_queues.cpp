// Reads the part `defaultLocalQueues`.
#include "api/config/default_local_queues.h"

#include "api/config/parts.h"
#include "api/field_error.h"

namespace berth::api::config {

void read_default_local_queues(Fields& top, Configuration& out) {
  DefaultLocalQueues& queues = out.default_local_queues;
  Fields fields = top.object("defaultLocalQueues");
  fields.flag("enabled", queues.enabled);
  std::string name;
  fields.text("localQueueName", name);
  const bool as_cluster_queue = fields.choice("localQueueNameMode", {"Static", "AsClusterQueue"}).value_or(0) == 1;
  if (as_cluster_queue && !name.empty())
    fields.error("localQueueName", "is set, and localQueueNameMode is AsClusterQueue; remove one of them");
  if (const auto broken = check_dns_subdomain(name); !name.empty() && !broken.empty())
    fields.expected("localQueueName", Json(name), "the name of a LocalQueue: " + broken);
  if (as_cluster_queue)
    queues.name.clear();
  else if (!name.empty())
    queues.name = name;
  fields.selector("namespaceSelector", queues.namespaces);
  fields.done();
}

}  // namespace berth::api::config
