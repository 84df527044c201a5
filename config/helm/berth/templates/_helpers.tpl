{{/* The prefix of names that other objects and clients refer to. */}}
{{- define "berth.fullname" -}}
{{ .Values.fullnameOverride | default "kueue" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The name of Berth's own objects. */}}
{{- define "berth.name" -}}
{{ .Values.nameOverride | default "berth" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "berth.selectorLabels" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end }}

{{- define "berth.labels" -}}
{{ include "berth.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "berth.serviceAccount" -}}
{{ include "berth.fullname" . }}-controller-manager
{{- end }}

{{- define "berth.webhookService" -}}
{{ include "berth.fullname" . }}-webhook-service
{{- end }}

{{- define "berth.webhookSecret" -}}
{{ include "berth.fullname" . }}-webhook-server-cert
{{- end }}

{{- define "berth.metricsService" -}}
{{ include "berth.fullname" . }}-controller-manager-metrics-service
{{- end }}

{{- define "berth.visibilityService" -}}
{{ include "berth.fullname" . }}-visibility-server
{{- end }}

{{- define "berth.console" -}}
{{ include "berth.name" . }}-console
{{- end }}

{{- define "berth.consoleSelectorLabels" -}}
app.kubernetes.io/name: {{ include "berth.console" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "berth.consoleLabels" -}}
{{ include "berth.consoleSelectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The Secret with the console's certificate. Empty: there is none. */}}
{{- define "berth.consoleSecret" -}}
{{- if .Values.console.tls.certificateSecret }}
{{- .Values.console.tls.certificateSecret }}
{{- else if .Values.enableCertManager }}
{{- include "berth.console" . }}-cert
{{- end }}
{{- end }}

{{/* The Configuration as it is mounted: the text of the values, plus fields that only the chart knows, if the text lacks them. */}}
{{- define "berth.config" -}}
{{- $text := .Values.managerConfig.controllerManagerConfigYaml | trim }}
{{- $config := fromYaml $text }}
{{- if and .Values.controllerManager.featureGates (hasKey $config "featureGates") }}
{{- fail "controllerManager.featureGates: not together with featureGates of managerConfig.controllerManagerConfigYaml; keep one" }}
{{- end }}
{{- if and .Values.enableCertManager (hasKey $config "internalCertManagement") (dig "internalCertManagement" "enable" true $config) }}
{{- fail "enableCertManager: internalCertManagement of managerConfig.controllerManagerConfigYaml must have enable: false, or be left out" }}
{{- end }}
{{- if hasKey $config "volcano" }}
{{- if ne (dig "volcano" "enabled" true $config) .Values.volcano.enabled }}
{{- fail "volcano.enabled: must say the same as volcano.enabled in managerConfig.controllerManagerConfigYaml, which is true when it is left out there" }}
{{- end }}
{{- end }}
{{- if and .Values.volcano.crds.install (not .Values.volcano.enabled) }}
{{- fail "volcano.crds.install: needs volcano.enabled=true; without it nobody decides for Volcano's kinds" }}
{{- end }}
{{- $text }}
{{- if not (hasKey $config "volcano") }}
volcano:
  enabled: {{ .Values.volcano.enabled }}
{{- end }}
{{- if not (hasKey $config "namespace") }}
namespace: {{ .Release.Namespace }}
{{- end }}
{{- if not (hasKey $config "internalCertManagement") }}
internalCertManagement:
  enable: {{ not .Values.enableCertManager }}
  webhookServiceName: {{ include "berth.webhookService" . }}
  webhookSecretName: {{ include "berth.webhookSecret" . }}
{{- end }}
{{- end }}

{{/* Ports of the Configuration, with Kueue's defaults: berth.port takes a list of root, kind. */}}
{{- define "berth.port" -}}
{{- $config := fromYaml (index . 0).Values.managerConfig.controllerManagerConfigYaml }}
{{- $kind := index . 1 }}
{{- if eq $kind "webhook" }}
{{- dig "webhook" "port" 9443 $config }}
{{- else if eq $kind "visibility" }}
{{- dig "visibilityServer" "bindPort" 8082 $config }}
{{- else if eq $kind "metrics" }}
{{- dig "metrics" "bindAddress" ":8443" $config | toString | splitList ":" | last }}
{{- else }}
{{- dig "health" "healthProbeBindAddress" ":8081" $config | toString | splitList ":" | last }}
{{- end }}
{{- end }}

{{/* The namespaces whose jobs are sent to the webhooks. */}}
{{- define "berth.namespaceSelector" -}}
{{- if .Values.webhooks.namespaceSelector }}
{{- toYaml .Values.webhooks.namespaceSelector }}
{{- else -}}
matchExpressions:
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: [kube-system, {{ .Release.Namespace }}]
{{- end }}
{{- end }}

{{/* The annotation that tells cert-manager which CA certificate to inject. */}}
{{- define "berth.injectAuthority" -}}
{{- if .Values.enableCertManager -}}
cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "berth.fullname" . }}-serving-cert
{{- end }}
{{- end }}

{{/* The Secret with the certificate of the metrics endpoint. Empty: the process makes a certificate. */}}
{{- define "berth.metricsSecret" -}}
{{- if .Values.metrics.certificateSecret }}
{{- .Values.metrics.certificateSecret }}
{{- else if .Values.enableCertManager }}
{{- include "berth.fullname" . }}-metrics-server-cert
{{- end }}
{{- end }}

{{/* The kinds of jobs that are described by data, as YAML: those that ship with Berth, and those of the value jobKinds. */}}
{{- define "berth.kinds" -}}
{{- range $one := list
    (list "jobset.x-k8s.io" "v1alpha2" "JobSet" "jobsets")
    (list "kubeflow.org" "v1" "JAXJob" "jaxjobs")
    (list "kubeflow.org" "v1" "PaddleJob" "paddlejobs")
    (list "kubeflow.org" "v1" "PyTorchJob" "pytorchjobs")
    (list "kubeflow.org" "v1" "TFJob" "tfjobs")
    (list "kubeflow.org" "v1" "XGBoostJob" "xgboostjobs")
    (list "kubeflow.org" "v2beta1" "MPIJob" "mpijobs")
    (list "ray.io" "v1" "RayCluster" "rayclusters")
    (list "ray.io" "v1" "RayJob" "rayjobs")
    (list "ray.io" "v1" "RayService" "rayservices")
    (list "sparkoperator.k8s.io" "v1beta2" "SparkApplication" "sparkapplications")
    (list "trainer.kubeflow.org" "v1alpha1" "TrainJob" "trainjobs")
    (list "workload.codeflare.dev" "v1beta2" "AppWrapper" "appwrappers") }}
- {group: {{ index $one 0 }}, version: {{ index $one 1 }}, name: {{ index $one 2 | lower }}, resource: {{ index $one 3 }}, framework: {{ index $one 0 }}/{{ index $one 2 | lower }}, own: false}
{{- end }}
{{- range $file, $text := .Values.jobKinds }}
{{- $kind := (fromYaml $text).spec }}
- {group: {{ $kind.group }}, version: {{ $kind.version }}, name: {{ $kind.kind | lower }}, resource: {{ $kind.resource | default (printf "%ss" ($kind.kind | lower)) }}, framework: "", own: true}
{{- end }}
{{- end }}
