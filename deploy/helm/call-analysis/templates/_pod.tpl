{{/* The volume mounts of a service: writable folders and secrets. */}}
{{- define "call-analysis.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: secrets-{{ .name }}
  mountPath: /run/secrets/call-analysis
  readOnly: true
{{- if include "call-analysis.trustsMore" .root }}
- name: trusted-certificates
  mountPath: /run/trusted-certificates
  readOnly: true
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- if eq .name "transcription" }}
- name: scratch
  mountPath: /scratch
{{- if and .root.Values.speech.modelsClaim (not (include "call-analysis.speech" .root | fromYaml).url) }}
- name: models
  mountPath: /models
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{/* The volume of one service's secrets. */}}
{{- define "call-analysis.secretsVolume" -}}
- name: secrets-{{ .name }}
  projected:
    # Readable only by the group of the pod.
    defaultMode: 0440
    sources:
      {{- range .secrets }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key }}
              path: {{ .file }}
      {{- end }}
{{- end -}}

{{/* Whether there are certificate authorities in addition to those that Node knows. */}}
{{- define "call-analysis.trustsMore" -}}
{{- with .Values.trustedCertificates }}{{ if or .existingSecret .existingConfigMap }}true{{ end }}{{ end -}}
{{- end -}}

{{/* The volumes of all pods. */}}
{{- define "call-analysis.sharedVolumes" -}}
{{- if include "call-analysis.trustsMore" . }}
{{- with .Values.trustedCertificates }}
- name: trusted-certificates
  projected:
    sources:
      - {{ ternary "secret" "configMap" (not (empty .existingSecret)) }}:
          name: {{ default .existingConfigMap .existingSecret }}
          items:
            - key: {{ .key }}
              path: ca.crt
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "call-analysis.workVolumes" -}}
{{- if eq .name "transcription" }}
- name: scratch
  emptyDir:
    sizeLimit: {{ .root.Values.speech.workSize }}
{{- with include "call-analysis.speech" .root | fromYaml }}
{{- if and .modelsClaim (not .url) }}
- name: models
  persistentVolumeClaim:
    claimName: {{ .modelsClaim }}
    readOnly: true
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
