// SparkApplication. Its driver and executor have no pod templates: Spark makes the pods from fields, so the templates
// are built here, and admission is written to the fields.
// https://www.kubeflow.org/docs/components/spark-operator/
#pragma once

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

const KindHook& spark_hook();

}  // namespace berth::jobs::kinds
