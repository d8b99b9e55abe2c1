{{/*
What each service is: whether it keeps a database, puts bytes into the store, serves RPCs, and which services it calls.
Everything else in this chart follows from this table and the values.
*/}}
{{- define "call-analysis.services" -}}
gateway:
  calls: [key-management, ingest, audio, analysis, webhooks]
  # No store can encrypt with these keys, so what is put and played passes the gateway.
  store: {{ include "call-analysis.encrypts" . | default false }}
key-management:
  database: true
  rpc: true
ingest:
  database: true
  store: true
  rpc: true
  calls: [key-management, analysis]
audio:
  database: true
  store: true
  rpc: true
  calls: [ingest]
transcription:
  database: true
  store: true
analysis:
  database: true
  store: true
  rpc: true
  calls: [key-management]
webhooks:
  database: true
  rpc: true
{{- end -}}

{{/* Whether what is stored is encrypted with keys of the installation's own. */}}
{{- define "call-analysis.encrypts" -}}
{{- if .Values.encryption.existingSecret }}true{{ end -}}
{{- end -}}

{{/* Servers of models that this chart runs, with their ports and the services that ask them. */}}
{{- define "call-analysis.modelServers" -}}
{{- if .Values.models.ollama.enabled }}
ollama: { port: 11434, caller: analysis, user: 10001 }
{{- end }}
{{- if .Values.models.speech.enabled }}
speech: { port: 8000, caller: transcription, user: 1000 }
{{- end }}
{{- end -}}

{{/* `languageModel`, with the address of the chart's own server where that runs. */}}
{{- define "call-analysis.languageModel" -}}
{{- $own := .Values.models.ollama -}}
{{- $url := printf "http://%s:11434/v1" (include "call-analysis.serviceName" (dict "root" . "name" "ollama")) -}}
{{- mergeOverwrite (deepCopy .Values.languageModel) (ternary (dict "url" $url "model" $own.model "contextTokens" $own.contextTokens "concurrency" $own.concurrency) dict $own.enabled) | toYaml -}}
{{- end -}}

{{/* `speech`, likewise. */}}
{{- define "call-analysis.speech" -}}
{{- $own := .Values.models.speech -}}
{{- $url := printf "http://%s:8000/v1" (include "call-analysis.serviceName" (dict "root" . "name" "speech")) -}}
{{- mergeOverwrite (deepCopy .Values.speech) (ternary (dict "url" $url "model" $own.model "concurrency" $own.concurrency) dict $own.enabled) | toYaml -}}
{{- end -}}

{{/* The pod of the admin command: what a service would have in the table above, and in the values. */}}
{{- define "call-analysis.admin" -}}
{{- $settings := mergeOverwrite (deepCopy .Values.defaults) (dict "closeTimeout" "0s" "extraEnv" list) (deepCopy .Values.admin) -}}
{{- dict "name" "admin" "facts" (dict "calls" (list "key-management" "ingest") "store" (not (empty (include "call-analysis.encrypts" .)))) "settings" $settings | toYaml -}}
{{- end -}}

{{/* The job that grants rights to readers of Kafka, likewise. */}}
{{- define "call-analysis.readers" -}}
{{- $env := list (dict "name" "KAFKA_READERS" "value" (join "," .Values.kafka.readers.users)) (dict "name" "KAFKA_SASL_USERNAME" "value" .Values.kafka.readers.superUser) -}}
{{- $settings := mergeOverwrite (deepCopy .Values.defaults) (dict "closeTimeout" "0s" "extraEnv" $env) -}}
{{- dict "name" "kafka-readers" "facts" dict "settings" $settings | toYaml -}}
{{- end -}}

{{/* The values of one service: (dict "root" $ "name" "ingest"), as YAML. */}}
{{- define "call-analysis.settings" -}}
{{- $own := default (dict) (index .root.Values.services .name) -}}
{{- mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) | toYaml -}}
{{- end -}}

{{/* Whether KEDA decides how many pods of a service there are. */}}
{{- define "call-analysis.byQueueAge" -}}
{{- if and .root.Values.keda.enabled (hasKey .root.Values.keda.queueAgeSeconds .name) }}true{{ end -}}
{{- end -}}
