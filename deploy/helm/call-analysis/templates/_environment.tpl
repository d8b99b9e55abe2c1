{{/* The `env` of one service: (dict "root" $ "name" … "facts" … "settings" … "secrets" …). */}}
{{- define "call-analysis.environment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $env := dict "LOG_LEVEL" $values.logLevel "HEALTH_HOST" $values.bindAddress "HEALTH_PORT" "9090" -}}
{{- $_ := set $env "DRAIN" $values.drain -}}
{{- $_ := set $env "CLOSE_TIMEOUT" .settings.closeTimeout -}}
{{- if include "call-analysis.trustsMore" $root }}{{ $_ := set $env "NODE_EXTRA_CA_CERTS" "/run/trusted-certificates/ca.crt" }}{{ end -}}
{{- with $values.otlp.endpoint }}{{ $_ := set $env "OTEL_EXPORTER_OTLP_ENDPOINT" . }}{{ end -}}
{{- with $values.kafka -}}
{{- $_ := set $env "KAFKA_BROKERS" (join "," .brokers) -}}
{{- $_ := set $env "KAFKA_TLS" (ternary "on" "off" .tls.enabled) -}}
{{- $_ := set $env "KAFKA_CREATE_TOPICS" (ternary "on" "off" .createTopics) -}}
{{- $_ := set $env "KAFKA_TOPIC_PARTITIONS" (.topicPartitions | int64 | toString) -}}
{{- if .topicReplication }}{{ $_ := set $env "KAFKA_TOPIC_REPLICATION" (.topicReplication | int64 | toString) }}{{ end -}}
{{- $_ := set $env "KAFKA_TOPIC_RETENTION" .topicRetention -}}
{{- with .topicPrefix }}{{ $_ := set $env "KAFKA_TOPIC_PREFIX" . }}{{ end -}}
{{- if .sasl.mechanism -}}
{{- $_ := set $env "KAFKA_SASL_MECHANISM" .sasl.mechanism -}}
{{- $_ := set $env "KAFKA_SASL_USERNAME" .sasl.username -}}
{{- end -}}
{{- end -}}
{{- if .facts.database }}{{ $_ := set $env "DATABASE_CONNECTIONS" (.settings.database.connections | int64 | toString) }}{{ end -}}
{{- if .facts.store -}}
{{- with $values.s3 -}}
{{- $_ := set $env "S3_ENDPOINT" .endpoint -}}
{{- with .publicEndpoint }}{{ $_ := set $env "S3_PUBLIC_ENDPOINT" . }}{{ end -}}
{{- $_ := set $env "S3_BUCKET" .bucket -}}
{{- $_ := set $env "S3_REGION" .region -}}
{{- $_ := set $env "S3_PATH_STYLE" (ternary "on" "off" .pathStyle) -}}
{{- $_ := set $env "S3_CREATE_BUCKET" (ternary "on" "off" .createBucket) -}}
{{- with .corsOrigins }}{{ $_ := set $env "S3_CORS_ORIGINS" (join "," .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- /* A migration serves nothing. */ -}}
{{- if and .facts.rpc (not .migrates) -}}
{{- $_ := set $env "RPC_HOST" $values.bindAddress -}}
{{- $_ := set $env "RPC_PORT" "50051" -}}
{{- if $values.rpc.tls.enabled -}}
{{- $_ := set $env "RPC_TLS_NAMES" (include "call-analysis.serviceName" (dict "root" $root "name" "{service}")) -}}
{{- else -}}
{{- $_ := set $env "RPC_PLAIN_TEXT" "allowed" -}}
{{- end -}}
{{- $_ := set $env "RPC_REFLECTION" (ternary "on" "off" $values.rpc.reflection) -}}
{{- end -}}
{{- range .facts.calls -}}
{{- $variable := printf "%s_ADDRESS" (. | upper | replace "-" "_") -}}
{{- $_ := set $env $variable (printf "%s:50051" (include "call-analysis.serviceName" (dict "root" $root "name" .))) -}}
{{- end -}}
{{- if eq .name "gateway" -}}
{{- with $values.gateway -}}
{{- $_ := set $env "HOST" $values.bindAddress -}}
{{- $_ := set $env "PORT" "8080" -}}
{{- with .publicUrl }}{{ $_ := set $env "PUBLIC_URL" . }}{{ end -}}
{{- with $values.s3 }}{{ $_ := set $env "S3_PUBLIC_ENDPOINT" (.publicEndpoint | default .endpoint) }}{{ end -}}
{{- $_ := set $env "RATE_LIMIT_PER_FIRM" (.rateLimitPerFirm | int64 | toString) -}}
{{- $_ := set $env "RATE_LIMIT_PER_ADDRESS" (.rateLimitPerAddress | int64 | toString) -}}
{{- $_ := set $env "CONCURRENT_REQUESTS_PER_FIRM" (.concurrentRequestsPerFirm | int64 | toString) -}}
{{- $_ := set $env "CONCURRENT_REQUESTS" (.concurrentRequests | int64 | toString) -}}
{{- $_ := set $env "CONCURRENT_UPLOADS_PER_FIRM" (.concurrentUploadsPerFirm | int64 | toString) -}}
{{- $_ := set $env "CONCURRENT_UPLOADS" (.concurrentUploads | int64 | toString) -}}
{{- with .trustedProxies }}{{ $_ := set $env "TRUST_PROXY" (join "," .) }}{{ end -}}
{{- with .corsOrigins }}{{ $_ := set $env "CORS_ORIGINS" (join "," .) }}{{ end -}}
{{- end -}}
{{- with $values.jwt.jwksUrl }}{{ $_ := set $env "JWT_JWKS_URL" . }}{{ end -}}
{{- with $values.jwt.jwksIssuer }}{{ $_ := set $env "JWT_JWKS_ISSUER" . }}{{ end -}}
{{- with $values.openId -}}
{{- if .issuer -}}
{{- $_ := set $env "OIDC_ISSUER" .issuer -}}
{{- $_ := set $env "OIDC_CLIENT_ID" .clientId -}}
{{- with .firm }}{{ $_ := set $env "OIDC_FIRM" . }}{{ end -}}
{{- with .firmClaim }}{{ $_ := set $env "OIDC_FIRM_CLAIM" . }}{{ end -}}
{{- with .roleClaim }}{{ $_ := set $env "OIDC_ROLE_CLAIM" . }}{{ end -}}
{{- with .roles }}{{ $_ := set $env "OIDC_ROLES" (join "," .) }}{{ end -}}
{{- with .operatorIdsClaim }}{{ $_ := set $env "OIDC_OPERATOR_IDS_CLAIM" . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if has .name (list "gateway" "admin") -}}
{{- $_ := set $env "JWT_ISSUER" $values.jwt.issuer -}}
{{- $_ := set $env "JWT_AUDIENCE" $values.jwt.audience -}}
{{- end -}}
{{- if eq .name "transcription" -}}
{{- $_ := set $env "WORK_DIR" "/scratch" -}}
{{- with include "call-analysis.speech" $root | fromYaml -}}
{{- if .url -}}
{{- $_ := set $env "SPEECH_URL" .url -}}
{{- $_ := set $env "SPEECH_MODEL" .model -}}
{{- if .provider }}{{ $_ := set $env "SPEECH_PROVIDER" .provider }}{{ end -}}
{{- if .maxBytes }}{{ $_ := set $env "SPEECH_MAX_BYTES" (toString .maxBytes) }}{{ end -}}
{{- if .concurrency }}{{ $_ := set $env "SPEECH_CONCURRENCY" (.concurrency | int64 | toString) }}{{ end -}}
{{- else -}}
{{- /* The former name of `workers` counts where it is still set. */ -}}
{{- $_ := set $env "SPEECH_WORKERS" (.ears | default .workers | int64 | toString) -}}
{{- $_ := set $env "SPEECH_THREADS" (.threads | default 1 | int64 | toString) -}}
{{- if .modelsClaim }}{{ $_ := set $env "SPEECH_MODEL_DIR" "/models" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .name "analysis" -}}
{{- with include "call-analysis.languageModel" $root | fromYaml -}}
{{- if .url -}}
{{- $_ := set $env "LLM_URL" .url -}}
{{- $_ := set $env "LLM_MODEL" .model -}}
{{- if .provider }}{{ $_ := set $env "LLM_PROVIDER" .provider }}{{ end -}}
{{- with .contextTokens }}{{ $_ := set $env "LLM_CONTEXT_TOKENS" (. | int64 | toString) }}{{ end -}}
{{- with .concurrency }}{{ $_ := set $env "LLM_CONCURRENCY" (. | int64 | toString) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .name "webhooks" }}{{ $_ := set $env "WEBHOOK_ALLOW_PRIVATE" (toString $values.webhooks.allowPrivate) }}{{ end -}}
{{- range .secrets }}{{ $_ := set $env .variable (printf "/run/secrets/call-analysis/%s" .file) }}{{ end -}}
{{- range .settings.extraEnv }}{{ $_ := set $env .name .value }}{{ end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- if .facts.store }}
- name: S3_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ $values.s3.existingSecret }}
      key: {{ $values.s3.accessKeyKey }}
{{- end }}
{{- end -}}
