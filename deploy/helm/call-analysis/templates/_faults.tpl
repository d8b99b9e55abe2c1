{{/* Checks of the values that the schema cannot express. Reports all faults together. */}}
{{- define "call-analysis.check" -}}
{{- $values := .Values -}}
{{- $faults := list -}}
{{- range $name, $facts := include "call-analysis.services" . | fromYaml -}}
{{- $settings := include "call-analysis.settings" (dict "root" $ "name" $name) | fromYaml -}}
{{- if and $facts.database (not (or $values.database.existingSecret $settings.database.existingSecret)) -}}
{{- $faults = append $faults (printf "database.existingSecret or services.%s.database.existingSecret must name the secret with the URL of the database of %s." $name $name) -}}
{{- end -}}
{{- if and $values.rpc.tls.enabled (or $facts.rpc $facts.calls) (not (or $values.rpc.tls.certManager.enabled $values.rpc.tls.existingSecret $settings.rpcTlsSecret)) -}}
{{- $faults = append $faults (printf "rpc.tls.enabled is on without certManager, so rpc.tls.existingSecret or services.%s.rpcTlsSecret must name the secret with the certificate of %s." $name $name) -}}
{{- end -}}
{{- if and $settings.autoscaling.enabled (include "call-analysis.byQueueAge" (dict "root" $ "name" $name)) -}}
{{- $faults = append $faults (printf "keda.enabled scales %s, so services.%s.autoscaling.enabled must be off: only one of them can scale a deployment." $name $name) -}}
{{- end -}}
{{- if gt ($settings.autoscaling.minReplicas | int) ($settings.autoscaling.maxReplicas | int) -}}
{{- $faults = append $faults (printf "services.%s.autoscaling.minReplicas is above its maxReplicas." $name) -}}
{{- end -}}
{{- end -}}
{{- if and $values.admin.enabled $values.rpc.tls.enabled (not (or $values.rpc.tls.certManager.enabled $values.rpc.tls.existingSecret $values.admin.rpcTlsSecret)) -}}
{{- $faults = append $faults "rpc.tls.enabled is on without certManager, so rpc.tls.existingSecret or admin.rpcTlsSecret must name the secret with the certificate of the admin command." -}}
{{- end -}}
{{- with $values.rpc.tls.certManager -}}
{{- if le (trimSuffix "h" .duration | int64) (trimSuffix "h" .renewBefore | int64) }}{{ $faults = append $faults "rpc.tls.certManager.renewBefore must be shorter than duration." }}{{ end -}}
{{- if and .issuerRef (not .issuerRef.name) }}{{ $faults = append $faults "rpc.tls.certManager.issuerRef.name must name the issuer." }}{{ end -}}
{{- end -}}
{{- if not $values.kafka.brokers }}{{ $faults = append $faults "kafka.brokers must name at least one broker, such as kafka:9092." }}{{ end -}}
{{- if not $values.s3.endpoint }}{{ $faults = append $faults "s3.endpoint must be the URL of the object store." }}{{ end -}}
{{- if not $values.s3.existingSecret }}{{ $faults = append $faults "s3.existingSecret must name the secret with the keys of the object store." }}{{ end -}}
{{- if not $values.jwt.existingSecret }}{{ $faults = append $faults "jwt.existingSecret must name the secret that bearer tokens are checked with." }}{{ end -}}
{{- if not $values.apiKeyPepper.existingSecret }}{{ $faults = append $faults "apiKeyPepper.existingSecret must name the secret with the pepper of API keys." }}{{ end -}}
{{- if and $values.jwt.secretKey $values.jwt.publicKeyKey }}{{ $faults = append $faults "jwt.secretKey and jwt.publicKeyKey are both set; empty one of them." }}{{ end -}}
{{- if not (or $values.jwt.secretKey $values.jwt.publicKeyKey) }}{{ $faults = append $faults "jwt.secretKey or jwt.publicKeyKey must be set." }}{{ end -}}
{{- with $values.kafka -}}
{{- if and .sasl.mechanism (not (and .sasl.username .sasl.existingSecret)) }}{{ $faults = append $faults "kafka.sasl.mechanism is set, so kafka.sasl.username and kafka.sasl.existingSecret must be set too." }}{{ end -}}
{{- if and .readers.users (not (and .sasl.mechanism .readers.superUser .readers.existingSecret)) }}{{ $faults = append $faults "kafka.readers.users is set, so kafka.sasl.mechanism, kafka.readers.superUser and kafka.readers.existingSecret must be set too." }}{{ end -}}
{{- if ne (empty .tls.certKey) (empty .tls.keyKey) }}{{ $faults = append $faults "kafka.tls.certKey and kafka.tls.keyKey go together." }}{{ end -}}
{{- end -}}
{{- if ne (empty $values.speech.url) (empty $values.speech.model) }}{{ $faults = append $faults "speech.url and speech.model go together." }}{{ end -}}
{{- if and $values.speech.existingSecret (not $values.speech.url) }}{{ $faults = append $faults "speech.existingSecret is set, so speech.url must be set too." }}{{ end -}}
{{- if and $values.models.ollama.enabled (or $values.languageModel.url $values.languageModel.existingSecret) }}{{ $faults = append $faults "models.ollama.enabled is on, so languageModel.url and languageModel.existingSecret must be empty." }}{{ end -}}
{{- if and $values.models.speech.enabled (or $values.speech.url $values.speech.existingSecret) }}{{ $faults = append $faults "models.speech.enabled is on, so speech.url and speech.existingSecret must be empty." }}{{ end -}}
{{- with $values.languageModel -}}
{{- if ne (empty .url) (empty .model) }}{{ $faults = append $faults "languageModel.url and languageModel.model go together." }}{{ end -}}
{{- if and .existingSecret (not .url) }}{{ $faults = append $faults "languageModel.existingSecret is set, so languageModel.url must be set too." }}{{ end -}}
{{- end -}}
{{- with $values.openId -}}
{{- if and .issuer (not (and .clientId .existingSecret)) }}{{ $faults = append $faults "openId.issuer is set, so openId.clientId and openId.existingSecret must be set too." }}{{ end -}}
{{- if and .issuer (eq (empty .firm) (empty .firmClaim)) }}{{ $faults = append $faults "openId.issuer is set, so one of openId.firm and openId.firmClaim must be set, and not both." }}{{ end -}}
{{- end -}}
{{- if and $values.jwt.previousSecretKey (not $values.jwt.secretKey) }}{{ $faults = append $faults "jwt.previousSecretKey is set, so jwt.secretKey must be set too." }}{{ end -}}
{{- if and $values.otlp.existingSecret (not $values.otlp.endpoint) }}{{ $faults = append $faults "otlp.existingSecret is set, so otlp.endpoint must be set too." }}{{ end -}}
{{- with $values.trustedCertificates -}}
{{- if and .existingSecret .existingConfigMap }}{{ $faults = append $faults "trustedCertificates.existingSecret and trustedCertificates.existingConfigMap are both set; empty one of them." }}{{ end -}}
{{- end -}}
{{- if $values.keda.enabled -}}
{{- if not (or $values.serviceMonitor.enabled $values.keda.scrapedOtherwise) }}{{ $faults = append $faults "keda.enabled scales by what Prometheus reads from /metrics, so serviceMonitor.enabled must be on, or keda.scrapedOtherwise if Prometheus scrapes the pods by other means." }}{{ end -}}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.metricsFrom) }}{{ $faults = append $faults "keda.enabled scales by what Prometheus reads from /metrics, so networkPolicy.metricsFrom must let it in." }}{{ end -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.gateway.trustedProxies) }}{{ $faults = append $faults "ingress.enabled is on, so gateway.trustedProxies must name the addresses or networks of the ingress controller, such as 10.0.0.0/8. Otherwise all clients share the rate limits of its address." }}{{ end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) }}{{ $faults = append $faults "ingress.enabled is on, so ingress.hosts must name a host." }}{{ end -}}
{{- if $faults }}{{ fail (printf "\n\n%s\n" (join "\n" $faults)) }}{{ end -}}
{{- end -}}
