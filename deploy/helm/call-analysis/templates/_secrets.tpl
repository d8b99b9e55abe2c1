{{/*
The secrets of one service, of (dict "root" $ "name" … "facts" … "settings" …): a list of { variable, secret, key, file }
under "list". A service gets no secret that it does not use. Where `variable` ends in _FILE it names the mounted file.
*/}}
{{- define "call-analysis.secrets" -}}
{{- $values := .root.Values -}}
{{- $list := list -}}
{{- if .facts.database -}}
{{- $secret := default $values.database.existingSecret .settings.database.existingSecret -}}
{{- $list = append $list (dict "variable" "DATABASE_URL_FILE" "secret" $secret "key" (default .name .settings.database.key) "file" "database-url") -}}
{{- end -}}
{{- if .facts.store -}}
{{- $list = append $list (dict "variable" "S3_SECRET_KEY_FILE" "secret" $values.s3.existingSecret "key" $values.s3.secretKeyKey "file" "s3-secret-key") -}}
{{- end -}}
{{- if and .facts.store $values.encryption.existingSecret -}}
{{- $list = append $list (dict "variable" "ENCRYPTION_KEY_FILE" "secret" $values.encryption.existingSecret "key" $values.encryption.key "file" "encryption-keys") -}}
{{- end -}}
{{- if has .name (list "gateway" "admin") -}}
{{- if $values.jwt.publicKeyKey -}}
{{- $list = append $list (dict "variable" "JWT_PUBLIC_KEY_FILE" "secret" $values.jwt.existingSecret "key" $values.jwt.publicKeyKey "file" "jwt-public-key.pem") -}}
{{- else -}}
{{- $list = append $list (dict "variable" "JWT_SECRET_FILE" "secret" $values.jwt.existingSecret "key" $values.jwt.secretKey "file" "jwt-secret") -}}
{{- with $values.jwt.previousSecretKey -}}
{{- $list = append $list (dict "variable" "JWT_SECRET_PREVIOUS_FILE" "secret" $values.jwt.existingSecret "key" . "file" "jwt-secret-previous") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .name "key-management" -}}
{{- $list = append $list (dict "variable" "API_KEY_PEPPER_FILE" "secret" $values.apiKeyPepper.existingSecret "key" $values.apiKeyPepper.key "file" "api-key-pepper") -}}
{{- with $values.apiKeyPepper.nextKey -}}
{{- $list = append $list (dict "variable" "API_KEY_PEPPER_NEXT_FILE" "secret" $values.apiKeyPepper.existingSecret "key" . "file" "api-key-pepper-next") -}}
{{- end -}}
{{- with $values.apiKeyPepper.previousKey -}}
{{- $list = append $list (dict "variable" "API_KEY_PEPPER_PREVIOUS_FILE" "secret" $values.apiKeyPepper.existingSecret "key" . "file" "api-key-pepper-previous") -}}
{{- end -}}
{{- end -}}
{{- if and (eq .name "analysis") $values.languageModel.existingSecret -}}
{{- $list = append $list (dict "variable" "LLM_API_KEY_FILE" "secret" $values.languageModel.existingSecret "key" $values.languageModel.apiKeyKey "file" "language-model-api-key") -}}
{{- end -}}
{{- if and (eq .name "gateway") $values.openId.issuer -}}
{{- $list = append $list (dict "variable" "OIDC_CLIENT_SECRET_FILE" "secret" $values.openId.existingSecret "key" $values.openId.clientSecretKey "file" "oidc-client-secret") -}}
{{- end -}}
{{- if and (eq .name "transcription") $values.speech.existingSecret -}}
{{- $list = append $list (dict "variable" "SPEECH_API_KEY_FILE" "secret" $values.speech.existingSecret "key" $values.speech.apiKeyKey "file" "speech-api-key") -}}
{{- end -}}
{{- if $values.otlp.existingSecret -}}
{{- $list = append $list (dict "variable" "OTEL_EXPORTER_OTLP_HEADERS_FILE" "secret" $values.otlp.existingSecret "key" $values.otlp.headersKey "file" "otlp-headers") -}}
{{- end -}}
{{- $user := ternary $values.kafka.readers $values.kafka.sasl (eq .name "kafka-readers") -}}
{{- with $values.kafka -}}
{{- if .sasl.mechanism -}}
{{- $list = append $list (dict "variable" "KAFKA_SASL_PASSWORD_FILE" "secret" $user.existingSecret "key" $user.passwordKey "file" "kafka-password") -}}
{{- end -}}
{{- if and .tls.enabled .tls.existingSecret -}}
{{- $list = append $list (dict "variable" "KAFKA_TLS_CA_FILE" "secret" .tls.existingSecret "key" .tls.caKey "file" "kafka-ca.pem") -}}
{{- if .tls.certKey -}}
{{- $list = append $list (dict "variable" "KAFKA_TLS_CERT_FILE" "secret" .tls.existingSecret "key" .tls.certKey "file" "kafka-cert.pem") -}}
{{- $list = append $list (dict "variable" "KAFKA_TLS_KEY_FILE" "secret" .tls.existingSecret "key" .tls.keyKey "file" "kafka-key.pem") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* A migration calls nobody, and runs before cert-manager has made the certificates of the first installation. */ -}}
{{- if and $values.rpc.tls.enabled (or .facts.rpc .facts.calls) (not .migrates) -}}
{{- $secret := default $values.rpc.tls.existingSecret .settings.rpcTlsSecret -}}
{{- with ternary $values.rpc.tls (dict "caKey" "ca.crt" "certKey" "tls.crt" "keyKey" "tls.key") (not (empty $secret)) -}}
{{- $secret = default (include "call-analysis.certificateSecret" $) $secret -}}
{{- $list = append $list (dict "variable" "RPC_TLS_CA_FILE" "secret" $secret "key" .caKey "file" "rpc-ca.pem") -}}
{{- $list = append $list (dict "variable" "RPC_TLS_CERT_FILE" "secret" $secret "key" .certKey "file" "rpc-cert.pem") -}}
{{- $list = append $list (dict "variable" "RPC_TLS_KEY_FILE" "secret" $secret "key" .keyKey "file" "rpc-key.pem") -}}
{{- end -}}
{{- end -}}
{{- dict "list" $list | toYaml -}}
{{- end -}}

{{/* The Secret in which cert-manager keeps the certificate of (dict "root" $ "name" "ingest"). */}}
{{- define "call-analysis.certificateSecret" -}}
{{- include "call-analysis.serviceName" . }}-rpc-tls
{{- end -}}
