{{- define "call-analysis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Of (dict "root" $ "name" "ingest"): release-call-analysis-ingest. */}}
{{- define "call-analysis.serviceName" -}}
{{- printf "%s-%s" (include "call-analysis.fullname" .root) .name -}}
{{- end -}}

{{- define "call-analysis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "call-analysis.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The labels of selectors, which never change. Without "name", those of the release. */}}
{{- define "call-analysis.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}
{{- end -}}

{{- /* A tag may have 128 characters and begin with an underscore; a label has at most 63, a letter or digit first and last. */ -}}
{{- define "call-analysis.labels" -}}
{{ include "call-analysis.selector" . }}
app.kubernetes.io/version: {{ default .root.Chart.AppVersion .root.Values.image.tag | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/part-of: call-analysis
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "call-analysis.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}
