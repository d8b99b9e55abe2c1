{{/* Where a service writes and where its secrets lie. */}}
{{- define "call-analysis.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: secrets-{{ .name }}
  mountPath: /run/secrets/call-analysis
  readOnly: true
{{- if eq .name "transcription" }}
- name: scratch
  mountPath: /scratch
{{- if and .root.Values.speech.modelsClaim (not .root.Values.speech.url) }}
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
    # Readable by the group of the pod alone.
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

{{- define "call-analysis.workVolumes" -}}
{{- if eq .name "transcription" }}
- name: scratch
  emptyDir:
    sizeLimit: {{ .root.Values.speech.workSize }}
{{- with .root.Values.speech }}
{{- if and .modelsClaim (not .url) }}
- name: models
  persistentVolumeClaim:
    claimName: {{ .modelsClaim }}
    readOnly: true
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
